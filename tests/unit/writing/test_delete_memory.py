"""Deleting a memory: hidden at once, once, and only by who may see it."""

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

import pytest
from tests.support.platform import platform_of
from tests.support.remembering import Remembering, fact, in_memory

from cairn.graph.node import State
from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.errors import Denied, NotFound
from cairn.kernel.ids import new_id
from cairn.memories.delete import DeleteMemory
from cairn.memories.kinds import MemoryKind
from cairn.writing.items import Deleted, Outcome

Delete = Callable[[Principal, UUID], Deleted]


@pytest.fixture
def system() -> Remembering:
    return in_memory()


@pytest.fixture
def delete(system: Remembering) -> Delete:
    return DeleteMemory(platform_of(system.transactions, dispatcher=system.sent))


def told(system: Remembering, text: str = "a", **changes: object) -> UUID:
    identity = system.tell_one(fact(text, **changes)).id
    assert identity is not None
    return identity


def test_a_deleted_memory_is_an_entry_and_a_state(system: Remembering, delete: Delete) -> None:
    memory = told(system)
    deleted = delete(system.principal, memory)
    tables = system.transactions.workspaces[system.principal.workspace_id]
    node = tables.nodes[memory]
    assert (node.state, node.position) == (State.DELETED, deleted.position)
    assert node.deleted_at == tables.entries[-1].recorded_at
    assert tables.entries[-1].type == "memory.deleted"


def test_deleting_again_returns_the_first_deletion(system: Remembering, delete: Delete) -> None:
    memory = told(system)
    assert delete(system.principal, memory) == delete(system.principal, memory)


def test_what_was_deleted_may_be_said_again(system: Remembering, delete: Delete) -> None:
    memory = told(system)
    delete(system.principal, memory)
    again = system.tell_one(fact("a"))
    assert again.outcome is Outcome.CREATED
    assert again.id != memory


def test_a_memory_alone_wakes_nobody(system: Remembering, delete: Delete) -> None:
    memory = told(system)
    sent = len(system.sent.rows)
    delete(system.principal, memory)
    assert len(system.sent.rows) == sent


def test_messages_after_it_get_their_context_without_it(
    system: Remembering, delete: Delete
) -> None:
    ids = [
        told(system, f"m{n}", type=MemoryKind.EVENT, session_id="s", sequence=n) for n in range(5)
    ]
    delete(system.principal, ids[2])
    nodes = system.transactions.workspaces[system.principal.workspace_id].nodes
    assert nodes[ids[3]].context_text == "m0\nm1"
    assert nodes[ids[4]].context_text == "m1\nm3"
    assert set(system.sent.rows[-1].node_ids) == {ids[3], ids[4]}


@pytest.mark.parametrize(
    "seen", [{"allowed_scopes": frozenset({Scope.PUBLIC})}, {"agent_slug": "x"}]
)
def test_who_may_not_see_it_is_told_that_there_is_nothing(
    system: Remembering, delete: Delete, seen: dict[str, object]
) -> None:
    memory = told(system)
    other = replace(system.principal, role=Role.AGENT, **seen)
    with pytest.raises(NotFound):
        delete(other, memory)


def test_a_public_key_deletes_nothing(system: Remembering, delete: Delete) -> None:
    with pytest.raises(Denied):
        delete(replace(system.principal, role=Role.PUBLIC), told(system))


def test_an_unknown_memory_is_not_found(system: Remembering, delete: Delete) -> None:
    with pytest.raises(NotFound):
        delete(system.principal, new_id())
