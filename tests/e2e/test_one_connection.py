"""The whole API over one connection and one thread: whoever held one while waiting would stand."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import httpx
import pytest
from tests.e2e.test_strangers import NO_KEY, WHO_MAY, Treasure, ours
from tests.plugins.cloud import first_port
from tests.plugins.waiting import eventually

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

__all__ = ["ours"]

CLIENTS = 8
ENDING = ("DELETE ", "POST /v1/forget", "POST /v1/taint", "PUT /v1/redaction")
"""Routes that take away what others are called with: they come last."""

STOOD = ("database-unavailable", "database-timeout", "all-legs-failed", '"late"')
"""What an answer says when somebody waited in vain."""


@pytest.fixture(scope="module")
def narrow(laptop: "Laptop") -> Iterator[str]:
    """The URL of another server over the same stack, with a pool of one and a thread."""
    port = first_port() + 777
    env = {
        **{name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ},
        **laptop.env,
        "CAIRN_DATABASE_CONNECTIONS": "1",
        "CAIRN_REQUEST_THREADS": "1",
        "CAIRN_LONGEST_WAIT_SECONDS": "60",
    }
    serve = [sys.executable, "-m", "uvicorn", "cairn.api.asgi:app", f"--port={port}"]
    with subprocess.Popen([*serve, "--no-access-log"], env=env, stdout=subprocess.DEVNULL) as one:
        try:
            url = f"http://127.0.0.1:{port}"
            eventually(lambda: answers(url), seconds=60, what="the narrow server")
            yield url
        finally:
            one.terminate()


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", timeout=5).is_success
    except httpx.HTTPError:
        return False


@pytest.fixture(scope="module")
def here(ours: Treasure, narrow: str) -> Treasure:
    return replace(ours, tenant=replace(ours.tenant, base=narrow))


def test_every_route_answers_many_at_once_over_one_connection_and_one_thread(
    here: Treasure,
) -> None:
    routes = [
        route
        for route, roles in WHO_MAY.items()
        if roles != NO_KEY and not route.endswith("/events") and not route.startswith(ENDING)
    ]

    def call(route: str) -> tuple[str, int, str]:
        answer = here.call(route, here.tenant.key)
        return route, answer.status_code, answer.text

    def stood(told: list[tuple[str, int, str]]) -> list[str]:
        waited = (route for route, _, text in told if any(said in text for said in STOOD))
        return [*waited]

    with ThreadPoolExecutor(CLIENTS) as clients:
        told = [*clients.map(call, [*routes, *routes])]
        told += clients.map(call, [route for route in WHO_MAY if route.startswith(ENDING)])
        again = [*clients.map(call, stood(told))]  # a cycle comes every time, a busy machine not
    assert [item for item in (*told, *again) if item[1] == 500] == []
    assert stood(again) == []
    assert sum(status < 400 for _, status, _ in told) > len(routes)
