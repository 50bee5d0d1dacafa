"""Whoever starts the emulator anew says since when no execution lives, and does not wait for it."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError
from infra.local import cloud
from infra.local.emulator import Endpoint

EMULATOR = Endpoint(url="http://emulator", secret="of a test")
MOMENT = datetime(2026, 11, 22, 10, tzinfo=UTC)


class Functions:
    """Takes invocations; while `down`, none."""

    def __init__(self, *, down: bool = False) -> None:
        self.down = down
        self.invoked: list[dict[str, Any]] = []

    def client(self, endpoint: Endpoint, service: str) -> "Functions":
        assert (endpoint, service) == (EMULATOR, "lambda")
        return self

    def invoke(self, **given: Any) -> None:
        if self.down:
            raise EndpointConnectionError(endpoint_url="http://emulator")
        self.invoked.append(given)


def test_the_audit_function_is_told_when_the_executions_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    functions = Functions()
    monkeypatch.setattr(cloud, "aws_client", functions.client)
    assert cloud.start_resuming(EMULATOR, MOMENT)
    [told] = functions.invoked
    assert (told["FunctionName"], told["InvocationType"]) == ("cairn-local-audit", "Event")
    assert json.loads(told["Payload"]) == {
        "step": "sweep_investigations",
        "lost_before": "2026-11-22T10:00:00+00:00",
    }


def test_a_start_does_not_fail_because_nothing_can_be_resumed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cloud, "aws_client", Functions(down=True).client)
    assert not cloud.start_resuming(EMULATOR, MOMENT)
