from collections.abc import AsyncIterator

import pytest
from tests.unit.api.fakes import ADMIN_KEY, AGENT_KEY, PUBLIC_KEY, Client, World

from cairn.api.options import ApiOptions
from cairn.kernel.access.allowances import Load, Refusal
from cairn.kernel.metrics import Metric
from cairn.operations.sweep import Backlog

OPEN = {
    "/healthz",
    "/readyz",
    "/v1/claim",
    "/v1/ticket-sources/{source_id}/events",
    "/v1/channels/{channel_id}/events",
    "/v1/incoming-webhooks/{incoming_id}/memories",
    "/v1/widget/{widget_id}",
    "/v1/widget/{widget_id}/sessions",
    "/v1/widget/{widget_id}/session",
    "/v1/widget/{widget_id}/messages",
    "/v1/widget/{widget_id}/turns/{turn_id}",
    "/v1/widget/{widget_id}/challenge",
    "/v1/widget/{widget_id}/hand-off",
    "/v1/widget/{widget_id}/hand-off/events",
    "/v1/widget/{widget_id}/resolve",
}


def paths(client: Client) -> list[tuple[str, str]]:
    found = client.get("/openapi.json").json()["paths"]
    some_id = "00000000-0000-0000-0000-000000000001"
    return [
        (method.upper(), "/".join(some_id if "{" in step else step for step in path.split("/")))
        for path, methods in found.items()
        for method in methods
        if path not in OPEN
    ]


def test_every_route_but_health_and_claim_needs_a_key() -> None:
    client = Client(World(), key=None)
    asked = paths(client)
    assert len(asked) >= 18
    for method, path in asked:
        headers = {"content-type": "application/json"}
        response = client.request(method, path, content=b"{}", headers=headers)
        assert response.status_code == 401, (method, path)
        assert response.headers["www-authenticate"] == 'Bearer realm="cairn"'


@pytest.mark.parametrize(
    ("authorization", "reason"),
    [
        (f"Basic {ADMIN_KEY}", "malformed-key"),
        ("Bearer", "malformed-key"),
        ("Bearer cairn_adm", "malformed-key"),
        ("Bearer cairn_adm.", "malformed-key"),
        ("Bearer sk-something.else", "malformed-key"),
        (f"Bearer {ADMIN_KEY} extra", "malformed-key"),
        (f"Bearer {'cairn_adm.' + 'a' * 5000}", "malformed-key"),
        (f"Bearer {ADMIN_KEY[:-1]}", "unknown-key"),
        ("Bearer cairn_gone.revoked", "unknown-key"),
    ],
)
def test_a_truncated_unknown_or_revoked_key_is_refused_and_never_repeated(
    authorization: str, reason: str
) -> None:
    client = Client(World())
    response = client.get("/v1/whoami", headers={"authorization": authorization})
    assert (response.status_code, response.json()["reason"]) == (401, reason)
    assert authorization.rpartition(" ")[2] not in response.text + str(client.logged)


def test_an_empty_key_header_is_told_apart_from_a_missing_one() -> None:
    assert Client(World(), key=None).get("/v1/whoami").json()["reason"] == "missing-key"


@pytest.mark.parametrize(
    ("key", "method", "path", "status"),
    [
        (PUBLIC_KEY, "GET", "/v1/whoami", 200),
        (PUBLIC_KEY, "GET", "/v1/memories", 403),
        (PUBLIC_KEY, "GET", "/v1/status", 403),
        (PUBLIC_KEY, "GET", "/v1/ledger", 403),
        (AGENT_KEY, "GET", "/v1/memories", 200),
        (AGENT_KEY, "GET", "/v1/ledger", 403),
        (AGENT_KEY, "GET", "/v1/ledger/verify", 403),
        (AGENT_KEY, "GET", "/v1/keys", 403),
        (ADMIN_KEY, "GET", "/v1/keys", 200),
        (ADMIN_KEY, "GET", "/v1/ledger", 200),
    ],
)
def test_roles_reach_what_is_theirs(key: str, method: str, path: str, status: int) -> None:
    assert Client(World(), key=key).request(method, path).status_code == status


def test_public_keys_may_search_and_not_write() -> None:
    client = Client(World(), key=PUBLIC_KEY)
    assert client.post("/v1/search", {"query": "what?"}).status_code == 200
    denied = client.post("/v1/memories", {"text": "no", "type": "fact"})
    assert (denied.status_code, denied.json()["reason"]) == (403, "role")


def test_the_rate_limit_is_told_on_every_answer_and_enforced() -> None:
    world = World(remaining=2)
    client = Client(world)
    first = client.get("/v1/whoami")
    assert (first.headers["ratelimit-limit"], first.headers["ratelimit-remaining"]) == ("600", "1")
    assert client.get("/v1/memories/not-an-id").headers["ratelimit-remaining"] == "0"
    refused = client.get("/v1/whoami")
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "13")
    assert refused.headers["ratelimit-remaining"] == "0"
    assert refused.json()["type"] == "urn:cairn:error:rate-limited"


def test_whoami_tells_role_scopes_and_limits() -> None:
    body = Client(World(), key=AGENT_KEY).get("/v1/whoami").json()
    assert (body["role"], body["scopes"]) == ("agent", ["admin", "public", "shared"])
    assert body["rate_limit"]["limit"] == 600


def test_health_needs_no_key_and_readiness_tells_the_truth() -> None:
    world = World()
    client = Client(world, key=None)
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ready", "oldest_waiting_seconds": 0}
    world.backlog = Backlog(topic="embed", seconds=901)
    assert client.get("/readyz").json() == {"status": "behind", "oldest_waiting_seconds": 901}
    world.database_up = False
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 503


@pytest.mark.parametrize(
    ("key", "method", "path", "surface"),
    [
        (AGENT_KEY, "GET", "/v1/memories", "api"),
        (AGENT_KEY, "POST", "/mcp", "mcp"),
        (PUBLIC_KEY, "POST", "/v1/search", "public"),
        (PUBLIC_KEY, "POST", "/mcp", "public"),
    ],
)
def test_a_request_above_the_limit_is_counted_by_where_it_came_from(
    key: str, method: str, path: str, surface: str
) -> None:
    told: list[tuple[Metric, float, dict[str, object]]] = []

    def tell(metric: Metric, value: float = 1, /, **labels: object) -> None:
        told.append((metric, value, labels))

    world = World(remaining=1)
    client = Client(world, key=key, options=ApiOptions(metrics=tell))
    body = {"query": "x"} if method == "POST" else None
    client.request(method, path, json=body)
    assert told == []
    assert client.request(method, path, json=body).status_code == 429
    assert told == [(Metric.RATE_LIMIT_REJECTIONS, 1, {"surface": surface})]


def test_a_call_of_an_agent_is_recorded_and_one_above_its_rate_costs_no_write() -> None:
    for remaining, recorded in ((5, ["GET /v1/whoami"]), (-1, [])):
        world = World(remaining=remaining)
        Client(world, key=AGENT_KEY).get("/v1/whoami")
        assert [call.tool for _, call in world.calls_logged] == recorded


@pytest.mark.parametrize(
    ("path", "body", "load"),
    [
        ("/v1/search", b'{"query": "what?"}', Load(queries=1, bytes=18)),
        ("/v1/memories", b'{"text": "one", "type": "fact"}', Load(items=1, bytes=31)),
        ("/v1/memories", b'{"items": [{"text": "a"}, {}, 7]}', Load(items=3, bytes=33)),
        ("/v1/events", b'{"items": []}', Load(items=1, bytes=13)),
    ],
)
@pytest.mark.parametrize("says_its_length", [True, False])
def test_a_request_is_counted_by_what_it_holds(
    path: str, body: bytes, load: Load, *, says_its_length: bool
) -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield body[:10]
        yield body[10:]

    world = World()
    headers = {"content-type": "application/json"}
    sent = body if says_its_length else parts()
    Client(world).request("POST", path, content=sent, headers=headers)
    assert world.loads == [load]


def test_a_workspace_above_an_allowance_is_told_which_and_until_when() -> None:
    world = World(refusal=Refusal(kind="items", limit=60_000, retry_after=7.5))
    refused = Client(world).post("/v1/memories", {"text": "one", "type": "fact"})
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "8")
    assert refused.json()["reason"] == "workspace-items"
    assert not world.written
