"""Another model's vectors beside those in use: filled, compared, switched to, and back."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.embedding import HashingEmbedder
from tests.support.everything import MODEL, Everything, open_everything
from tests.support.openai_wire import embedding_server
from tests.support.reembedding import (
    TARGET,
    comparing,
    dropping,
    embed_with,
    filling,
    found,
    transactions,
    vectors,
)
from tests.support.remembering import fact

from cairn.embedding.models import model_named
from cairn.embedding.openai import OpenAIEmbedder
from cairn.kernel.errors import Conflict, Unavailable
from cairn.reembedding import reembed

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


@pytest.fixture
def full(database: "Database") -> Iterator[Everything]:
    everything = open_everything(database)
    everything.fill()
    yield everything
    everything.pool.close()


@pytest.fixture
def some(database: "Database") -> Iterator[Everything]:
    everything = open_everything(database)
    things = ("oak", "elm", "fir", "ash", "yew", "bay", "fig", "pear", "plum", "lime", "rowan")
    everything.system.tell(
        *(fact(f"The {one} stands in garden {n}. It is green.") for n, one in enumerate(things))
    )
    everything.embed()
    yield everything
    everything.pool.close()


class WhileEmbedding(HashingEmbedder):
    """Lets something happen between reading texts and storing their vectors, once."""

    def __init__(self, happens: Any) -> None:
        super().__init__(TARGET)
        self.happens = happens

    def embed(self, texts: Any) -> Any:
        happens, self.happens = self.happens, lambda: None
        happens()
        return super().embed(texts)


def test_every_node_with_a_vector_gets_one_of_the_other_model_and_a_rebuild_makes_both(
    full: Everything,
) -> None:
    before = vectors(full, MODEL)
    told = filling(full)(full.workspace_id)
    assert (told.left, told.nodes) == (0, len(vectors(full, TARGET)))
    assert set(before) <= set(vectors(full, TARGET)) | set(_unfindable(full))
    assert vectors(full, MODEL) == before
    done = full.rebuild(full.workspace_id)
    assert (done.equal, done.replaced.rows, done.queued) == (True, 0, 0)


def _unfindable(of: Everything) -> list[Any]:
    rows = of.rows(
        "SELECT id FROM node WHERE workspace_id = $w "
        "AND state NOT IN ('active', 'provisional', 'superseded')"
    )
    return [one for (one,) in rows]


def test_a_second_fill_has_nothing_to_do(some: Everything) -> None:
    filling(some)(some.workspace_id)
    head = some.rows("SELECT position FROM ledger_head WHERE workspace_id = $w")
    again = HashingEmbedder(TARGET)
    told = filling(some, again)(some.workspace_id)
    assert (told.nodes, told.embedded, told.passes, again.calls) == (0, 0, 1, [])
    assert some.rows("SELECT position FROM ledger_head WHERE workspace_id = $w") == head


def test_what_is_written_meanwhile_is_caught_by_the_last_pass(some: Everything) -> None:
    def write() -> None:
        some.system.tell(fact("A rose came while others were read."))
        some.embed()

    told = filling(some, WhileEmbedding(write))(some.workspace_id)
    assert told.left == 0
    assert vectors(some, TARGET).keys() == vectors(some, MODEL).keys()
    assert len(found(some, "A rose came while others were read.", TARGET)) >= 1


def test_a_node_changed_while_it_was_embedded_is_done_again_with_its_new_text(
    some: Everything,
) -> None:
    note = some.graph.entity("Birch", "tree")
    some.graph.compile(some.admin, note, "The birch is white.")
    some.embed()

    def change() -> None:
        some.graph.compile(some.admin, note, "The birch was felled yesterday.")

    told = filling(some, WhileEmbedding(change))(some.workspace_id)
    assert told.left == 0
    assert found(some, "The birch was felled yesterday.", TARGET)[0] == note
    some.embed()
    assert filling(some)(some.workspace_id).left == 0
    assert some.rebuild(some.workspace_id).equal


def test_a_node_whose_text_changes_later_needs_a_new_vector_of_the_other_model(
    some: Everything,
) -> None:
    note = some.graph.entity("Birch", "tree")
    some.graph.compile(some.admin, note, "The birch is white.")
    some.embed()
    filling(some)(some.workspace_id)
    some.graph.compile(some.admin, note, "The birch was felled yesterday.")
    assert filling(some).left(some.workspace_id) == 1
    some.embed()
    assert filling(some).left(some.workspace_id) == 1
    assert filling(some)(some.workspace_id).nodes == 1
    assert found(some, "The birch was felled yesterday.", TARGET)[0] == note


def test_a_model_that_fails_half_way_leaves_what_it_did_and_is_gone_on_with(
    some: Everything, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reembed, "BATCH", 4)

    class Failing(HashingEmbedder):
        def embed(self, texts: Any) -> Any:
            if self.calls:
                raise Unavailable("gone", reason="embedder")
            return super().embed(texts)

    with pytest.raises(Unavailable):
        filling(some, Failing(TARGET))(some.workspace_id)
    assert len(vectors(some, TARGET)) == 4
    told = filling(some)(some.workspace_id)
    assert (told.nodes, told.left) == (len(vectors(some, MODEL)) - 4, 0)


def test_somebody_forgotten_meanwhile_gets_no_vector(some: Everything) -> None:
    some.system.tell(fact("Ana owns a vineyard.", data_subjects=("ana",)))
    some.embed()
    [(node, [subject])] = some.rows(
        """SELECT id, data_subjects FROM node
            WHERE workspace_id = $w AND label = 'Memory' AND text LIKE 'Ana%%'"""
    )

    def forget() -> None:
        some.keys.destroy(some.workspace_id, subject)
        some.rows(
            """INSERT INTO forgetting (workspace_id, id, subject_id, kind, mark, keyed, reason,
                 principal_id, status, position, begun_at)
               VALUES ($w, gen_random_uuid(), %s, 'person', decode(repeat('00', 32), 'hex'), true,
                 'request', $w, 'barred', 1, now())""",
            subject,
        )

    told = filling(some, WhileEmbedding(forget))(some.workspace_id)
    assert node not in vectors(some, TARGET)
    assert told.left == 0
    held = some.rows(
        "SELECT count(*) FROM embedding_cache WHERE workspace_id = $w AND model_id = %s", TARGET.id
    )
    assert held[0][0] == told.nodes


def test_the_comparison_is_the_same_every_time_and_names_the_worse_model(
    some: Everything,
) -> None:
    filling(some)(some.workspace_id)
    told = comparing(some)(some.workspace_id, sample=8)
    assert told is not None
    assert told.asked == 8
    assert told.present.recall_at_10 > 0.8
    assert told.target.recall_at_10 > 0.8
    assert told.hnsw_recall_at_10 == 1.0
    assert 0 < told.overlap_at_10 <= 1
    assert comparing(some)(some.workspace_id, sample=8) == told

    class Blind(HashingEmbedder):
        def embed(self, texts: Any) -> Any:
            return super().embed(["the same for all"] * len(texts))

    worse = comparing(some, Blind(TARGET))(some.workspace_id, sample=11)
    assert worse is not None
    assert worse.loss > 0 or worse.target.mrr < worse.present.mrr


def test_without_vectors_of_both_models_there_is_no_comparison(some: Everything) -> None:
    assert comparing(some)(some.workspace_id, sample=8) is None


def test_every_registered_model_has_an_index_in_every_partition(some: Everything) -> None:
    ids = [one for (one,) in some.rows("SELECT id FROM embedding_model WHERE id < 900")]
    with transactions(some).reading(some.admin) as stores:
        assert [id_ for id_ in ids if not stores.model_vectors.indexed(id_)] == []


def test_searches_find_by_vector_before_during_and_after_the_switch_and_after_going_back(
    some: Everything,
) -> None:
    oak = "The oak stands in garden 0. It is green."
    walnut = "The walnut stands in garden 99. It is green."
    [first] = found(some, oak, MODEL)[:1]
    during: list[Any] = []
    fill = filling(some, WhileEmbedding(lambda: during.extend(found(some, oak, MODEL))))
    fill(some.workspace_id)
    assert during[0] == first
    assert found(some, oak, TARGET)[0] == first
    assert found(some, oak, MODEL)[0] == first

    some.system.tell(fact(walnut))
    embed_with(some, TARGET)
    assert found(some, walnut, TARGET)
    back = filling(some, HashingEmbedder(MODEL))(some.workspace_id)
    assert (back.nodes, back.left) == (1, 0)
    assert found(some, walnut, MODEL)[0] in vectors(some, MODEL)


def test_the_old_vectors_go_only_when_nothing_lacks_a_new_one_and_do_not_come_back(
    some: Everything,
) -> None:
    with pytest.raises(Conflict, match="have no vector"):
        dropping(some)(some.workspace_id)
    assert vectors(some, MODEL)
    filling(some)(some.workspace_id)
    assert dropping(some)(some.workspace_id) > 0
    assert vectors(some, MODEL) == {}
    done = some.rebuild(some.workspace_id)
    assert (done.equal, done.queued) == (True, 0)
    assert vectors(some, MODEL) == {}
    assert found(some, "The oak stands in garden 0.", TARGET)


def test_a_server_of_another_dimension_fills_too(some: Everything) -> None:
    model = model_named("mxbai-embed-large")
    with embedding_server(model) as server:
        embedder = OpenAIEmbedder(model, api_key="", base_url=server.url)
        told = filling(some, embedder)(some.workspace_id)
        assert (told.left, told.nodes) == (0, len(vectors(some, MODEL)))
        compared = comparing(some, embedder)(some.workspace_id, sample=5)
        embedder.close()
    assert compared is not None
    assert compared.target.model == "mxbai-embed-large"
    assert compared.target.recall_at_10 > 0.7
