"""Roles: memories are about, of, and mention; events have a subject, a tool, objects, targets."""

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.enrichment.test_similar import node

from cairn.enrichment.plan import STRENGTH, derive, entities_of, typed, unclear_names
from cairn.graph.edge import Role
from cairn.graph.entities import MAX_ENTITIES


def roles(found: Any) -> dict[str, tuple[str, Role]]:
    return {item.name: (item.type, item.role) for item in found}


def test_a_memory_is_about_its_client_and_said_by_its_agent() -> None:
    memory = node(1, text="We moved to PostgreSQL.", client_id="acme", source_agent="scout")
    assert roles(entities_of(memory, {})) == {
        "acme": ("client", Role.ABOUT),
        "scout": ("agent", Role.SOURCE),
        "PostgreSQL": ("technology", Role.MENTIONED),
    }


def test_everybodys_client_is_no_entity() -> None:
    assert "global" not in roles(entities_of(node(1, text="x", source_agent="scout"), {}))


def test_an_unclear_name_is_what_it_is_elsewhere_in_its_audience() -> None:
    texts = "our dog Biscuit", "I gave Biscuit a bath", "I saw Biscuit"
    nodes = [node(at, text=text) for at, text in enumerate(texts, start=1)]
    apart = replace(nodes[2], scope="public")
    derived = [derive(item, {}) for item in (*nodes[:2], apart)]
    assert unclear_names(derived) == {
        nodes[1].audience: {"biscuit"},
        apart.audience: {"biscuit"},
    }
    found = [item.entities[-1].type for item in typed(derived, {})]
    assert found == ["animal", "animal", "concept"]
    stored = {apart.audience: {"biscuit": "product"}}
    assert typed(derived, stored)[2].entities[-1].type == "product"


def event(**changes: Any) -> Any:
    given: dict[str, Any] = {"label": "Event", "kind": "tool.execute", "source_agent": "deployer"}
    return node(1, **(given | changes))


def test_an_event_has_its_agent_as_subject_and_its_tool() -> None:
    found = roles(entities_of(event(metadata={"tool_name": "kubectl"}), {}))
    assert found["deployer"] == ("agent", Role.SUBJECT)
    assert found["kubectl"] == ("tool", Role.TOOL)


def test_keys_of_the_payload_say_as_what() -> None:
    payload = {
        "service": "billing",
        "host": "db-1",
        "recipient": "ada",
        "note": "nothing",
        "target": 5,
        "file": "x" * 101,
        "user": "12345",
    }
    found = roles(entities_of(event(metadata={"payload": payload}), {}))
    assert found["billing"] == ("system", Role.OBJECT)
    assert found["db-1"] == ("system", Role.TARGET)
    assert found["ada"] == ("user", Role.TARGET)
    assert {"nothing", "x" * 101, "12345"}.isdisjoint(found)


def test_an_entity_is_named_once_in_its_strongest_role() -> None:
    metadata = {"tool_name": "Redis", "payload": {"host": "redis", "resource": "REDIS"}}
    (one,) = [
        item
        for item in entities_of(event(text="Use Redis.", metadata=metadata), {})
        if item.type != "agent"
    ]
    assert one.role is Role.OBJECT


def test_an_alias_leads_to_the_canonical_name() -> None:
    aliases = {"kube control": ("kubectl", "tool")}
    found = roles(entities_of(event(metadata={"tool_name": "Kube Control"}), aliases))
    assert found["kubectl"] == ("tool", Role.TOOL)


def test_one_node_names_few_entities() -> None:
    text = " ".join(f'"Project Number{chr(65 + n % 26)}{chr(97 + n // 26)}"' for n in range(300))
    assert len(entities_of(node(1, text=text, source_agent="a"), {})) == MAX_ENTITIES
    assert len(entities_of(event(text=text), {})) <= MAX_ENTITIES


@pytest.mark.parametrize("label", ["Entity", "Document", "Section", "Conversation"])
def test_names_of_wholes_have_no_entities_of_their_own(label: str) -> None:
    assert entities_of(node(1, label=label, text="PostgreSQL", source_agent="a"), {}) == ()


def test_every_role_has_a_strength() -> None:
    assert set(STRENGTH) == set(Role)
