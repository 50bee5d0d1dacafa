"""Tasks and what names them."""

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.support.embedding import HASHING, HashingEmbedder
from tests.support.graph import Graphing, node
from tests.support.ingesting import Documents
from tests.support.remembering import Remembering, admin_of, fact

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.conversations.messages import Channel, MessageRole, NewMessage
from cairn.conversations.record import RecordMessage
from cairn.kernel.access import Role, Scope
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Conflict, Denied, NotFound, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.tasks.draft import MAX_STEPS, NewTask, TaskStep
from cairn.writing.items import IdempotencyKey, Outcome
from cairn.writing.task_ports import StoredTask, TaskStatus

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

DONE = TaskStep(status=TaskStatus.COMPLETED, note="It was the proxy.")


@pytest.fixture
def graph(database: "Database") -> Iterator[Graphing]:
    yield from in_postgres(database)


def in_postgres(database: "Database") -> Iterator[Graphing]:
    name = f"tasks-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    pool = Pool(database.app_url, size=2)
    system = Remembering(
        transactions=StoreTransactions(pool),
        principal=admin_of(workspace_id),
    )
    yield Graphing(system)
    pool.close()


def step(graph: Graphing, task: UUID, note: str, **changes: Any) -> None:
    graph.tasks.step(graph.system.principal, task, TaskStep(note=note, **changes))


def end(graph: Graphing, task: UUID, last: TaskStep = DONE) -> TaskStatus:
    return graph.tasks.end(graph.system.principal, task, last).status


def stored(graph: Graphing, task: UUID) -> StoredTask:
    with graph.system.transactions.reading(graph.system.principal) as stores:
        found = stores.tasks.find(task)
    assert found is not None
    return found


def talk(graph: Graphing, session: str) -> UUID:
    """Begin a conversation; it is there from its second message on."""
    remember = graph.system.remember
    record = RecordMessage(remember.platform)
    for text in ("Why is it slow?", "Let me look."):
        done = record(
            graph.system.principal,
            NewMessage(channel=Channel.API, session_id=session, role=MessageRole.USER, text=text),
        )
    return done.conversation_id


def test_a_task_leads_to_its_conversation_and_to_what_it_produced(graph: Graphing) -> None:
    conversation = talk(graph, "s-1")
    task = graph.task("Find out why it is slow", session_id="s-1")
    found, more = graph.note("The proxy is slow."), graph.note("So is the disk.")
    step(graph, task, "Looked at the proxy.", produced=(found,))
    assert end(graph, task, replace(DONE, produced=(more, found))) is TaskStatus.COMPLETED
    assert graph.edges(task) == {
        ("provenance", "RAISED_DURING", task, conversation, 1.0),
        ("provenance", "PRODUCED", task, found, 1.0),
        ("provenance", "PRODUCED", task, more, 1.0),
    }
    told = stored(graph, task).metadata
    assert [step["note"] for step in told["steps"]] == ["Looked at the proxy."]
    assert (told["status"], told["outcome"]) == ("completed", "It was the proxy.")


def test_secret_inputs_are_redacted_before_they_are_stored(graph: Graphing) -> None:
    schema = {"properties": {"badge": {"writeOnly": True}, "host": {"type": "string"}}}
    task = graph.task("Log in", inputs={"badge": "t0p-s3cret", "host": "db-1"}, input_schema=schema)
    assert stored(graph, task).metadata["inputs"] == {"badge": "[redacted]", "host": "db-1"}


def test_a_memory_names_the_task_it_came_of(graph: Graphing) -> None:
    task = graph.task("Read the logs")
    told = graph.system.tell_one(fact("The proxy is slow.", produced_by_task_id=task))
    again = graph.system.tell_one(fact("The proxy is slow.", produced_by_task_id=task))
    other = graph.task("Read them again")
    graph.system.tell_one(fact("The proxy is slow.", produced_by_task_id=other))
    assert told.id is not None
    assert again.outcome is Outcome.DUPLICATE
    assert graph.edges(told.id) == {
        ("provenance", "PRODUCED", task, told.id, 1.0),
        ("provenance", "PRODUCED", other, told.id, 1.0),
    }


def test_a_memory_of_an_unknown_task_is_refused_and_the_others_stand(graph: Graphing) -> None:
    note = graph.note("no task")
    told = graph.system.tell(
        fact("one", produced_by_task_id=new_id()),
        fact("two", produced_by_task_id=note),
        fact("three"),
    )
    assert [item.outcome for item in told] == ["rejected", "rejected", "created"]
    assert isinstance(told[0].error, NotFound)


def test_a_node_falls_back_to_the_conversation_of_its_session(graph: Graphing) -> None:
    conversation = talk(graph, "s-2")
    made = graph.note("Found in talk.", session_id="s-2")
    assert graph.edges(made) == {("provenance", "PRODUCED", conversation, made, 1.0)}
    alone = graph.note("Found elsewhere.", session_id="s-3")
    assert graph.edges(alone) == set()


def test_a_person_without_provenance_is_written_with_a_warning(graph: Graphing) -> None:
    task = graph.task("Import the contacts")
    (alone,) = graph.add(node("Entity", kind="person", name="Ada"))
    (named,) = graph.add(node("Entity", kind="person", name="Bo", produced_by_task_id=task))
    (other,) = graph.add(node("Note", text="no person"))
    assert alone.outcome is Outcome.CREATED
    assert "produced_by_task_id" in alone.warnings[0]
    assert (named.warnings, other.warnings) == ((), ())


def test_a_task_that_has_ended_takes_no_step_and_the_same_end_once(graph: Graphing) -> None:
    task = graph.task("Look")
    end(graph, task)
    assert end(graph, task) is TaskStatus.COMPLETED
    with pytest.raises(Conflict, match="completed"):
        step(graph, task, "And then?")
    with pytest.raises(Conflict):
        end(graph, task, TaskStep(status=TaskStatus.FAILED))
    assert [told["action"] for _, told in graph.logged] == ["start", "done", "done"]


def test_a_step_is_no_end_and_an_end_no_step(graph: Graphing) -> None:
    task = graph.task("Look")
    with pytest.raises(ValidationFailed, match="completing"):
        step(graph, task, "Done.", status=TaskStatus.COMPLETED)
    with pytest.raises(ValidationFailed, match="cancelled"):
        end(graph, task, TaskStep(note="x", status=TaskStatus.WAITING))
    with pytest.raises(ValidationFailed, match="note"):
        graph.tasks.step(graph.system.principal, task, TaskStep())
    with pytest.raises(NotFound):
        step(graph, task, "x", produced=(new_id(),))


def test_of_many_steps_the_newest_stay(graph: Graphing) -> None:
    task = graph.task("Count")
    for number in range(MAX_STEPS + 3):
        step(graph, task, f"step {number}")
    steps = stored(graph, task).metadata["steps"]
    assert (len(steps), steps[0]["note"]) == (MAX_STEPS, "step 3")


def test_starting_twice_under_one_key_is_one_task(graph: Graphing) -> None:
    key, new = IdempotencyKey(key="k", body_hash=b"1"), NewTask(kind="x", title="Look")
    start, principal = graph.tasks.start, graph.system.principal
    first = start(principal, new, idempotency=key)
    again = start(principal, new, idempotency=key)
    assert (again.id, again.replayed) == (first.id, True)


def test_another_workspace_or_agent_finds_no_task(graph: Graphing) -> None:
    task = graph.task("For the bot", agents=("bot",))
    other = replace(graph.system.principal, agent_slug="other", role=Role.AGENT)
    public = replace(graph.system.principal, allowed_scopes=frozenset({Scope.PUBLIC}))
    for principal in (other, public):
        with pytest.raises(NotFound):
            graph.tasks.end(principal, task, DONE)
    with pytest.raises(Denied):
        reader = replace(graph.system.principal, role=Role.PUBLIC)
        graph.tasks.start(reader, NewTask(kind="x", title="y"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": ""},
        {"title": "x" * 300},
        {"title": "a\x00b"},
        {"title": "\ud800"},
        {"kind": "Not A Kind"},
        {"inputs": {"x": "y" * 20_000}},
        {"inputs": reduce(lambda inner, _: {"deep": inner}, range(10), {"deep": 1})},
        {"data_subjects": ("x",) * 60},
    ],
)
def test_a_bad_task_is_refused_by_its_field(graph: Graphing, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed):
        graph.task(**{"title": "Look", **wrong})


def test_a_conversation_nobody_knows_is_not_found(graph: Graphing) -> None:
    with pytest.raises(NotFound, match="conversation"):
        graph.task("Look", conversation_id=new_id())


def test_a_document_names_the_task_it_came_of(graph: Graphing) -> None:
    documents = Documents(
        transactions=graph.system.transactions,
        principal=graph.system.principal,
        embedder=HashingEmbedder(replace(HASHING, id=1)),
    )
    task = graph.task("Import the manual")
    made = UUID(documents.ingest("# Hut\n\nOpen.", produced_by_task_id=task)["document_id"])
    assert ("provenance", "PRODUCED", task, made, 1.0) in graph.edges(made)
    with pytest.raises(NotFound, match="no such task"):
        documents.ingest("# Hut\n\nShut.", produced_by_task_id=new_id())
