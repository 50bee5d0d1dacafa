"""Projectors are pure: the ledger alone gives the rows again, as they are and as they were."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.fakes.stores import InMemoryNodes, Tables
from tests.support.ingesting import Documents
from tests.support.platform import platform_of
from tests.support.remembering import NOON, Remembering, fact

from cairn.graph.projection import Projection
from cairn.ledger.chain import empty_head
from cairn.ledger.entry import Entry
from cairn.ledger.keys import BodyCipher, key_subjects
from cairn.memories.delete import DeleteMemory
from cairn.memories.kinds import MemoryKind
from cairn.writing.projectors import (
    WITH_TEXTS,
    WITHOUT_TEXTS,
    project,
    projector,
    registered_subject,
)

HUT = "# Hut\n\nWords about the hut.\n\n## Beds\n\nThere are twelve beds.\n"


@pytest.fixture(scope="module")
def lived() -> Documents:
    """A workspace in which everything happened that changes rows."""
    system = Documents()
    memories = Remembering(
        transactions=system.transactions, principal=system.principal, keys=system.keys
    )
    _remember(memories)
    _converse(memories)
    first = system.ingest(HUT, client_id="acme")
    system.ingest(HUT.replace("twelve", "ten"), client_id="acme")
    system.delete(system.principal, UUID(first["document_id"]))
    system.ingest(HUT, client_id="acme")
    return system


def _remember(memories: Remembering) -> None:
    day = timedelta(days=1)
    for text, start in (("six", NOON), ("eight", NOON + 4 * day), ("seven", NOON + 2 * day)):
        memories.tell(fact(text, key="opening", valid_from=start))
    memories.tell(fact("six", key="opening", valid_from=NOON, source_agent="other"))
    memories.tell(fact("a", client_id="acme"), fact("a", client_id="acme", source_agent="other"))
    for value in ("open", "closed"):
        memories.tell(fact(value, type=MemoryKind.STATUS, subject="hut", status_value=value))


def _converse(memories: Remembering) -> None:
    told = {
        number: memories.tell_one(
            fact(f"message {number}", type=MemoryKind.EVENT, session_id="s", sequence=number)
        )
        for number in (1, 2, 4, 5, 3)
    }
    delete = DeleteMemory(
        platform_of(memories.transactions, dispatcher=memories.sent, clock=lambda: NOON)
    )
    delete(memories.principal, told[2].id or UUID(int=0))


def opened(system: Documents) -> Iterator[tuple[Entry, dict[str, Any]]]:
    cipher = BodyCipher()
    for entry in system.tables.entries:
        owners = key_subjects(entry.workspace_id, entry.data_subjects)
        keys = system.keys.get(entry.workspace_id, owners)
        body: dict[str, Any] = (
            dict(cipher.open(entry.id, entry.workspace_id, owners, keys, entry.body))
            if entry.body
            else {}
        )
        yield entry, body


def replayed(system: Documents) -> Tables:
    """Return the projections made from the entries alone."""
    tables = Tables(head=empty_head(system.workspace_id))
    texts: dict[UUID, str] = {}
    for entry, body in opened(system):
        InMemoryNodes(tables).apply([project(entry, body, texts)])
        if entry.type == "memory.remembered":
            texts[UUID(str(entry.meta["node_id"]))] = body["text"]
        if entry.type == "data_subject.registered":
            subject = registered_subject(entry, body)
            tables.subjects[subject.kind, subject.natural_key] = subject.id
    return tables


def test_the_scenario_has_an_entry_of_every_type_that_is_projected(lived: Documents) -> None:
    types = {entry.type for entry in lived.tables.entries}
    assert types >= {
        "memory.remembered",
        "memory.corroborated",
        "memory.deleted",
        "document.received",
        "document.chunks_stored",
        "document.stored",
        "document.deleted",
        "data_subject.registered",
    }


def test_replaying_the_ledger_gives_the_same_rows(lived: Documents) -> None:
    again = replayed(lived)
    assert again.nodes == lived.tables.nodes
    assert again.edges == lived.tables.edges
    assert again.subjects == lived.tables.subjects


def test_replaying_the_ledger_gives_the_same_past(lived: Documents) -> None:
    assert replayed(lived).versions == lived.tables.versions


def test_replaying_onto_what_is_there_changes_nothing(lived: Documents) -> None:
    tables = lived.tables.snapshot()
    texts = {node.id: node.text for node in tables.nodes.values()}
    for entry, body in opened(lived):
        InMemoryNodes(tables).apply([project(entry, body, texts)])
    assert tables.nodes == lived.tables.nodes
    assert tables.edges == lived.tables.edges


def test_the_same_entry_gives_the_same_rows_each_time(lived: Documents) -> None:
    texts = {node.id: node.text for node in lived.tables.nodes.values()}
    for entry, body in opened(lived):
        assert project(entry, body, texts) == project(entry, body, texts)


def test_every_row_names_the_position_it_comes_from(lived: Documents) -> None:
    texts = {node.id: node.text for node in lived.tables.nodes.values()}
    for entry, body in opened(lived):
        made = project(entry, body, texts)
        positions = {row.position for row in (*made.nodes, *made.edges, *made.removals)}
        assert positions <= {entry.position}


def test_an_entry_of_another_type_has_no_rows(lived: Documents) -> None:
    entry = replace(lived.tables.entries[0], type="search.ran")
    assert project(entry, {}, {}) == Projection()


def test_every_name_of_the_tables_is_a_function_of_its_module() -> None:
    names = {*WITH_TEXTS.values(), *WITHOUT_TEXTS.values()}
    assert [name for name in sorted(names) if not callable(projector(name))] == []


def test_an_entry_type_is_in_one_table_only() -> None:
    assert not WITH_TEXTS.keys() & WITHOUT_TEXTS.keys()
