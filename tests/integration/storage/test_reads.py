"""Browsing a workspace, and what verification says when someone was at the ledger."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.ingesting import Documents
from tests.support.world import World, memory, open_world

from cairn.adapters.postgres.ledger.whole import export_ledger, verify_ledgers
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.kernel.access import Scope
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import NotFound
from cairn.kernel.ids import new_id
from cairn.memories.kinds import MemoryKind
from cairn.reading.browse import Browse
from cairn.reading.views import LedgerFilter, MemoryFilter
from cairn.recall.rendering import plain

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

VERIFIER = Path(__file__).parents[3] / "scripts" / "verify_ledger.py"


@pytest.fixture
def world(database: "Database") -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, f"reads-{new_id()}")
    yield world
    world.pool.close()


@pytest.fixture
def browse(world: World) -> Browse:
    return Browse(transactions=StoreTransactions(world.pool))


def ids(world: World, *memories: Any) -> list[Any]:
    return [outcome.id for outcome in world.tell(*memories).outcomes]


def test_a_memory_and_its_history_are_read(world: World, browse: Browse) -> None:
    old, new = ids(world, memory("six", key="k"), memory("seven", key="k"))
    assert (browse.get_memory(world.admin, old).superseded_by, old) == (new, old)
    assert browse.get_memory(world.admin, new).importance_band == "medium"
    history = browse.get_memory_history(world.admin, old)
    assert [item.memory.state for item in history] == ["active", "superseded"]
    assert history[0].to_position == history[1].from_position
    assert history[1].to_position is None


def test_what_a_reader_may_not_see_is_not_found(world: World, browse: Browse) -> None:
    tagged, plain = ids(world, memory("for the bot", agents=("bot",)), memory("for admins"))
    public = world.as_other(allowed_scopes=frozenset({Scope.PUBLIC}))
    other = world.as_other(agent_slug="other")
    assert browse.get_memory(world.as_other(agent_slug="bot"), tagged).text == "for the bot"
    nobody = world.as_other()
    assert browse.get_memory(nobody, plain).text == "for admins"
    listed = browse.list_memories(nobody, MemoryFilter(), limit=9, after=None).items
    assert [each.id for each in listed] == [plain]
    for who, hidden in (
        (public, plain),
        (other, tagged),
        (other, plain),
        (nobody, tagged),
        (world.admin, new_id()),
    ):
        for read in (browse.get_memory, browse.get_memory_history):
            with pytest.raises(NotFound):
                read(who, hidden)
    assert browse.list_memories(other, MemoryFilter(), limit=9, after=None).items == ()


def test_a_deleted_memory_is_gone_but_an_admin_sees_its_history(
    world: World, browse: Browse, database: "Database"
) -> None:
    (gone,) = ids(world, memory("gone"))
    with database.connect_as_superuser() as root:
        root.execute("UPDATE node SET state = 'deleted', position = 99 WHERE id = %s", [gone])
    with pytest.raises(NotFound):
        browse.get_memory(world.admin, gone)
    with pytest.raises(NotFound):
        browse.get_memory_history(world.as_other(), gone)
    states = [item.memory.state for item in browse.get_memory_history(world.admin, gone)]
    assert states == ["active", "deleted"]


def test_lists_are_paged_newest_first_and_filtered(world: World, browse: Browse) -> None:
    world.tell(*(memory(f"m{n}", type=MemoryKind.DECISION) for n in range(5)), memory("a fact"))
    found: list[str] = []
    after: int | None = None
    while True:
        where = MemoryFilter(type=MemoryKind.DECISION, state="active")
        page = browse.list_memories(world.admin, where, limit=2, after=after)
        found += [item.text for item in page.items]
        after = page.next_after
        if after is None:
            break
    assert found == ["m4", "m3", "m2", "m1", "m0"]


def test_a_list_of_the_past_shows_what_stood_then_in_the_state_it_had(
    world: World, browse: Browse
) -> None:
    ids(world, memory("She lives in Paris.", key="home"))
    then = browse.get_status(world.admin).ledger_position
    ids(world, memory("She lives in Oslo.", key="home"), memory("An aside.", metadata={"a": 1}))

    def listed(**narrowed: Any) -> list[str]:
        where = MemoryFilter(state="active", **narrowed)
        page = browse.list_memories(world.admin, where, limit=9, after=None)
        return [each.text for each in page.items]

    assert listed() == ["An aside.", "She lives in Oslo."]
    assert listed(as_of=then) == ["She lives in Paris."]
    where = LedgerFilter(from_position=then)
    entry = browse.list_ledger(world.admin, where, limit=1, after=None).items[0]
    assert listed(as_of=entry.recorded_at) == ["She lives in Paris."]
    assert listed(as_of=0) == []
    assert listed(as_of=then, occurred_from=utc_now()) == []
    assert listed(occurred_to=utc_now()) == listed()


def test_status_counts_what_waits(world: World, browse: Browse) -> None:
    world.tell(memory("a"), memory("b"))
    status = browse.get_status(world.admin)
    assert (status.pending_embeddings, status.failed_embeddings, status.memories) == (2, 0, 2)
    assert (status.documents, status.ledger_position) == (0, 4)
    assert status.oldest_pending_at is not None


def test_unknown_documents_and_ingestions_are_not_found(world: World, browse: Browse) -> None:
    for read in (browse.get_document, browse.get_ingestion):
        with pytest.raises(NotFound):
            read(world.admin, new_id())
    assert browse.list_documents(world.admin, client_id=None, limit=5, after=None).items == ()


@pytest.mark.parametrize("uri", ["kb://runbook.md", "kb://a b[1]#top", "file:///two  spaces.md"])
def test_a_document_is_found_by_its_source_as_it_is_and_as_it_is_cited(
    world: World, browse: Browse, uri: str
) -> None:
    transactions = StoreTransactions(world.pool)
    documents = Documents(transactions=transactions, principal=world.admin)
    kind = {"media_type": "text/markdown"}
    sent = documents.send("# On call\n\nThe pager goes round.", source_uri=uri, **kind)
    documents.send("# Other\n\nNot this one.", source_uri="kb://runbook.md.old", **kind)
    asked: dict[str, Any] = {"client_id": None, "limit": 5, "after": None}
    for written in (uri, plain(uri)):
        found = browse.list_documents(world.admin, source_uri=written, **asked)
        assert [item.id for item in found.items] == [sent.document_id]
    assert browse.list_documents(world.admin, source_uri="kb://none", **asked).items == ()
    assert len(browse.list_documents(world.admin, **asked).items) == 2


def test_the_ledger_is_listed_by_type_actor_subject_and_time_both_ways(
    world: World, browse: Browse
) -> None:
    world.tell(memory("a", client_id="acme"))

    def listed(limit: int = 10, after: int | None = None, **where: Any) -> tuple[list[int], Any]:
        page = browse.list_ledger(world.admin, LedgerFilter(**where), limit=limit, after=after)
        return [each.position for each in page.items], page.next_after

    assert listed() == ([1, 2, 3, 4], None)
    every = browse.list_ledger(world.admin, LedgerFilter(), limit=10, after=None).items
    (remembered,) = [each for each in every if each.type == "memory.remembered"]
    for wanted in ("memory", "memory.remembered"):
        assert listed(type=wanted) == ([remembered.position], None)
    assert listed(from_position=2, limit=2) == ([2, 3], 3)
    assert listed(newest_first=True, limit=3) == ([4, 3, 2], 2)
    assert listed(newest_first=True, limit=3, after=2) == ([1], None)
    (subject,) = remembered.data_subjects
    about = [each.position for each in every if subject in each.data_subjects]
    assert listed(subject_id=subject) == (about, None)
    assert listed(subject_id=new_id()) == ([], None)
    wrote = [each.position for each in every if each.actor_id == remembered.actor_id]
    assert listed(actor_id=remembered.actor_id) == (wrote, None)
    same = [each.position for each in every if each.recorded_at == remembered.recorded_at]
    later = remembered.recorded_at + timedelta(microseconds=1)
    assert listed(recorded_from=remembered.recorded_at, recorded_to=later) == (same, None)
    assert listed(recorded_from=every[-1].recorded_at + timedelta(microseconds=1)) == ([], None)


@pytest.mark.parametrize(
    ("statement", "position", "reason"),
    [
        ("UPDATE ledger SET meta = '{}' WHERE position = 3", 3, "hash-mismatch"),
        ("UPDATE ledger SET body = body || '\\x00' WHERE position = 4", 4, "hash-mismatch"),
        ("DELETE FROM ledger WHERE position = 3", 3, "gap"),
        ("DELETE FROM ledger WHERE position = 5", 5, "head-mismatch"),
        ("UPDATE ledger SET recorded_at = recorded_at - interval '1 day' WHERE position = 2", 2,
         "hash-mismatch"),
    ],
)  # fmt: skip
def test_verification_names_the_first_bad_position(
    world: World, browse: Browse, database: "Database", tmp_path: Path,
    statement: str, position: int, reason: str,
) -> None:  # fmt: skip
    world.tell(memory("a"), memory("b"), memory("c"))
    assert browse.verify_ledger(world.admin).ok
    with database.connect_as_superuser() as root:
        root.execute("ALTER TABLE ledger DISABLE TRIGGER USER")
        root.execute(f"{statement} AND workspace_id = %s".encode(), [world.workspace_id])
        root.execute("ALTER TABLE ledger ENABLE TRIGGER USER")
    found = browse.verify_ledger(world.admin)
    assert (found.ok, found.first_bad_position, found.reason) == (False, position, reason)
    as_owner = {ledger.workspace_id: ledger for ledger in verify_ledgers(database.owner_url)}
    assert as_owner[world.workspace_id] == found
    export = tmp_path / "export.ndjson"
    export.write_text("".join(export_ledger(database.owner_url, world.workspace_id)))
    offline = subprocess.run(
        [sys.executable, VERIFIER, export, "--json"], capture_output=True, check=False
    )
    assert offline.returncode == 1
    assert json.loads(offline.stdout)["first_bad_position"] == position


def test_an_unknown_workspace_has_no_ledger(database: "Database") -> None:
    with pytest.raises(NotFound):
        list(verify_ledgers(database.owner_url, new_id()))
