"""`/v1/approvals` and `/v1/grants`: yes, no, something else, in advance; once, in time, by whom."""

from datetime import timedelta
from typing import Any

import pytest
from tests.unit.api.approval_fakes import BINDING, NOON, ApprovalWorld
from tests.unit.api.fakes import AGENT_KEY, PUBLIC_KEY, Client, World

from cairn.investigations.ports import ApprovalState

MISSING = "0198f0a2-5c1e-7b3d-9e55-0d6a4b8c1f20"
GRANT: dict[str, Any] = {
    "tool": "accounts.unlock",
    "arguments": {"user": "*@example.com"},
    "expires_at": "2026-06-01T00:00:00Z",
    "max_uses": 5,
    "reason": "Unlocking is harmless.",
}
BODIES: dict[str, dict[str, Any]] = {
    "approve": {"binding": BINDING, "reason": "Looked at it."},
    "reject": {"reason": "Not this one."},
    "edit": {"binding": BINDING, "arguments": {"user": "bob"}, "reason": "The other one."},
}


def asked(**changes: Any) -> tuple[Client, ApprovalWorld, str]:
    world = ApprovalWorld()
    one = world.add(**changes)
    return Client(World(approving=world)), world, f"/v1/approvals/{one.id}"


def test_a_question_shows_all_a_person_decides_on() -> None:
    client, _, path = asked()
    shown = client.get(path).json()
    assert shown["tool"] == "accounts.unlock"
    assert shown["arguments"] == {"user": "ada@example.com"}
    assert shown["evidence"] == [{"citation": "[tool:1]", "text": "locked_at 11:58"}]
    assert (shown["rollback"], shown["dangerous"], shown["binding"]) == (None, True, BINDING)
    assert shown["expires_at"] == "2026-05-02T12:00:00.000000Z"


def test_agents_see_that_something_was_asked_and_not_with_which_values() -> None:
    client, world, path = asked()
    agent = Client(World(approving=world), key=AGENT_KEY)
    [shown] = agent.get("/v1/approvals").json()["items"]
    assert (shown["tool"], shown["state"]) == ("accounts.unlock", "pending")
    assert "ada@" not in agent.get("/v1/approvals").text
    assert agent.get(path).status_code == 403
    assert client.get(path).status_code == 200


def test_questions_are_listed_in_pages_and_by_state() -> None:
    world = ApprovalWorld()
    ids = [str(world.add().id) for _ in range(3)]
    world.add(state=ApprovalState.EXPIRED)
    client = Client(World(approving=world))
    first = client.get("/v1/approvals?state=pending&limit=2").json()
    assert [item["id"] for item in first["items"]] == [ids[2], ids[1]]
    query = f"?state=pending&limit=2&cursor={first['next_cursor']}"
    rest = client.get(f"/v1/approvals{query}").json()
    assert ([item["id"] for item in rest["items"]], rest["next_cursor"]) == ([ids[0]], None)
    assert client.get("/v1/approvals?state=maybe").status_code == 422


@pytest.mark.parametrize(
    ("verb", "state", "goes_on"),
    [
        ("approve", "granted", "ACTING"),
        ("reject", "rejected", "PLANNING"),
        ("edit", "edited", "SAFETY_CHECK"),
    ],
)
def test_a_decision_says_where_the_investigation_goes_on(
    verb: str, state: str, goes_on: str
) -> None:
    client, world, path = asked()
    decided = client.post(f"{path}/{verb}", BODIES[verb])
    assert decided.status_code == 200
    assert decided.json()["state"] == state
    assert decided.json()["investigation_state"] == goes_on
    assert world.reasons == [BODIES[verb]["reason"]]


@pytest.mark.parametrize("second", BODIES)
@pytest.mark.parametrize("first", BODIES)
def test_a_question_is_decided_once(first: str, second: str) -> None:
    client, world, path = asked()
    assert client.post(f"{path}/{first}", BODIES[first]).status_code == 200
    again = client.post(f"{path}/{second}", BODIES[second])
    assert (again.status_code, again.json()["reason"]) == (409, "already-decided")
    assert len(world.reasons) == 1


@pytest.mark.parametrize("verb", BODIES)
def test_a_late_decision_is_none(verb: str) -> None:
    client, world, path = asked(expires_at=NOON - timedelta(seconds=1))
    late = client.post(f"{path}/{verb}", BODIES[verb])
    assert (late.status_code, late.json()["reason"]) == (409, "approval-expired")
    assert world.reasons == []


@pytest.mark.parametrize("verb", ["approve", "edit"])
def test_a_yes_to_other_content_is_refused(verb: str) -> None:
    client, world, path = asked()
    other = client.post(f"{path}/{verb}", BODIES[verb] | {"binding": "cd" * 32})
    assert (other.status_code, other.json()["reason"]) == (409, "changed-content")
    assert world.reasons == []


@pytest.mark.parametrize("verb", BODIES)
@pytest.mark.parametrize("key", [AGENT_KEY, PUBLIC_KEY])
def test_agents_and_public_keys_decide_nothing(key: str, verb: str) -> None:
    _, world, path = asked()
    refused = Client(World(approving=world), key=key).post(f"{path}/{verb}", BODIES[verb])
    assert (refused.status_code, refused.json()["reason"]) == (403, "role")
    assert world.reasons == []


@pytest.mark.parametrize("verb", BODIES)
def test_a_revoked_key_decides_nothing(verb: str) -> None:
    _, world, path = asked()
    revoked = Client(World(approving=world), key="cairn_gone.secret")
    assert revoked.post(f"{path}/{verb}", BODIES[verb]).status_code == 401
    assert world.reasons == []


@pytest.mark.parametrize("verb", BODIES)
def test_an_unknown_question_is_not_found(verb: str) -> None:
    client, _, _ = asked()
    answer = client.post(f"/v1/approvals/{MISSING}/{verb}", BODIES[verb])
    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("verb", "change", "status"),
    [
        ("approve", {"reason": "x" * 1_001}, 413),
        ("approve", {"reason": "x" * 1_000_000}, 413),
        ("reject", {"reason": "x" * 1_000_000}, 413),
        ("reject", {"reason": " "}, 422),
        ("reject", {"reason": None}, 422),
        ("reject", {"reason": "a\u0000b"}, 422),
        ("reject", {"binding": BINDING}, 422),
        ("approve", {"binding": "AB" * 32}, 422),
        ("approve", {"binding": "short"}, 422),
        ("approve", {"binding": None}, 422),
        ("approve", {"arguments": {}}, 422),
        ("edit", {"arguments": []}, 422),
        ("edit", {"arguments": None}, 422),
        ("edit", {"arguments": {"user": "\ud800"}}, 422),
        ("edit", {"reason": ""}, 422),
    ],
)
def test_what_is_no_decision_is_refused(verb: str, change: dict[str, Any], status: int) -> None:
    client, world, path = asked()
    answer = client.post(f"{path}/{verb}", BODIES[verb] | change)
    assert answer.status_code == status
    assert world.reasons == []


@pytest.mark.parametrize("verb", BODIES)
def test_a_decision_without_a_body_is_refused(verb: str) -> None:
    client, world, path = asked()
    assert client.post(f"{path}/{verb}", content=b"").status_code == 422
    assert client.post(f"{path}/{verb}", content=b"{").status_code == 400
    assert world.reasons == []


def test_a_grant_is_made_listed_and_revoked() -> None:
    world = ApprovalWorld()
    client = Client(World(approving=world))
    made = client.post("/v1/grants", GRANT)
    assert made.status_code == 201
    assert made.json()["arguments"] == {"user": "*@example.com"}
    assert "data_subjects" not in made.json()
    grant_id = made.json()["id"]
    assert [item["id"] for item in client.get("/v1/grants").json()["items"]] == [grant_id]
    revoked = client.delete(f"/v1/grants/{grant_id}")
    assert revoked.json()["revoked_at"] == "2026-05-01T12:00:00.000000Z"
    assert client.delete(f"/v1/grants/{MISSING}").status_code == 404


def test_grants_are_listed_in_pages() -> None:
    client = Client(World())
    ids = [client.post("/v1/grants", GRANT).json()["id"] for _ in range(3)]
    first = client.get("/v1/grants?limit=2").json()
    rest = client.get(f"/v1/grants?limit=2&cursor={first['next_cursor']}").json()
    assert [item["id"] for item in [*first["items"], *rest["items"]]] == ids[::-1]


def test_a_grant_from_a_question_takes_its_arguments_unless_told_others() -> None:
    client, world, _ = asked()
    from_question = {name: GRANT[name] for name in GRANT if name != "arguments"}
    given = from_question | {"approval_id": MISSING}
    client.post("/v1/grants", given)
    client.post("/v1/grants", given | {"arguments": None})
    client.post("/v1/grants", GRANT | {"approval_id": MISSING})
    client.post("/v1/grants", from_question)
    assert [as_asked for _, as_asked in world.made] == [True, False, False, False]


@pytest.mark.parametrize(
    "change",
    [
        {"max_uses": 0},
        {"max_uses": 1_001},
        {"max_uses": "5"},
        {"expires_at": "tomorrow"},
        {"expires_at": "2026-06-01T00:00:00"},
        {"tool": ""},
        {"reason": ""},
        {"arguments": [1]},
        {"forever": True},
        {"approval_id": "7"},
    ],
    ids=str,
)
def test_what_is_no_grant_is_refused(change: dict[str, Any]) -> None:
    world = ApprovalWorld()
    assert Client(World(approving=world)).post("/v1/grants", GRANT | change).status_code == 422
    assert world.made == []


@pytest.mark.parametrize("key", [AGENT_KEY, PUBLIC_KEY])
@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/v1/grants"), ("POST", "/v1/grants"), ("DELETE", f"/v1/grants/{MISSING}")],
)
def test_agents_and_public_keys_have_nothing_to_do_with_grants(
    key: str, method: str, path: str
) -> None:
    body = GRANT if method == "POST" else None
    refused = Client(World(), key=key).request(method, path, json=body)
    assert (refused.status_code, refused.json()["reason"]) == (403, "role")


def test_public_keys_do_not_even_see_that_something_was_asked() -> None:
    refused = Client(World(), key=PUBLIC_KEY).get("/v1/approvals")
    assert (refused.status_code, refused.json()["reason"]) == (403, "role")
