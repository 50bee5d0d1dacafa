"""The tools of a chat: what waits for a yes, what is called at once, and for whom."""

from typing import Any, cast

import pytest

from cairn.api.chat_tools import ADDS, DOES, NOT_HERE, toolbox
from cairn.api.mcp.catalogue import TOOLS
from cairn.chat.tool_search import Offer
from cairn.kernel.access import ALL_SCOPES, Principal, Role
from cairn.kernel.ids import new_id


def box(role: Role, tools: frozenset[str] | None = None) -> Any:
    principal = Principal(
        workspace_id=new_id(),
        principal_id=new_id(),
        role=role,
        allowed_scopes=ALL_SCOPES,
        agent_slug="helper" if role is Role.PUBLIC else None,
        tools=tools,
    )
    return toolbox(cast("Any", None), principal, cast("Any", None), "a chat")


def test_every_tool_that_the_chat_names_is_one_of_the_catalogue() -> None:
    assert ADDS | NOT_HERE | set(DOES.values()) <= {tool.name for tool in TOOLS}


@pytest.mark.parametrize("role", [Role.ADMIN, Role.AGENT])
def test_what_changes_or_deletes_waits_and_what_reads_or_adds_does_not(role: Role) -> None:
    tools = box(role)
    assert set(tools.does) == set(DOES)
    for name in ("memory_delete", "memory_correct", "memory_pin", "node_write"):
        assert name in tools.waits
    for name in ("memory_recall", "memory_list", "memory_remember", "ticket_add"):
        assert name not in tools.waits and name in tools.names()


def test_a_public_key_has_tools_that_only_read() -> None:
    tools = box(Role.PUBLIC)
    assert "memory_recall" in tools.names()
    assert (tools.waits, set(tools.does.values())) == (frozenset(), {"memory_recall"})


def test_a_list_of_tools_narrows_the_chat() -> None:
    assert box(Role.ADMIN, frozenset({"memory_recall"})).names() == {"memory_recall"}


def test_a_model_finds_each_tool_that_it_is_not_told_of_by_its_name_and_no_words_find_nothing() -> (
    None
):
    tools = box(Role.ADMIN)
    assert not tools.later & {"memory_recall", "memory_delete", "ticket_add", "context_get"}
    for name in tools.later:
        offer = Offer(toolbox=tools)
        assert name not in {tool.name for tool in offer.tools}
        assert name in offer.search(name.replace("_", " "))
        assert name in {tool.name for tool in offer.tools}
    offer = Offer(toolbox=tools)
    for words in ("", "zzzz", "\x00", "\ud800"):
        assert "There are: " in offer.search(words)
    assert (offer.searches, offer.found) == (4, set())


def test_few_tools_are_told_of_together() -> None:
    few = box(Role.ADMIN, frozenset({"memory_recall", "ticket_list"}))
    assert {tool.name for tool in Offer(toolbox=few).tools} == {"memory_recall", "ticket_list"}
