"""What is known of a client: seen with its evidence, corrected, taken out, and forgotten."""

from typing import TYPE_CHECKING, Any

import pytest
from tests.e2e.cli import cairn
from tests.e2e.tenant import Tenant, open_workspace, refused

from cairn_memory import Memory

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

CLIENT = "customer-2041"
MET = ("2026-03-01", "2026-03-02", "2026-03-03")


@pytest.fixture(scope="module")
def tenant(laptop: "Laptop") -> Tenant:
    tenant = open_workspace(laptop, "profiles")
    for text in (
        "I prefer PostgreSQL to Redis.",
        "I speak German.",
        "I live in Porto.",
        "I hate Kafka.",
    ):
        message = {"channel": "api", "session_id": "chat", "role": "user", "sender": "Ada"}
        tenant.post("/v1/conversations/messages", {**message, "text": text, "client_id": CLIENT})
    tenant.tell("Bob prefers tea.", type="fact", client_id="bob")
    for day in MET:
        event = {"type": "tool.execute", "tool_name": "book_table", "client_id": CLIENT}
        at = {"occurred_at": f"{day}T10:00:00Z", "session_id": day}
        tenant.post("/v1/events", {**event, **at, "payload": {"day": day}})
    tenant.all_embedded()
    return tenant


def profile(tenant: Tenant, **asked: Any) -> dict[str, Any]:
    return profile_of(tenant, CLIENT, **asked)


def profile_of(tenant: Tenant, client: str, **asked: Any) -> dict[str, Any]:
    return tenant.get("/v1/profile", client_id=client, **asked)


def texts(lines: list[dict[str, Any]]) -> set[str]:
    return {line["text"] for line in lines}


def test_a_search_for_a_client_puts_what_they_like_first_and_says_why(tenant: Tenant) -> None:
    question = "A queue for orders"
    for text in (f"{question}: MySQL is fast.", f"{question}: PostgreSQL is fast."):
        tenant.tell(text, type="fact")
    tenant.all_embedded()
    command = ("recall", question, "--personalize-for", CLIENT, "--json")
    best = cairn(tenant, *command).json()["results"][0]
    assert best["text"] == f"{question}: PostgreSQL is fast."
    assert (best["personal"]["relation"], best["personal"]["name"]) == (
        "INTERESTED_IN",
        "PostgreSQL",
    )
    with Memory(tenant.base, tenant.key) as memory:
        found = memory.recall(question, personalize_for=CLIENT).results[0]
    assert found.personal is not None
    assert (found.text, found.personal.name) == (best["text"], "PostgreSQL")


def test_what_a_client_said_and_did_is_their_profile_with_its_evidence(tenant: Tenant) -> None:
    known = profile(tenant)
    assert texts(known["facts"]) == {"Ada: I live in Porto."}
    assert texts(known["preferences"]) == {
        "Ada: I prefer PostgreSQL to Redis.",
        "Ada: I hate Kafka.",
    }
    assert [(each["name"], each["level"]) for each in known["skills"]] == [("German", "has")]
    assert [each["name"] for each in known["interests"]] == ["PostgreSQL"]
    (pattern,) = known["patterns"]
    assert (pattern["tool_name"], pattern["times"], pattern["sessions"]) == ("book_table", 3, 3)
    for each in pattern["evidence"]:
        assert tenant.get(f"/v1/events/{each}")["tool_name"] == "book_table"
    (said,) = known["skills"][0]["evidence"]
    assert tenant.get(f"/v1/nodes/{said}")["text"].endswith("I speak German.")
    assert not profile(tenant, about="who_is")["preferences"]
    assert profile(tenant, about="personalize")["preferences"] == known["preferences"]
    assert profile(tenant, about="how_does")["patterns"]


def test_a_bound_key_sees_its_own_client_and_nobody_else(tenant: Tenant) -> None:
    key = tenant.new_key("agent", client_id="bob")
    own = tenant.call("GET", "/v1/profile", key=key).json()
    assert (own["client_id"], texts(own["preferences"])) == ("bob", {"Bob prefers tea."})
    other = tenant.call("GET", f"/v1/profile?client_id={CLIENT}", key=key)
    assert "Porto" not in other.text
    assert "book_table" not in other.text


@pytest.mark.parametrize("query", ["", "?client_id=global", f"?client_id={CLIENT}&user_id=bob"])
def test_a_profile_of_nobody_or_of_two_is_refused(tenant: Tenant, query: str) -> None:
    refused(tenant.call("GET", f"/v1/profile{query}"), 422, "validation-failed")


HELD = """SELECT e.relation FROM edge e
  JOIN node s ON s.workspace_id = e.workspace_id AND s.id = e.source_id
 WHERE e.workspace_id = %(id)s AND e.superseded_at IS NULL AND e.properties ? 'profile'
   AND s.canonical_name = 'customer-2041'"""


def test_a_consolidation_keeps_it_in_the_graph_without_what_has_faded(tenant: Tenant) -> None:
    cairn(tenant, "consolidate", "--wait")
    assert {relation for (relation,) in tenant.rows(HELD)} == {"HAS_PROFILE", "INTERESTED_IN"}


def tool(tenant: Tenant, key: str, name: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool over MCP; return what it answers, structured."""
    params = {"name": name, "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {"accept": "application/json, text/event-stream"}
    told = tenant.call("POST", "/mcp", key=key, json=body, headers=headers).json()["result"]
    assert not told.get("isError"), told
    answer: dict[str, Any] = told["structuredContent"]
    return answer


def test_with_their_own_key_people_see_correct_and_delete_what_is_held_of_them_by_any_door(
    tenant: Tenant,
) -> None:
    for text in ("Eve prefers stairs.", "Eve loves Redis.", "Eve lives in Turin."):
        tenant.tell(text, type="fact", client_id="eve")
    tenant.all_embedded()
    key = tenant.new_key("agent", client_id="eve")
    own: dict[str, Any] = {"changed": {"CAIRN_API_KEY": key}, "owner": False}
    seen = {each["text"]: each["id"] for each in tool(tenant, key, "profile_read")["items"]}
    assert {"Eve prefers stairs.", "Eve loves Redis.", "Eve lives in Turin."} <= seen.keys()
    shown = cairn(tenant, "profile", "eve", "--json", **own).json()
    assert texts(shown["facts"]) == {"Eve lives in Turin."}
    home, stairs = seen["Eve lives in Turin."], seen["Eve prefers stairs."]
    why = ("--reason", "She moved.", "--json")
    cairn(tenant, "memory", "edit", home, "--text", "Eve lives in Rome.", *why, **own)
    cairn(tenant, "memory", "delete", stairs, "--yes", **own)
    redis = {"id": seen["Eve loves Redis."]}
    asked = tool(tenant, key, "memory_delete", **redis)
    tool(tenant, key, "memory_delete", **redis, confirmation=asked["confirmation"])
    left = tenant.call("GET", "/v1/profile", key=key).json()
    assert (texts(left["facts"]), left["preferences"]) == ({"Eve lives in Rome."}, [])
    (mine,) = left["facts"]
    gone = tenant.call("DELETE", f"/v1/memories/{mine['id']}", key=key)
    assert gone.status_code == 200, gone.text
    assert tool(tenant, key, "profile_read")["items"] == []


def test_what_a_person_corrects_takes_out_and_has_forgotten_is_gone_from_it(
    tenant: Tenant,
) -> None:
    known = profile(tenant)
    (home,) = known["facts"]
    (german,) = known["skills"]
    edit = {"text": "Ada: I live in Braga.", "reason": "She moved."}
    assert tenant.call("PATCH", f"/v1/memories/{home['id']}", json=edit).status_code == 200
    tenant.delete(f"/v1/memories/{german['id']}")
    liked = next(each for each in known["preferences"] if "Redis" in each["text"])
    edit = {"text": "Ada: I prefer MySQL to Redis.", "reason": "She said so."}
    assert tenant.call("PATCH", f"/v1/memories/{liked['id']}", json=edit).status_code == 200

    shown = cairn(tenant, "profile", CLIENT, "--json").json()
    assert texts(shown["facts"]) == {"Ada: I live in Braga."}
    assert texts(shown["preferences"]) == {"Ada: I prefer MySQL to Redis.", "Ada: I hate Kafka."}
    assert shown["skills"] == []

    whom = ("--subject", f"client:{CLIENT}", "--yes", "--prove", "--json")
    done = cairn(tenant, "forget", *whom).json()
    assert [place for place in done["after"]["places"] if place["found"]] == []
    left = profile(tenant)
    parts = ("facts", "preferences", "skills", "interests", "patterns")
    assert [left[part] for part in parts] == [[]] * len(parts)
    assert tenant.rows(HELD) == []
    assert profile_of(tenant, "bob")["preferences"]
