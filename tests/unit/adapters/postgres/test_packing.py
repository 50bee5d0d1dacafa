"""What a search keeps comes back bit by bit, and in its order."""

from uuid import UUID

from cairn.adapters.postgres.memory.search_runs import (
    packed_candidates,
    packed_scored,
    unpacked_candidates,
    unpacked_scored,
)
from cairn.kernel.ids import new_id
from cairn.recall.records import Candidate, ScoredNode


def test_candidates_come_back_bit_by_bit() -> None:
    given = tuple(Candidate(new_id(), score) for score in (0.1 + 0.2, 1e-300, -0.0, 1 / 3))
    assert repr(unpacked_candidates(packed_candidates(given))) == repr(given)
    assert unpacked_candidates(packed_candidates(())) == ()


def test_signals_keep_their_order_whoever_has_which() -> None:
    given = (
        ScoredNode(UUID(int=1), 7, {"fused": 0.1, "length": 0.2, "decay_factor": 1.0}),
        ScoredNode(UUID(int=2), 2**52, {"fused": 0.1, "speaker": 0.15, "length": 0.3}),
        ScoredNode(UUID(int=3), 9, {"fused": 0.0, "length": 0.1, "parent": 0.2, "decay_factor": 1}),
        ScoredNode(UUID(int=4), 10, {}),
    )
    back = unpacked_scored(packed_scored(given))
    assert back == given
    assert [list(item.signals) for item in back] == [list(item.signals) for item in given]
    assert unpacked_scored(packed_scored(())) == ()
