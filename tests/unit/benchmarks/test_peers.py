"""`cairn bench peers`: what is installed is measured, what is not is named."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any

from rich.console import Console
from tests.support.embedding import HashingEmbedder

from benchmarks import peers
from benchmarks.locomo.corpus import Conversation, Question, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pytest

TURNS = tuple(
    Turn(
        id=str(number),
        text=text,
        session_id="s",
        sequence=number,
        occurred_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    for number, text in enumerate(("the boat is blue", "the dog barks", "soup for lunch"))
)
TALK = Conversation(
    name="talk",
    turns=TURNS,
    questions=(Question(text="lunch", category="one", evidence=frozenset({"2"})),),
)


class Newest:
    """Returns the newest turns first."""

    def __init__(self, embedder: object) -> None:
        self.ids: list[str] = []

    def remember(self, turns: Sequence[Turn]) -> None:
        self.ids = [turn.id for turn in turns]

    def search(self, question: str) -> list[str]:
        return self.ids[::-1]


@contextmanager
def quiet(stage: str, total: int) -> Iterator[Callable[[int], None]]:
    yield lambda done: None


def test_installed_peers_are_measured_and_missing_ones_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = peers.Package(name="newest", module="json", distribution="json", open=Newest)
    gone = peers.Package(name="gone", module="no_such_module", distribution="no-such", open=Newest)
    monkeypatch.setattr(peers, "PACKAGES", (here, gone))
    ticks = count()
    found: dict[str, Any] = peers.measured(
        [TALK], HashingEmbedder(), lambda: float(next(ticks)), quiet
    )
    assert found["missing"] == ["no-such"]
    assert found["peers"]["newest"]["recall_at_5"] == 1.0
    assert found["peers"]["newest"]["mrr"] == 1.0
    assert found["peers"]["newest"]["ingest_per_s"] == 3.0
    console = Console(width=200, record=True, file=None, quiet=False)
    with console.capture() as shown:
        peers.show(console, found)
    assert "newest" in shown.get()
    assert "pip install no-such" in shown.get()
