"""Unit tests open no sockets: a connect in one of them fails the test."""

import socket
from pathlib import Path

import pytest

UNIT = Path(__file__).parents[1] / "unit"


@pytest.fixture(autouse=True)
def _no_sockets_in_unit_tests(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not request.path.is_relative_to(UNIT):
        return

    def refuse(_self: socket.socket, address: object) -> None:
        raise AssertionError(f"a unit test wants to connect to {address}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
