"""A new user's first conversation: what was said is remembered, corrected and taken back."""

from typing import TYPE_CHECKING, Any

import pytest
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
    tenant.all_embedded()

    hits = tenant.found("sailing, rowing or absinthe", limit=20, min_relevance=0)
    shown = {hit["text"]: hit["type"] for hit in hits}
    assert shown["I love sailing."] == shown["I love rowing."] == "Message"
    assert not [text for text in shown if "absinthe" in text]
    assert tenant.get(path)["conversation"]["infer"] is False
    assert tenant.chain_holds()
