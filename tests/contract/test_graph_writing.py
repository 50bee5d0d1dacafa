"""Nodes, edges and entities as callers write them: the same over the fake and PostgreSQL."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from tests.support.graph import Graphing, node
from tests.support.remembering import Remembering, admin_of, fact, in_memory

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.graph.entities import entity_id
from cairn.kernel.access import Role, Scope
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Conflict, Denied, NotFound, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.nodes.draft import NewEdge
from cairn.nodes.views import Split
from cairn.writing.items import IdempotencyKey, Outcome

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


@pytest.fixture(params=["in memory", "postgres"])
def graph(request: pytest.FixtureRequest) -> Iterator[Graphing]:
    if request.param == "in memory":
        yield Graphing(in_memory())
        return
    yield from in_postgres(request.getfixturevalue("database"))


def in_postgres(database: "Database") -> Iterator[Graphing]:
    name = f"graph-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    pool = Pool(database.app_url, size=2)
    system = Remembering(transactions=StoreTransactions(pool), principal=admin_of(workspace_id))
    yield Graphing(system)
    pool.close()


def test_a_node_is_written_with_edges_to_and_from_what_stands(graph: Graphing) -> None:
    problem, system = graph.note("Logins fail."), graph.entity("Keycloak", "system")
    written = graph.note(
        "Clear the sessions.",
        NewEdge(relation="solves", to_id=problem, weight=2.0),
        NewEdge(relation="depends-on", from_id=problem),
        NewEdge(relation="REFERENCES", to_id=system, properties={"role": "About"}),
    )
    assert graph.edges(written) == {
        ("knowledge", "SOLVES", written, problem, 2.0),
        ("knowledge", "DEPENDS_ON", problem, written, 1.0),
        ("entity", "REFERENCES", written, system, 1.0),
    }


def test_a_written_node_waits_for_the_embed_stage(graph: Graphing) -> None:
    written = graph.note("Clear the sessions.")
    assert graph.system.sent.rows[-1].node_ids == (written,)


def test_the_same_node_again_is_a_duplicate_whose_new_edges_are_kept(graph: Graphing) -> None:
    other, first = graph.note("one"), graph.note("two")
    (again,) = graph.add(
        node("Note", text="two", edges=(NewEdge(relation="CONFIRMS", to_id=other),))
    )
    assert (again.outcome, again.id, again.edges) == (Outcome.DUPLICATE, first, 1)
    assert graph.edges(first) == {("knowledge", "CONFIRMS", first, other, 1.0)}


def test_a_batch_refuses_one_by_one(graph: Graphing) -> None:
    outcomes = graph.add(
        node("Note", text="good"),
        node("Memory", text="reserved"),
        node("Note", text="bad", edges=(NewEdge(relation="SOLVES", to_id=new_id()),)),
        node("Note", text="good"),
    )
    assert [outcome.outcome for outcome in outcomes] == [
        "created",
        "rejected",
        "rejected",
        "duplicate",
    ]
    assert isinstance(outcomes[2].error, NotFound)
    assert outcomes[3].id == outcomes[0].id


def test_an_idempotency_key_gives_the_first_answer_again(graph: Graphing) -> None:
    key = IdempotencyKey(key="k", body_hash=b"1")
    first = graph.add(node("Note", text="once"), idempotency=key)
    assert graph.add(node("Note", text="twice"), idempotency=key) == first
    with pytest.raises(ValidationFailed, match="another body"):
        graph.add(node("Note", text="x"), idempotency=IdempotencyKey(key="k", body_hash=b"2"))


def test_what_the_caller_may_not_see_is_not_there_for_edges(graph: Graphing) -> None:
    secret = graph.note("for the bot", agents=("bot",))
    public = replace(graph.system.principal, allowed_scopes=frozenset({Scope.PUBLIC}))
    other = replace(graph.system.principal, agent_slug="other", role=Role.AGENT)
    edge = NewEdge(relation="SOLVES", to_id=secret)
    for principal, scope in ((public, Scope.PUBLIC), (other, Scope.ADMIN)):
        new = node("Note", text="mine", scope=scope, edges=(edge,))
        (outcome,) = graph.write(principal, [new]).outcomes
        assert isinstance(outcome.error, NotFound)
        with pytest.raises(NotFound):
            graph.compile(principal, secret, "It is so.")
        with pytest.raises(NotFound):
            graph.delete(principal, secret)
    assert graph.edges(secret) == set()


def test_a_public_key_writes_nothing(graph: Graphing) -> None:
    public = replace(graph.system.principal, role=Role.PUBLIC)
    with pytest.raises(Denied):
        graph.write(public, [node("Note", text="x")])


def test_an_entity_is_one_node_in_its_audience(graph: Graphing) -> None:
    first = graph.entity("Next.js", "technology")
    assert graph.entity("next.JS", "technology") == first
    workspace = graph.system.principal.workspace_id
    assert first == entity_id(workspace, "admin", None, "technology", "Next.js")
    assert graph.entity("Next.js", "technology", scope=Scope.PUBLIC) != first


def test_a_deleted_entity_comes_back_when_it_is_written_again(graph: Graphing) -> None:
    made = graph.entity("Acme", "organisation")
    graph.delete(graph.system.principal, made)
    assert graph.stored(made).state == "deleted"
    assert graph.entity("Acme", "organisation") == made
    assert graph.stored(made).state == "active"


def test_a_relation_between_entities_grows_each_time(graph: Graphing) -> None:
    acme, tool = graph.entity("Acme", "organisation"), graph.entity("Redis", "technology")
    for _ in range(3):
        graph.relate(acme, "uses", tool)
    assert graph.edges(acme) == {("entity", "USES", acme, tool, 3.0)}


def test_a_symmetric_relation_is_stored_once(graph: Graphing) -> None:
    low, high = sorted([graph.entity("A", "x"), graph.entity("B", "x")])
    graph.relate(low, "co_occurrence", high)
    graph.relate(high, "co_occurrence", low)
    assert graph.edges(low) == {("entity", "CO_OCCURRENCE", low, high, 2.0)}


def test_a_self_loop_and_a_reference_to_no_entity_are_refused(graph: Graphing) -> None:
    one, two = graph.note("one"), graph.note("two")
    with pytest.raises(ValidationFailed, match="itself"):
        graph.relate(one, "SOLVES", one)
    with pytest.raises(ValidationFailed, match="entity"):
        graph.relate(one, "REFERENCES", two)
    with pytest.raises(ValidationFailed, match="did you mean SOLVES"):
        graph.relate(one, "SOLVE", two)


def test_a_relationship_to_nothing_is_not_found(graph: Graphing) -> None:
    with pytest.raises(NotFound):
        graph.relate(graph.note("one"), "SOLVES", new_id())


def test_a_task_is_named_as_what_produced_a_node(graph: Graphing) -> None:
    task = graph.task("Investigate")
    made = graph.note("Found it.", produced_by_task_id=task)
    assert graph.edges(made) == {("provenance", "PRODUCED", task, made, 1.0)}
    for no_task in (new_id(), made):
        with pytest.raises(NotFound, match="no such task"):
            graph.note("Nowhere.", produced_by_task_id=no_task)


def test_memories_and_events_are_deleted_by_their_own_routes_or_not_at_all(graph: Graphing) -> None:
    memory = graph.system.tell_one(fact("x")).id
    assert memory is not None
    with pytest.raises(ValidationFailed, match="DELETE /v1/memories"):
        graph.delete(graph.system.principal, memory)


def test_a_node_is_deleted_once(graph: Graphing) -> None:
    made = graph.note("gone")
    first = graph.delete(graph.system.principal, made)
    assert graph.delete(graph.system.principal, made) == first
    with pytest.raises(NotFound):
        graph.compile(graph.system.principal, made, "It is so.")


def test_a_merge_moves_edges_strengths_and_names(graph: Graphing) -> None:
    acme, corp = graph.entity("Acme", "organisation"), graph.entity("Acme Corp", "organisation")
    tool = graph.entity("Redis", "technology")
    only, both = graph.mention("only Acme", acme), graph.mention("both", acme, "about")
    graph.relate(both, "REFERENCES", corp, properties={"role": "mentioned"})
    graph.relate(acme, "USES", tool)
    graph.relate(acme, "USES", tool)
    graph.relate(corp, "USES", tool)
    graph.relate(acme, "COMPETITOR_OF", corp)
    graph.correct.add_alias(graph.system.principal, acme, "ACME Ltd")
    done = graph.correct.merge(graph.system.principal, acme, corp)
    assert done.id == corp
    same = ("knowledge", "SAME_AS", *sorted((acme, corp)), 1.0)
    assert graph.edges(acme) == {same}
    assert graph.edges(corp) == {
        same,
        ("entity", "REFERENCES", only, corp, 1.0),
        ("entity", "REFERENCES", both, corp, 1.0),
        ("entity", "USES", corp, tool, 3.0),
    }
    assert graph.aliases() == {
        "acme": ("Acme Corp", "organisation"),
        "acme ltd": ("Acme Corp", "organisation"),
    }
    assert (graph.stored(acme).state, graph.stored(acme).superseded_by) == ("superseded", corp)
    assert roles(graph, corp)[both] == "about"


def roles(graph: Graphing, entity: UUID) -> dict[UUID, str]:
    with graph.system.transactions.reading(graph.system.principal) as stores:
        found = stores.graph_nodes.edges_of(entity, limit=100)
    return {
        item.source_id: item.properties["role"] for item in found if item.relation == "REFERENCES"
    }


def test_writing_a_merged_entity_again_names_the_one_it_went_into(graph: Graphing) -> None:
    acme, corp = graph.entity("Acme", "organisation"), graph.entity("Acme Corp", "organisation")
    graph.correct.merge(graph.system.principal, acme, corp)
    assert graph.entity("Acme", "organisation") == corp


def test_undoing_a_merge_gives_everything_back(graph: Graphing) -> None:
    acme, corp = graph.entity("Acme", "organisation"), graph.entity("Acme Corp", "organisation")
    tool = graph.entity("Redis", "technology")
    mention = graph.mention("only Acme", acme)
    graph.relate(acme, "USES", tool)
    graph.relate(corp, "USES", tool)
    graph.relate(acme, "COMPETITOR_OF", corp)
    graph.relate(acme, "SAME_AS", corp)
    before = graph.edges(acme), graph.edges(corp)
    graph.correct.merge(graph.system.principal, acme, corp)
    later = graph.mention("Acme Corp later", corp)
    graph.correct.split(graph.system.principal, corp, Split(undo=acme))
    assert graph.stored(acme).state == "active"
    assert graph.stored(acme).superseded_by is None
    assert graph.edges(acme) == before[0]
    assert graph.edges(corp) == before[1] | {("entity", "REFERENCES", later, corp, 1.0)}
    assert graph.aliases() == {}
    assert ("entity", "REFERENCES", mention, acme, 1.0) in graph.edges(acme)


def test_split_moves_named_mentions_to_another_entity(graph: Graphing) -> None:
    jordan = graph.entity("Jordan", "person")
    person, country = graph.mention("Jordan said so", jordan), graph.mention("to Jordan", jordan)
    wanted = Split(name="Jordan", type="place", mentions=(country,))
    done = graph.correct.split(graph.system.principal, jordan, wanted)
    assert graph.edges(jordan) == {("entity", "REFERENCES", person, jordan, 1.0)}
    assert graph.edges(done.id) == {("entity", "REFERENCES", country, done.id, 1.0)}
    assert graph.stored(done.id).kind == "place"
    with pytest.raises(ValidationFailed, match="does not refer"):
        graph.correct.split(graph.system.principal, jordan, wanted)


def test_merging_asks_for_two_present_entities_of_one_audience(graph: Graphing) -> None:
    principal = graph.system.principal
    acme, corp = graph.entity("Acme", "x"), graph.entity("Corp", "x")
    public, note = graph.entity("Acme", "x", scope=Scope.PUBLIC), graph.note("no entity")
    for into, error in ((acme, ValidationFailed), (public, ValidationFailed), (note, NotFound)):
        with pytest.raises(error):
            graph.correct.merge(principal, acme, into)
    with pytest.raises(NotFound):
        graph.correct.merge(principal, new_id(), acme)
    graph.correct.merge(principal, acme, corp)
    with pytest.raises(Conflict):
        graph.correct.merge(principal, acme, corp)
    with pytest.raises(Conflict):
        graph.correct.add_alias(principal, acme, "again")
    with pytest.raises(ValidationFailed, match="was not merged"):
        graph.correct.split(principal, corp, Split(undo=graph.entity("Other", "x")))


def test_an_alias_is_set_moved_and_removed(graph: Graphing) -> None:
    principal = graph.system.principal
    one, two = graph.entity("One", "x"), graph.entity("Two", "x")
    graph.correct.add_alias(principal, one, "  The  FIRST ")
    assert graph.aliases() == {"the first": ("One", "x")}
    graph.correct.add_alias(principal, two, "the first")
    assert graph.aliases() == {"the first": ("Two", "x")}
    with pytest.raises(NotFound):
        graph.correct.remove_alias(principal, one, "the first")
    graph.correct.remove_alias(principal, two, "The First")
    assert graph.aliases() == {}


def test_aliases_hold_in_their_audience_only(graph: Graphing) -> None:
    public = graph.entity("Acme", "x", scope=Scope.PUBLIC)
    graph.correct.add_alias(graph.system.principal, public, "the client")
    assert graph.aliases() == {}
    with graph.system.transactions.reading(graph.system.principal) as stores:
        assert stores.aliases.aliases("public", None) == {"the client": ("Acme", "x")}
        assert stores.aliases.aliases("public", ("bot",)) == {}


@pytest.mark.parametrize(
    "name",
    [
        "Robert'); DROP TABLE node;--",
        "\U0001f680 Rocket",
        "% _ \\",
        "\u0130stanbul",
        "\uab70\uab71",
        "\u00df" * 180,
    ],
)
def test_any_readable_name_is_an_entity_and_an_alias(graph: Graphing, name: str) -> None:
    made = graph.entity(name, "x")
    assert graph.stored(made).name == name
    other = graph.entity("Other", "x")
    if len(name) < 190:
        graph.correct.add_alias(graph.system.principal, other, f"{name} too")
        assert list(graph.aliases().values()) == [("Other", "x")]


@pytest.mark.parametrize("name", ["", " ", "a\x00b", "a\ud800", "\x1b[31m", "a" * 201])
def test_an_unreadable_name_is_refused(graph: Graphing, name: str) -> None:
    (outcome,) = graph.add(node("Entity", kind="x", name=name))
    assert isinstance(outcome.error, ValidationFailed)
