"""A new user's first conversation: what was said is remembered, corrected and taken back."""

from typing import TYPE_CHECKING, Any

import pytest
from tests.e2e.cli import cairn
from tests.e2e.tenant import Tenant, open_workspace

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

PEANUTS = "I am vegetarian and badly allergic to peanuts"


@pytest.fixture(scope="module")
def tenant(laptop: "Laptop") -> Tenant:
    return open_workspace(laptop, "conversation")


def say(tenant: Tenant, text: str, role: str = "user", **more: Any) -> dict[str, Any]:
    body = {"channel": "whatsapp", "session_id": "+4470000", "role": role, "text": text, **more}
    return tenant.post("/v1/conversations/messages", body)


def test_what_was_said_answers_what_the_user_can_not_eat(tenant: Tenant) -> None:
    said = say(tenant, PEANUTS)
    say(tenant, "Thank you, I have noted that.", role="assistant")
    say(tenant, "We host our site on Heroku.", session_id="site")
    say(tenant, "We moved to Render.", session_id="site")
    tenant.all_embedded()

    first = tenant.found("what can the user not eat?")[0]
    assert "peanuts" in first["text"]
    assert said["message_id"] in (first["node_id"], first["attributes"]["parent_id"])
    block = tenant.post("/v1/context", {"query": "what can the user not eat?"})
    assert "peanuts" in block["context"]

    held = tenant.texts("where is the site hosted?", labels=["Memory"], min_relevance=0)
    assert "User: We moved to Render." in held
    assert not [text for text in held if "Heroku" in text]


def test_what_is_taken_back_is_found_no_more_and_what_is_not_inferred_stays_a_message(
    tenant: Tenant,
) -> None:
    kept = say(tenant, "I love sailing.", session_id="sailor", infer=False)
    path = f"/v1/conversations/{kept['conversation_id']}"
    assert tenant.call("PATCH", path, json={"infer": False}).json()["infer"] is False
    say(tenant, "I love rowing.", session_id="sailor")
    say(tenant, "My favourite drink is absinthe.", session_id="other")
    tenant.all_embedded()
    say(tenant, "Please forget that.", session_id="other")
    say(tenant, "My twin Lou collects thimbles.", session_id="twin")
    tenant.all_embedded()
    say(tenant, "Forget about the thimbles.", session_id="twin")
    tenant.all_embedded()

    assert not [text for text in tenant.texts("thimbles", min_relevance=0) if "thimble" in text]
    hits = tenant.found("sailing, rowing or absinthe", limit=20, min_relevance=0)
    shown = {hit["text"]: hit["type"] for hit in hits}
    assert shown["I love sailing."] == shown["I love rowing."] == "Message"
    assert not [text for text in shown if "absinthe" in text]
    assert tenant.get(path)["conversation"]["infer"] is False
    assert tenant.chain_holds()


def test_a_newer_statement_is_the_first_answer_and_what_was_turned_away_is_none(
    tenant: Tenant,
) -> None:
    ada = {"session_id": "hosting", "sender": "Ada"}
    say(tenant, "We host on Linode.", **ada)
    say(tenant, "The weather is lovely today.", **ada)
    say(tenant, "We moved to Hetzner.", **ada)
    refused: dict[str, Any] = {
        "accepted": False,
        "gate_reason": "sender-not-allowed",
        "sender": "Mallory",
    }
    say(tenant, "We host on Netlify.", session_id="stranger", **refused)
    tenant.all_embedded()

    hits = tenant.found("where do we host?", limit=20)
    assert "Hetzner" in hits[0]["text"]
    assert [hit["validity"] for hit in hits if "Linode" in hit["text"]] == ["superseded"]
    question = {"limit": 20, "min_relevance": 0}
    assert "We host on Netlify." not in tenant.texts("where do we host?", **question)
    records = tenant.texts("where do we host?", labels=["Message"], **question)
    assert "We host on Netlify." in records


def test_when_something_is_has_the_newer_day_first_and_when_it_was_the_better_match(
    tenant: Tenant,
) -> None:
    iris = {"session_id": "appointments", "sender": "Iris"}
    say(tenant, "The optician's appointment is on Monday.", **iris)
    say(tenant, "No, Thursday.", **iris)
    tenant.all_embedded()

    first, *others = tenant.found("when is the optician's appointment?")
    assert ("Thursday" in first["text"], first["validity"]) == (True, "current")
    assert all(hit["validity"] == "superseded" for hit in others if "Monday" in hit["text"])
    was = tenant.found("when was the optician's appointment?")
    assert "optician" in was[0]["text"]


def test_reindex_draws_from_what_was_said_before_and_a_rebuild_has_the_same(
    tenant: Tenant,
) -> None:
    ida = {"session_id": "late", "sender": "Ida"}
    drawn = "Ida: My favourite fruit is the quince."
    question = {"labels": ["Memory"], "min_relevance": 0}
    talk = say(tenant, "Good evening to all of you.", **ida)["conversation_id"]
    infer(tenant, talk, False)
    say(tenant, "My favourite fruit is the quince.", **ida)
    tenant.all_embedded()
    assert drawn not in tenant.texts("favourite fruit", **question)

    infer(tenant, talk, True)
    for _ in range(2):
        told = cairn(tenant, "reindex", "--wait")
        assert told.status == 0, told.err
        assert tenant.texts("favourite fruit", **question).count(drawn) == 1
    checked = cairn(tenant, "rebuild", "--check", "--json")
    assert (checked.status, checked.json()["equal"]) == (0, True)


def infer(tenant: Tenant, conversation_id: str, infers: bool) -> None:
    """Say over MCP whether memories are drawn from a conversation."""
    arguments = {"id": conversation_id, "infer": infers}
    called = {"name": "conversation-change", "arguments": arguments}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
    headers = {"accept": "application/json, text/event-stream"}
    result = tenant.post("/mcp", asked, headers=headers)["result"]
    assert result["structuredContent"] == {"conversation_id": conversation_id, "infer": infers}
