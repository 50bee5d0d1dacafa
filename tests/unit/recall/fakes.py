"""In-memory stand-ins for what recall asks of storage."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from cairn.embedding.port import EmbeddingModel
from cairn.kernel.access import ALL_SCOPES, Principal, Role
from cairn.llm.budget import Budget, Limits
from cairn.llm.costs import Call
from cairn.recall.query import Search, filters_of
from cairn.recall.questions import gate, intents
from cairn.recall.questions.model_calls import ModelCalls
from cairn.recall.questions.read import Asking
from cairn.recall.recipes import recipe_named
from cairn.recall.records import Candidate, Filters, FoundNode, Neighbours, SearchRun, Sketch
from cairn.workspace.settings import RecallSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Mapping, Sequence

    from cairn.kernel.errors import CairnError
    from cairn.recall.query import SearchRequest

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
ENTRY = UUID(int=99)


def node_id(number: int) -> UUID:
    return UUID(int=number)


def found(number: int, text: str = "Something was said.", **changes: Any) -> FoundNode:
    values: dict[str, Any] = {
        "id": node_id(number),
        "label": "Memory",
        "kind": "event",
        "text": text,
        "state": "active",
        "entry_id": ENTRY,
        "position": number,
        "occurred_at": NOW,
        "recorded_at": NOW,
        "valid_from": NOW,
    }
    return FoundNode(**(values | changes))


def sketch(number: int, text: str = "Something was said.", **changes: Any) -> Sketch:
    return sketch_of(found(number, text, **changes))


def sketch_of(node: FoundNode) -> Sketch:
    held = set(Sketch._fields) - {"replaced_by"}
    return Sketch(**{name: getattr(node, name) for name in held})


def ranked(*numbers: int, scores: Sequence[float] = ()) -> tuple[Candidate, ...]:
    """Candidates in the order given; scores fall from 1 by 0.1 unless given."""
    given = scores or [1 - 0.1 * place for place in range(len(numbers))]
    return tuple(
        Candidate(node_id=node_id(number), score=score)
        for number, score in zip(numbers, given, strict=True)
    )


def principal(**changes: Any) -> Principal:
    values: dict[str, Any] = {
        "workspace_id": UUID(int=1000),
        "principal_id": UUID(int=1001),
        "role": Role.ADMIN,
        "allowed_scopes": ALL_SCOPES,
    }
    return Principal(**(values | changes))


class FakeEmbedder:
    model = EmbeddingModel(id=7, name="fake", dimensions=3, max_tokens=8)

    def __init__(self, failure: CairnError | None = None) -> None:
        self.failure = failure
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        if self.failure:
            raise self.failure
        self.texts += texts
        return np.ones((len(texts), 3), dtype=np.float32) / np.sqrt(np.float32(3))

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def load(self) -> None:
        """Nothing is to be read."""

    def windows(self, text: str) -> list[str]:
        return [text]


@dataclass
class FakeLeg:
    """Serves both legs: answers with `answer`, or raises `failure`."""

    answer: tuple[Candidate, ...] = ()
    failure: CairnError | None = None
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def search(
        self, principal: Principal, what: Any, filters: Filters, **options: Any
    ) -> tuple[Candidate, ...]:
        self.asked.append({"what": what, "filters": filters, **options})
        if self.failure:
            raise self.failure
        return self.answer


@dataclass
class FakeNodes:
    rows: Mapping[UUID, FoundNode]
    beside: Mapping[UUID, Neighbours] = field(default_factory=dict[UUID, Neighbours])
    positions: Mapping[datetime, int] = field(default_factory=dict[datetime, int])
    moments: Mapping[int, datetime] = field(default_factory=dict[int, datetime])
    head: int = 50
    changed: int = 0  # the last position that changed something to be found
    unembedded: Collection[UUID] = ()
    measured: Sequence[Any] = ()
    asked_sketches: list[list[UUID]] = field(default_factory=list[list[UUID]])
    asked_nodes: list[list[UUID]] = field(default_factory=list[list[UUID]])
    asked_neighbours: list[tuple[list[UUID], int]] = field(
        default_factory=list[tuple[list[UUID], int]]
    )

    def sketch(self, node_ids: Sequence[UUID], filters: Filters) -> list[Sketch]:
        self.asked_sketches.append(list(node_ids))
        return [sketch_of(self.rows[each]) for each in node_ids if each in self.rows]

    def without_vector(self, node_ids: Sequence[UUID], model_id: int) -> list[UUID]:
        return [each for each in node_ids if each in self.unembedded]

    def evidence(self, *_: Any, **__: Any) -> Sequence[Any]:
        return self.measured

    def read(
        self, node_ids: Sequence[UUID], filters: Filters, *, subscribed: Collection[UUID] = ()
    ) -> list[FoundNode]:
        self.asked_nodes.append(list(node_ids))
        return [self.rows[each] for each in node_ids if each in self.rows]

    def neighbours(
        self, nodes: Sequence[FoundNode], count: int, filters: Filters
    ) -> Mapping[UUID, Neighbours]:
        self.asked_neighbours.append(([node.id for node in nodes], count))
        return self.beside

    def position_at(self, moment: datetime) -> int:
        return self.positions[moment]

    def moment_at(self, position: int) -> datetime | None:
        return self.moments.get(position)

    def head_position(self) -> int:
        return self.head

    def changed_since(self, position: int) -> bool:
        return self.changed > position


class NoGraph:
    """A graph without nodes."""

    def related(self, *_: Any, **__: Any) -> dict[UUID, Any]:
        return {}

    def judged(self, *_: Any) -> dict[str, tuple[int, int]]:
        return {}

    def recurring(self, *_: Any, **__: Any) -> list[Any]:
        return []

    important_connections = used_again = recurring


@dataclass
class FakeTransactions:
    node_reader: FakeNodes
    graph: Any = field(default_factory=NoGraph)

    @contextmanager
    def reading(
        self, principal: Principal, *, timeout_ms: int | None = None
    ) -> Generator[FakeTransactions]:
        yield self

    def writing(self, principal: Principal, *, once: str | None = None) -> Any:
        raise AssertionError("recall never writes")


@dataclass
class FakeRuns:
    failure: CairnError | None = None
    runs: list[SearchRun] = field(default_factory=list[SearchRun])

    def record(self, run: SearchRun, /) -> Callable[[], None]:
        return partial(self._end, run)

    def _end(self, run: SearchRun) -> None:
        if self.failure:
            raise self.failure
        self.runs.append(run)


def search_of(request: SearchRequest, **changes: Any) -> Search:
    """A search on its way, as recall makes it of a request."""
    recipe = changes.pop("recipe", None) or recipe_named(request.recipe)
    calls = ModelCalls(Budget(Limits(), stopwatch=lambda: 0.0), Call(workspace_id=UUID(int=1)))
    asking = Asking(gate=gate.by_rules, intents=intents.by_rules)
    values: dict[str, Any] = {
        "id": UUID(int=77),
        "principal": principal(),
        "request": request,
        "recipe": recipe,
        "filters": filters_of(request, recipe, as_of_position=None),
        "asked": asking(request.query, admin=True, asked_at=NOW, calls=calls),
        "at": NOW,
        "started_at": NOW,
        "calls": calls,
        "workspace": RecallSettings(),
        "wordings": (request.query,),
    }
    return Search(**(values | changes))
