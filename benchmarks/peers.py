"""`cairn bench peers FILE...`: other memories over the same conversations, in this process.

Each stores every turn as it is and is asked every question; those that embed use Cairn's embedder,
so that what is compared is how they find. A peer whose package is not installed is left out and
named. None asks a model or anybody else.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

from benchmarks.metrics import percentile, quality
from cairn.cli.options import table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.console import Console

    from benchmarks.locomo.corpus import Conversation, Turn
    from benchmarks.locomo.run import Progress
    from cairn.embedding.port import Embedder

LIMIT = 20
QUALITY = ("questions", "recall_at_5", "recall_at_10", "recall_at_20", "mrr", "ndcg_at_10")


class Peer(Protocol):
    """A memory that holds one conversation."""

    def remember(self, turns: Sequence[Turn]) -> None:
        """Store the turns."""
        ...

    def search(self, question: str) -> Sequence[str]:
        """Return the ids of at most `LIMIT` turns, the best first."""
        ...


@dataclass(frozen=True, kw_only=True)
class Package:
    """A peer: the package it needs, and what opens it empty."""

    name: str
    module: str
    distribution: str
    open: Callable[[Embedder], Peer]

    @property
    def installed(self) -> bool:
        """Return whether its package can be imported."""
        return find_spec(self.module) is not None


def measured(
    conversations: Sequence[Conversation],
    embedder: Embedder,
    stopwatch: Callable[[], float],
    progress: Progress,
) -> dict[str, Any]:
    """Return quality and speed of each installed peer by its name, and those that are missing."""
    present = [package for package in PACKAGES if package.installed]
    return {
        "peers": {
            package.name: _measure(package, conversations, embedder, stopwatch, progress)
            for package in present
        },
        "missing": [package.distribution for package in PACKAGES if package not in present],
    }


def _measure(
    package: Package,
    conversations: Sequence[Conversation],
    embedder: Embedder,
    stopwatch: Callable[[], float],
    progress: Progress,
) -> dict[str, Any]:
    asked: list[tuple[list[frozenset[str]], frozenset[str]]] = []
    times: list[float] = []
    storing = 0.0
    with progress(package.name, sum(len(each.questions) for each in conversations)) as done:
        for conversation in conversations:
            peer = package.open(embedder)
            start = stopwatch()
            peer.remember(conversation.turns)
            storing += stopwatch() - start
            for question in conversation.questions:
                start = stopwatch()
                ids = peer.search(question.text)
                times.append((stopwatch() - start) * 1000)
                asked.append(([frozenset({id_}) for id_ in ids], question.evidence))
                done(1)
    turns = sum(len(each.turns) for each in conversations)
    return {
        **quality(asked),
        "ingest_per_s": round(turns / storing, 1),
        "search_ms_p50": round(percentile(times, 0.5), 2),
    }


def _module(name: str) -> Any:
    """Return a peer's module, which need not be installed when this one is checked."""
    return import_module(name)


class Bm25:
    """BM25 (k1 1.5, b 0.75) over lower-case words without English stop words."""

    def __init__(self, embedder: Embedder) -> None:
        self._ids: list[str] = []

    def remember(self, turns: Sequence[Turn]) -> None:
        """Index the turns."""
        self._ids = [turn.id for turn in turns]
        self._index: Any = _module("bm25s").BM25()
        self._index.index(self._tokens([turn.text for turn in turns]), show_progress=False)

    def search(self, question: str) -> list[str]:
        """Return the turns with the best scores."""
        limit = min(LIMIT, len(self._ids))
        places, _ = self._index.retrieve(self._tokens([question]), k=limit, show_progress=False)
        return [self._ids[int(place)] for place in places[0]]

    @staticmethod
    def _tokens(texts: list[str]) -> Any:
        return _module("bm25s").tokenize(texts, stopwords="en", show_progress=False)


class LangGraphStore:
    """LangGraph's InMemoryStore with an index over the text."""

    def __init__(self, embedder: Embedder) -> None:
        def embed(texts: Sequence[str]) -> list[list[float]]:
            return [[float(number) for number in row] for row in embedder.embed(list(texts))]

        self._store: Any = _module("langgraph.store.memory").InMemoryStore(
            index={"dims": embedder.model.dimensions, "embed": embed, "fields": ["text"]}
        )

    def remember(self, turns: Sequence[Turn]) -> None:
        """Put the turns in one batch."""
        put = _module("langgraph.store.base").PutOp
        self._store.batch(
            [put(namespace=("turns",), key=turn.id, value={"text": turn.text}) for turn in turns]
        )

    def search(self, question: str) -> list[str]:
        """Return the nearest turns."""
        return [item.key for item in self._store.search(("turns",), query=question, limit=LIMIT)]


class Mem0:
    """mem0 with a local vector store; turns are stored as they are (`infer=False`)."""

    def __init__(self, embedder: Embedder) -> None:
        for name in ("mem0.memory.telemetry", "mem0.memory.main"):
            _module(name).MEM0_TELEMETRY = False
        folder = tempfile.mkdtemp(prefix="cairn-bench-mem0-")
        unused = {"provider": "openai", "config": {"api_key": "unused"}}
        store = {
            "path": f"{folder}/vectors",
            "embedding_model_dims": embedder.model.dimensions,
        }
        self._memory: Any = _module("mem0").Memory.from_config(
            {
                "llm": unused,
                "embedder": unused,
                "vector_store": {"provider": "qdrant", "config": store},
                "history_db_path": f"{folder}/history.db",
            }
        )
        self._memory.embedding_model = _Mem0Embedder(embedder)

    def remember(self, turns: Sequence[Turn]) -> None:
        """Add the turns one by one."""
        for turn in turns:
            self._memory.add(turn.text, user_id="bench", metadata={"turn": turn.id}, infer=False)

    def search(self, question: str) -> list[str]:
        """Return what mem0 ranks first."""
        answer = self._memory.search(
            question, filters={"user_id": "bench"}, top_k=LIMIT, threshold=0.0
        )
        return [item["metadata"]["turn"] for item in answer["results"]]


class _Mem0Embedder:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.config: Any = None

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return [float(number) for number in self._embedder.embed([text])[0]]

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[Any]:
        return [[float(number) for number in row] for row in self._embedder.embed(list(texts))]


PACKAGES = (
    Package(name="bm25", module="bm25s", distribution="bm25s", open=Bm25),
    Package(
        name="langgraph", module="langgraph.store", distribution="langgraph", open=LangGraphStore
    ),
    Package(name="mem0", module="mem0", distribution="mem0ai qdrant-client", open=Mem0),
)


def show(console: Console, measured: Mapping[str, Any]) -> None:
    """Print a row a memory, and what to install for those that are missing."""
    columns = table("memory", *QUALITY, "ingest_per_s", "search_ms_p50")
    for name, values in measured["peers"].items():
        row = (str(values[key]) for key in (*QUALITY, "ingest_per_s", "search_ms_p50"))
        columns.add_row(name, *row)
    console.print(columns)
    for distribution in measured["missing"]:
        console.print(f"Not installed, so left out: pip install {distribution}")
