"""What the embed stage adds to the graph, over the fake and over PostgreSQL alike."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.fakes.embeddings import InMemoryOutbox
from tests.support.embedding import HASHING, HashingEmbedder
from tests.support.observing import Seeing, event, seeing_in_postgres
from tests.support.platform import platform_of
from tests.support.remembering import fact, in_memory

from cairn.adapters.postgres.stores import PostgresOutbox
from cairn.enrichment.enrich import Enrich
from cairn.graph.entities import entity_id
from cairn.kernel.access import Scope
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.ledger.keys import BodyCipher
from cairn.memories.delete import DeleteMemory
from cairn.memories.kinds import MemoryKind

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

LONG = "the billing service restarts every night because its memory runs out under load"


@pytest.fixture(params=["in memory", "postgres"])
def seeing(request: pytest.FixtureRequest) -> Iterator[Seeing]:
    if request.param == "in memory":
        yield Seeing(in_memory())
        return
    database: Database = request.getfixturevalue("database")
    with database.connect_as_superuser() as root:
        root.execute(
            """INSERT INTO embedding_model (id, name, dimensions) VALUES (%s, %s, %s)
               ON CONFLICT DO NOTHING""",
            (HASHING.id, HASHING.name, HASHING.dimensions),
        )
    yield from seeing_in_postgres(database)


def enriching(seeing: Seeing, **changes: Any) -> Enrich:
    given: dict[str, Any] = {
        "platform": platform_of(seeing.system.transactions, keys=seeing.system.keys),
        "embedder": HashingEmbedder(),
    }
    return Enrich(**(given | changes))


def work_off(seeing: Seeing, **changes: Any) -> int:
    """Enrich everything sent so far that is not finished."""
    rows = [row.id for row in seeing.system.sent.rows]
    return enriching(seeing, **changes).rows(seeing.system.principal.workspace_id, rows)


def entity(seeing: Seeing, type: str, name: str, **audience: Any) -> UUID:
    given = {"scope": "admin", "agents": None} | audience
    workspace_id = seeing.system.principal.workspace_id
    return entity_id(workspace_id, given["scope"], given["agents"], type, name)


def test_a_memory_refers_to_its_client_its_agent_and_what_it_mentions(seeing: Seeing) -> None:
    one = seeing.system.tell_one(
        fact("We moved to PostgreSQL.", client_id="acme", source_agent="scout")
    )
    work_off(seeing)
    assert seeing.edges("REFERENCES") == {
        (one.id, entity(seeing, "client", "acme"), "about"),
        (one.id, entity(seeing, "agent", "scout"), "source"),
        (one.id, entity(seeing, "technology", "PostgreSQL"), "mentioned"),
    }


def test_a_duplicate_has_the_position_of_what_it_repeats_whatever_was_added_since(
    seeing: Seeing,
) -> None:
    one = seeing.system.tell_one(fact("We moved to PostgreSQL.", source_agent="scout"))
    work_off(seeing)
    again = seeing.system.tell_one(fact("We moved to PostgreSQL.", source_agent="scout"))
    assert (again.outcome, again.id, again.position) == ("duplicate", one.id, one.position)


def test_entities_named_together_are_tied_once_and_grow_stronger(seeing: Seeing) -> None:
    seeing.system.tell(
        fact("PostgreSQL and Redis are slow.", source_agent="scout"),
        fact("PostgreSQL feeds Redis.", source_agent="scout"),
    )
    work_off(seeing)
    seeing.system.tell(fact("Redis empties PostgreSQL.", source_agent="scout"))
    work_off(seeing)
    names = [("agent", "scout"), ("technology", "PostgreSQL"), ("technology", "Redis")]
    scout, postgres, redis = sorted(entity(seeing, *name) for name in names)
    assert seeing.edges("CO_OCCURRENCE") == {
        (scout, postgres, 3.0),
        (scout, redis, 3.0),
        (postgres, redis, 3.0),
    }


def test_audiences_have_entities_of_their_own(seeing: Seeing) -> None:
    for audience in ({}, {"scope": Scope.PUBLIC}, {"agents": ("bot",)}):
        seeing.system.tell(fact("Redis is slow.", source_agent="a", **audience))
    work_off(seeing)
    targets = {target for _, target, _ in seeing.edges("REFERENCES")}
    assert targets == {
        entity(seeing, type, name, **audience)
        for type, name in (("agent", "a"), ("technology", "Redis"))
        for audience in ({}, {"scope": "public"}, {"agents": ("bot",)})
    }


def test_an_event_has_a_subject_a_tool_and_what_its_payload_names(seeing: Seeing) -> None:
    one = seeing.see_one(
        event(agent_id="deployer", tool_name="kubectl", payload={"service": "billing"})
    )
    work_off(seeing)
    assert {
        (one, entity(seeing, "agent", "deployer"), "subject"),
        (one, entity(seeing, "tool", "kubectl"), "tool"),
        (one, entity(seeing, "system", "billing"), "object"),
    } <= seeing.edges("REFERENCES")


def test_nodes_that_say_the_same_are_alike_within_a_batch_and_later(seeing: Seeing) -> None:
    first, second = seeing.system.tell(fact(LONG), fact(f"{LONG}."), fact("zebras are striped"))[:2]
    work_off(seeing)
    third = seeing.system.tell_one(fact(f"{LONG}!"))
    work_off(seeing)
    found = {(source, target) for source, target, _ in seeing.edges("SIMILAR_TO")}
    assert found == {(second.id, first.id), (third.id, first.id), (third.id, second.id)}


def test_a_node_keeps_five_likenesses(seeing: Seeing) -> None:
    for number in range(9):
        seeing.system.tell(fact(f"{LONG} {'!' * number}"))
        work_off(seeing)
    counts: dict[UUID, int] = {}
    for source, target, _ in seeing.edges("SIMILAR_TO"):
        counts[source] = counts.get(source, 0) + 1
        counts[target] = counts.get(target, 0) + 1
    assert max(counts.values()) <= 5


def test_another_audience_is_never_alike(seeing: Seeing) -> None:
    seeing.system.tell(fact(LONG), fact(LONG, scope=Scope.PUBLIC), fact(LONG, agents=("bot",)))
    work_off(seeing)
    assert seeing.edges("SIMILAR_TO") == set()


def test_likeness_can_be_switched_off(seeing: Seeing) -> None:
    seeing.system.tell(fact(LONG), fact(f"{LONG}."))
    work_off(seeing, finds_similar=False)
    assert seeing.edges("SIMILAR_TO") == set()


def test_numbered_messages_follow_each_other_a_late_one_too(seeing: Seeing) -> None:
    def say(text: str, sequence: int) -> UUID:
        message = fact(text, type=MemoryKind.EVENT, session_id="talk", sequence=sequence)
        made = seeing.system.tell_one(message).id
        work_off(seeing)
        assert made is not None
        return made

    first, third = say("one", 1), say("three", 3)
    assert {edge[:2] for edge in seeing.edges("FOLLOWS")} == {(third, first)}
    second = say("two", 2)
    assert {edge[:2] for edge in seeing.edges("FOLLOWS")} == {(second, first), (third, second)}


def test_a_deleted_message_is_followed_no_more(seeing: Seeing) -> None:
    one, two, three = seeing.system.tell(
        *(
            fact(f"number {n}", type=MemoryKind.EVENT, session_id="talk", sequence=n)
            for n in range(3)
        )
    )
    work_off(seeing)
    assert two.id is not None
    DeleteMemory(platform_of(seeing.system.transactions, dispatcher=seeing.system.sent))(
        seeing.system.principal, two.id
    )
    work_off(seeing)
    edges = {edge[:2] for edge in seeing.edges("FOLLOWS")}
    assert (three.id, one.id) in edges
    assert (three.id, two.id) not in edges


def test_a_failure_right_after_a_tool_of_its_trace_came_of_it(seeing: Seeing) -> None:
    tool = seeing.see_one(event("tool.execute", at=0, trace_id="t"))
    seeing.see_one(event("tool.execute", at=1, trace_id="another"))
    failure = seeing.see_one(event("agent.error", at=2, trace_id="t"))
    work_off(seeing)
    assert seeing.edges("CAUSED_BY") == {(failure, tool, "inferred")}


def test_a_payload_that_names_its_cause_has_an_inferred_edge(seeing: Seeing) -> None:
    first = seeing.see_one(event(at=0))
    again = seeing.see_one(event(at=1, payload={"retry_of": str(first)}))
    stray = event(at=2, payload={"retry_of": str(new_id())})
    seeing.see(stray)
    work_off(seeing)
    assert seeing.edges("CAUSED_BY") == {(again, first, "inferred")}


def test_the_parent_of_a_memory_is_its_cause(seeing: Seeing) -> None:
    cause = seeing.see_one(event())
    one = seeing.system.tell_one(fact("learned from it", parent_id=cause))
    hidden = seeing.see_one(event(at=1, scope=Scope.PUBLIC))
    seeing.system.tell(fact("another scope's parent", parent_id=hidden))
    work_off(seeing)
    assert seeing.edges("CAUSED_BY") == {(one.id, cause, "direct")}


def test_a_cause_stated_directly_is_not_inferred_again(seeing: Seeing) -> None:
    cause = seeing.see_one(event())
    child = seeing.see_one(event(at=1, parent_id=cause, payload={"caused_by": str(cause)}))
    work_off(seeing)
    assert seeing.edges("CAUSED_BY") == {(child, cause, "direct")}


def test_the_same_work_again_adds_nothing(seeing: Seeing) -> None:
    """The row is sent again, as after a stage that died between the commit and its answer."""
    seeing.system.tell(
        fact("PostgreSQL and Redis are slow.", source_agent="scout", session_id="s", sequence=1),
        fact("PostgreSQL and Redis are slow!", source_agent="scout", session_id="s", sequence=9),
    )
    work_off(seeing)
    relations = ("REFERENCES", "CO_OCCURRENCE", "FOLLOWS", "SIMILAR_TO")
    before = {relation: seeing.edges(relation) for relation in relations}
    assert all(before.values())
    assert work_off(seeing) == 0
    with seeing.system.transactions.writing(seeing.system.principal) as stores:
        for row in seeing.system.sent.rows:
            stores.outbox.add(row, utc_now())
    assert work_off(seeing) == 2
    assert {relation: seeing.edges(relation) for relation in relations} == before


def test_what_fails_while_storing_leaves_nothing_and_the_row_stays(seeing: Seeing) -> None:
    seeing.system.tell(fact("PostgreSQL and Redis are slow."))

    class Unsealable(BodyCipher):
        def seal(self, *_: Any, **__: Any) -> bytes:
            raise ZeroDivisionError

    system = seeing.system
    sealing_nothing = platform_of(system.transactions, keys=system.keys, cipher=Unsealable())
    with pytest.raises(ZeroDivisionError):
        work_off(seeing, platform=sealing_nothing)
    assert seeing.edges("REFERENCES") == set()
    assert work_off(seeing) == 1
    assert seeing.edges("REFERENCES")


def test_a_stage_that_dies_before_its_commit_leaves_nothing_behind(
    seeing: Seeing, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeing.system.tell(fact("PostgreSQL and Redis are slow."))

    def die(*_: Any) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as killed:
        killed.setattr(PostgresOutbox, "done", die)
        killed.setattr(InMemoryOutbox, "done", die)
        with pytest.raises(ZeroDivisionError):
            work_off(seeing)
    assert seeing.edges("REFERENCES") == set()
    assert seeing.edges("CO_OCCURRENCE") == set()
    assert work_off(seeing) == 1
    assert {edge[2] for edge in seeing.edges("CO_OCCURRENCE")} == {1.0}


def test_nodes_of_a_forgotten_person_are_left_alone(seeing: Seeing) -> None:
    seeing.system.tell(
        fact("Ada likes Redis.", data_subjects=("ada",)), fact("Redis is slow.", source_agent="a")
    )
    principal = seeing.system.principal
    with seeing.system.transactions.reading(principal) as stores:
        ada = stores.subjects.find([("person", "ada")])["person", "ada"]
    seeing.system.keys.destroy(principal.workspace_id, ada)
    assert work_off(seeing) == 1
    assert {target for _, target, _ in seeing.edges("REFERENCES")} == {
        entity(seeing, "agent", "a"),
        entity(seeing, "technology", "Redis"),
    }
