"""Incoming webhooks over HTTP and PostgreSQL: who may write, once, and what is refused."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.storage import test_search_front
from tests.integration.storage.test_search_front import Door, texts
from tests.support.world import open_world

from cairn.kernel.clock import utc_now
from cairn.kernel.errors import RateLimited
from cairn.webhooks.incoming import OVERLAP, DeliveryLimit, good_secrets

if TYPE_CHECKING:
    import httpx
    from tests.plugins.postgres import Database

door = test_search_front.door
FERRY = {"type": "fact", "text": "The ferry leaves at ten.", "key": "ferry"}


def made(door: Door, **given: Any) -> dict[str, Any]:
    body = {"name": "harbour sensor", **given}
    answer: dict[str, Any] = door.api.call("POST", "/v1/incoming-webhooks", json=body)
    return answer


def signature(secret: str, id_: str, at: int, body: bytes) -> str:
    """As the specification of Standard Webhooks has it, written out once more."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{id_}.{at}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def send(
    door: Door,
    hook: dict[str, Any],
    body: object,
    *,
    id_: str = "msg-1",
    late: float = 0,
    raw: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> httpx.Response:
    content = json.dumps(body).encode() if raw is None else raw
    at = int((utc_now() - timedelta(seconds=late)).timestamp())
    given = {
        "content-type": "application/json",
        "authorization": "",
        "webhook-id": id_,
        "webhook-timestamp": str(at),
        "webhook-signature": signature(hook["secret"], id_, at, content),
        **(headers or {}),
    }
    return door.api.answer("POST", hook["memories_path"], content=content, headers=given)


def stored(door: Door) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = door.api.call("GET", "/v1/memories", params={"limit": 200})[
        "items"
    ]
    return listed


def test_what_a_service_signs_is_remembered_scrubbed_compared_and_written_once(door: Door) -> None:
    hook = made(door, client_id="ada")
    secret = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
    first = send(door, hook, {**FERRY, "metadata": {"token": secret}})
    assert (first.status_code, first.json()["outcome"]) == (201, "created")
    (memory,) = stored(door)
    assert (memory["client_id"], memory["source_agent"]) == ("ada", "harbour sensor")
    assert secret not in json.dumps(memory)
    again = send(door, hook, {**FERRY, "metadata": {"token": secret}})
    assert again.headers["idempotency-replayed"] == "true"
    assert again.json() == first.json()
    other = send(door, hook, {"type": "fact", "text": "The ferry is sunk."})
    assert (other.status_code, other.json()["reason"]) == (422, "idempotency-mismatch")
    assert send(door, hook, FERRY, id_="msg-2").json()["outcome"] == "duplicate"
    new = send(door, hook, {**FERRY, "text": "The ferry leaves at two."}, id_="msg-3").json()
    assert new["superseded"] == [memory["id"]]
    assert texts(door.search("When does the ferry leave?", min_relevance=0)) == {
        "The ferry leaves at two."
    }
    batch = {"items": [{"type": "event", "text": "It rained."}, {"type": "event", "text": ""}]}
    counts = send(door, hook, batch, id_="msg-4").json()["counts"]
    assert (counts["created"], counts["rejected"]) == (1, 1)
    hooks = door.api.call("GET", "/v1/incoming-webhooks")["items"]
    assert "whsec" not in json.dumps(hooks)


def test_what_is_forged_changed_old_or_early_writes_nothing(door: Door) -> None:
    hook, other = made(door), made(door)
    stolen = {**hook, "secret": other["secret"]}
    at = str(int(utc_now().timestamp()))
    for answer, reason in (
        (send(door, stolen, FERRY), "bad-signature"),
        (send(door, {**other, "memories_path": hook["memories_path"]}, FERRY), "bad-signature"),
        (send(door, hook, FERRY, headers={"webhook-id": "another"}), "bad-signature"),
        (send(door, hook, FERRY, late=10, headers={"webhook-timestamp": at}), "bad-signature"),
        (
            send(door, hook, FERRY, headers={"webhook-signature": "v1,Zm9yZ2Vk v2,x"}),
            "bad-signature",
        ),
        (send(door, hook, FERRY, headers={"webhook-signature": ""}), "unsigned"),
        (send(door, hook, FERRY, headers={"webhook-timestamp": "soon"}), "unsigned"),
        (send(door, hook, FERRY, headers={"webhook-timestamp": "9" * 40}), "unsigned"),
        (send(door, hook, FERRY, headers={"webhook-id": "a b"}), "unsigned"),
        (send(door, hook, FERRY, late=301), "token-expired"),
        (send(door, hook, FERRY, late=-301), "token-expired"),
    ):
        assert (answer.status_code, answer.json()["reason"]) == (401, reason), answer.text
    assert stored(door) == []
    assert send(door, hook, FERRY, late=290).status_code == 201
    both = "v1,Zm9yZ2Vk " + signature(hook["secret"], "two", int(at), json.dumps(FERRY).encode())
    two = {"webhook-id": "two", "webhook-timestamp": at, "webhook-signature": both}
    assert send(door, hook, FERRY, headers=two).status_code == 200


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"\xff", 400),
        (b'{"a":1,"a":2}', 400),
        (b"[]", 422),
        (b"null", 422),
        (b'{"type":"fact"}', 422),
        (b'{"type":"fact","text":"a\\u0000b"}', 422),
        (b'{"type":"fact","text":"\\ud800"}', 422),
        (b'{"type":"fact","text":"x","client":"y"}', 422),
        (json.dumps({"type": "fact", "text": "x" * 40_000}).encode(), 413),
        (b'{"type":"fact","text":"x","scope":"public"}', 403),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_signed_body_that_is_no_memory_is_refused_in_words(
    door: Door, raw: bytes, status: int
) -> None:
    answer = send(door, made(door), None, raw=raw)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"].startswith("application/problem+json")
    assert stored(door) == []


def test_a_new_secret_is_good_at_once_and_the_one_before_for_a_day(door: Door) -> None:
    hook = made(door)
    path = f"/v1/incoming-webhooks/{hook['id']}"
    new = door.api.call("POST", f"{path}/rotate")
    assert send(door, new, FERRY).status_code == 201
    assert send(door, hook, FERRY, id_="old").status_code == 200
    door.api.call("POST", f"{path}/rotate")
    assert send(door, hook, FERRY, id_="older").json()["reason"] == "bad-signature"
    now = utc_now()
    kept = {"secret": "b", "before": "a", "before_until": (now + OVERLAP).isoformat()}
    assert good_secrets(kept, now) == ("b", "a")
    assert good_secrets(kept, now + OVERLAP) == ("b",)
    door.api.call("DELETE", path)
    assert send(door, new, FERRY, id_="gone").status_code == 404
    types = [
        item["type"]
        for item in door.api.call("GET", "/v1/ledger", params={"type": "incoming_webhook"})["items"]
    ]
    assert types == [
        f"incoming_webhook.{done}" for done in ("created", "rotated", "rotated", "removed")
    ]


def test_a_service_writes_for_its_client_and_workspace_only(door: Door, database: Database) -> None:
    hook = made(door, client_id="ada", scope="public")
    theirs = send(door, hook, {**FERRY, "client_id": "bob"})
    assert (theirs.status_code, theirs.json()["reason"]) == (403, "client")
    send(door, hook, FERRY, id_="ours").raise_for_status()
    (memory,) = stored(door)
    assert (memory["client_id"], memory["scope"]) == ("ada", "public")
    other = open_world(database.owner_url, database.app_url, f"other {hook['id']}")
    path = f"/v1/incoming-webhooks/{hook['id']}"
    key = {"authorization": f"Bearer {other.key}"}
    for method, asked in (("POST", f"{path}/rotate"), ("DELETE", path)):
        assert door.api.answer(method, asked, headers=key).status_code == 404
    assert door.api.call("GET", "/v1/incoming-webhooks", headers=key)["items"] == []


def test_deliveries_above_the_limit_wait_for_the_next_minute(door: Door) -> None:
    hook, other = made(door), made(door)
    limit, now = DeliveryLimit(most=1), utc_now().replace(second=0)
    limit(hook["id"], now)
    with pytest.raises(RateLimited) as refused:
        limit(hook["id"], now)
    assert refused.value.retry_after == 60
    limit(other["id"], now)
    limit(hook["id"], now + timedelta(minutes=1))
    spent = replace(door.api.app.state.services.memory_deliveries, limit=DeliveryLimit(most=0))
    door.api.app.state.services.memory_deliveries = spent
    answer = send(door, hook, FERRY)
    assert (answer.status_code, answer.json()["reason"]) == (429, "too-many-deliveries")
