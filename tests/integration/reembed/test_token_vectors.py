"""Token vectors of what was embedded before there were any: filled, kept, and made anew."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.embedding import HashingEmbedder
from tests.support.everything import MODEL, Everything, open_everything
from tests.support.reembedding import filling, vectors
from tests.support.remembering import fact

from cairn.embedding.port import TokenStates

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


class TokenHashing(HashingEmbedder):
    """Gives one token a text: its vector."""

    gives_tokens = True

    def embed_tokens(self, texts: Sequence[str]) -> tuple[Any, list[TokenStates]]:
        made = self.embed(texts)
        return made, [TokenStates(words=("one",), states=row[None, :]) for row in made]


@pytest.fixture
def some(database: "Database") -> Iterator[Everything]:
    everything = open_everything(database)
    everything.system.tell(*(fact(f"The {one} stands in a garden.") for one in ("oak", "elm")))
    everything.embed()
    yield everything
    everything.pool.close()


def test_vectors_of_before_get_token_vectors_stay_as_they_were_and_are_rebuilt_with_them(
    some: Everything,
) -> None:
    before = vectors(some, MODEL)
    fill = filling(some, TokenHashing(MODEL))
    assert fill.left(some.workspace_id) == len(before)
    told = fill(some.workspace_id)
    assert (told.nodes, told.left) == (len(before), 0)
    assert vectors(some, MODEL) == before
    tokens = some.rows("SELECT length(tokens) FROM embedding WHERE workspace_id = $w")
    assert {length for (length,) in tokens} == {MODEL.dimensions // 8}
    assert fill(some.workspace_id).nodes == 0
    assert some.rebuild(some.workspace_id).equal
