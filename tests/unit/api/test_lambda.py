"""The app behind Mangum, as the api function serves it."""

import asyncio
import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mangum import Mangum
from tests.unit.api.fakes import ADMIN_KEY, Lines, World

from cairn.api.app import create_app
from cairn.api.options import ApiOptions

EVENTS = Path(__file__).parents[3] / "events" / "api"


@pytest.fixture
def loop() -> Iterator[None]:
    """Give the adapter an event loop of its own, closed afterwards."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


def event(method: str, path: str, body: bytes = b"") -> dict[str, Any]:
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {
            "authorization": f"Bearer {ADMIN_KEY}",
            "content-type": "application/json",
            "content-length": str(len(body)),
            "host": "api.example",
        },
        "requestContext": {
            "http": {"method": method, "path": path, "sourceIp": "127.0.0.1"},
            "domainName": "api.example",
            "stage": "$default",
        },
        "body": base64.b64encode(body).decode(),
        "isBase64Encoded": True,
    }


@pytest.mark.usefixtures("loop")
def test_one_handler_serves_many_invocations() -> None:
    world = World()
    handler = Mangum(create_app(world.services(), log=Lines()), lifespan="off")
    body = json.dumps({"text": "through the gateway", "type": "event"}).encode()
    for _ in range(3):
        answer = handler(event("POST", "/v1/memories", body), None)  # type: ignore[arg-type]
        assert answer["statusCode"] == 201
        assert answer["headers"]["x-request-id"]
    assert [each.text for each in world.written] == ["through the gateway"] * 3


@pytest.mark.usefixtures("loop")
def test_a_bug_reaches_the_gateway_as_a_problem() -> None:
    world = World(bug=RuntimeError("inside"))
    handler = Mangum(create_app(world.services(), log=Lines()), lifespan="off")
    body = json.dumps({"text": "a", "type": "event"}).encode()
    answer = handler(event("POST", "/v1/memories", body), None)  # type: ignore[arg-type]
    assert answer["statusCode"] == 500
    assert "inside" not in answer["body"]


@pytest.mark.usefixtures("loop")
@pytest.mark.parametrize("file", sorted(EVENTS.glob("*.json")), ids=lambda file: file.stem)
def test_the_sample_events_are_served(file: Path) -> None:
    handler = Mangum(create_app(World().services(), log=Lines()), lifespan="off")
    sample = json.loads(file.read_text(encoding="utf-8"))
    if "Records" in sample:  # of the queue: the function works at it without a request
        assert sample["Records"][0]["eventSource"] == "aws:sqs"
        return
    assert handler(sample, None)["statusCode"] in {200, 201}  # type: ignore[arg-type]


@pytest.mark.usefixtures("loop")
def test_a_page_is_let_through_to_the_routes_that_want_a_token() -> None:
    options = ApiOptions(cors_origins=("https://console.example.org",))
    app = create_app(World().services(), options, log=Lines())
    handler = Mangum(app, lifespan="off", api_gateway_base_path="/jwt")
    asked = event("OPTIONS", "/jwt/v1/memories")
    asked["routeKey"] = "OPTIONS /jwt/{proxy+}"
    asked["headers"] = {
        "host": "api.example",
        "origin": "https://console.example.org",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,x-identity-token",
    }
    answer = handler(asked, None)  # type: ignore[arg-type]
    assert answer["statusCode"] == 200, answer["body"]
    assert answer["headers"]["access-control-allow-origin"] == "https://console.example.org"
