"""Embeddings from any server that speaks OpenAI's wire format. Not the default.

The base URL decides who that is: OpenAI, Ollama, vLLM, a gateway. Without the model's tokenizer
here, texts are measured in UTF-8 bytes: a byte-level tokenizer never makes more tokens than that.
The `openai` package is imported with the first text.
"""

from __future__ import annotations

import re
import time
from threading import Lock
from typing import TYPE_CHECKING, cast

from cairn.embedding.cutting import Word, cut
from cairn.embedding.port import PASSAGE_TOKENS, refuse_blank, unit_rows
from cairn.embedding.spans import embedding_span
from cairn.kernel.clock import Stopwatch, monotonic
from cairn.kernel.errors import CairnError, Unavailable, ValidationFailed
from cairn.kernel.resilience.breaker import Breaker
from cairn.kernel.resilience.retries import Retries, has_passing_status
from cairn.kernel.spans import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from openai import APIStatusError, OpenAI, OpenAIError

    from cairn.embedding.port import EmbeddingModel, Vectors

BASE_URL = "https://api.openai.com/v1"
TIMEOUT_SECONDS = 10.0
RETRIES = 2
SECONDS = 30.0  # for a request with its retries
BATCH = 32  # texts a request; the largest allowed by every server we know is more
BYTES_A_TOKEN = 4  # of English; of Chinese and Japanese about 3
SPECIAL_TOKENS = 2


class OpenAIEmbedder:
    """Embeds through the `openai` client, behind one circuit breaker; safe between threads.

    No error carries the key or the server's own words, which may repeat it.
    """

    def __init__(
        self,
        model: EmbeddingModel,
        *,
        api_key: str,
        base_url: str = BASE_URL,
        timeout_s: float = TIMEOUT_SECONDS,
        retries: int = RETRIES,
        stopwatch: Stopwatch = monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._model = model
        self._api_key = api_key
        self._base_url = base_url
        self._timeout_s = timeout_s
        self._retries = retries
        self._stopwatch = stopwatch
        self._pause = pause
        self._breaker = Breaker(
            model.name, is_fault=_is_fault, reason="embedder-circuit-open", stopwatch=stopwatch
        )
        longest = max(_size(model.prefix), _size(model.query_prefix or ""))
        self._limit = max(1, model.max_tokens - SPECIAL_TOKENS - longest)
        self._lock = Lock()
        self._client: OpenAI | None = None

    @property
    def model(self) -> EmbeddingModel:
        """Return the model given at construction."""
        return self._model

    def load(self) -> None:
        """Do nothing: the model is the server's."""

    def count_tokens(self, text: str) -> int:
        """Return the UTF-8 bytes of `text`: never fewer than its tokens, often four times."""
        return _size(text)

    def windows(self, text: str, *, whole_up_to: int | None = None) -> list[str]:
        """Return `text` alone up to `max_tokens` bytes, else passages of 256, 64 of them shared.

        `whole_up_to` is in tokens, taken as four bytes each.
        """
        asked_bytes = self._limit if whole_up_to is None else whole_up_to * BYTES_A_TOKEN
        if _size(text) <= min(self._limit, asked_bytes):
            return [text]
        size = min(self._limit, PASSAGE_TOKENS * BYTES_A_TOKEN)
        return cut(text, _words(text, size // 8), limit=size, overlap=size // 4)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of `texts`, (len(texts), dimensions), in order, rows of length 1.

        Raises ValidationFailed for a text that is blank or that the server refuses, Unavailable
        when it does not answer, answers nonsense or another size, does not accept the key, or is
        left alone because it failed too often.
        """
        return self._embedded(texts, self._model.prefix)

    def embed_question(self, question: str) -> Vectors:
        """Return the vector of a question, (1, dimensions), sent with the prefix of questions."""
        prefix = self._model.query_prefix
        return self._embedded([question], self._model.prefix if prefix is None else prefix)

    def _embedded(self, texts: Sequence[str], prefix: str) -> Vectors:
        import numpy as np

        refuse_blank(texts)
        rows: list[list[float]] = []
        for at in range(0, len(texts), BATCH):
            rows += self._embed_with_retries(
                [prefix + self.windows(text)[0] for text in texts[at : at + BATCH]]
            )
        if not rows:
            return np.empty((0, self._model.dimensions), dtype=np.float32)
        return unit_rows(np.asarray(rows, dtype=np.float32))

    def close(self) -> None:
        """Close the client's connections; the next text opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _embed_with_retries(self, texts: list[str]) -> list[list[float]]:
        retries = Retries(
            attempts=1 + self._retries,
            is_passing=_is_passing,
            stopwatch=self._stopwatch,
            pause=self._pause,
            deadline=self._stopwatch() + SECONDS,
        )
        return retries(lambda: self._guarded(texts))

    def _guarded(self, texts: list[str]) -> list[list[float]]:
        with self._breaker.guard():
            return self._request(texts)

    def _request(self, texts: list[str]) -> list[list[float]]:
        from openai import OpenAIError

        failure: CairnError
        try:
            with embedding_span(self._model, "openai", len(texts), kind=Kind.CLIENT):
                answer = self._ready().embeddings.create(
                    model=self._model.name.partition("?")[0], input=texts, encoding_format="float"
                )
            return _rows(answer, expected=len(texts), dimensions=self._model.dimensions)
        except OpenAIError as problem:
            failure = _translate(problem)
        except ValueError:  # the body was not the JSON its headers promised
            failure = _malformed()
        raise failure  # here, not above: the server's words must not ride along as the context

    def _ready(self) -> OpenAI:
        with self._lock:
            if self._client is None:
                from openai import OpenAI

                self._client = OpenAI(
                    api_key=self._api_key or "none",  # servers without keys; the client wants one
                    base_url=self._base_url,
                    timeout=self._timeout_s,
                    max_retries=0,
                )
            return self._client


def _size(text: str) -> int:
    return len(text.encode("utf-8", errors="replace"))


def _words(text: str, longest: int) -> list[Word]:
    """Return runs of space and of non-space, at most `longest` characters each."""
    runs = re.finditer(rf"\s{{1,{longest}}}|\S{{1,{longest}}}", text)
    return [Word(start=run.start(), end=run.end(), cost=_size(run[0])) for run in runs]


def _rows(answer: object, *, expected: int, dimensions: int) -> list[list[float]]:
    """Return the vectors in input order, having believed nothing about the answer's shape."""
    items: object = getattr(answer, "data", None)
    if not isinstance(items, list):
        raise _malformed()
    rows = {
        getattr(item, "index", None): _row(getattr(item, "embedding", None), dimensions)
        for item in cast("list[object]", items)
    }
    if rows.keys() != set(range(expected)):
        raise _malformed()
    return [rows[index] for index in range(expected)]


def _row(vector: object, dimensions: int) -> list[float]:
    if not isinstance(vector, list):
        raise _malformed()
    values = cast("list[object]", vector)
    if not all(isinstance(value, float | int) for value in values):
        raise _malformed()
    if len(values) != dimensions:
        raise Unavailable(
            "The embedding server answered with vectors of another size.",
            reason="wrong-dimensions",
            expected=dimensions,
            received=len(values),
        )
    return cast("list[float]", values)


def _malformed() -> Unavailable:
    return Unavailable(
        "The embedding server's answer could not be read.", reason="malformed-vectors"
    )


def _translate(problem: OpenAIError) -> CairnError:
    """Return Cairn's error for the client's; the only place that knows the client's tree."""
    import openai

    if isinstance(problem, openai.BadRequestError | openai.UnprocessableEntityError):
        return ValidationFailed("The embedding server refused a text.", reason="embedder-refused")
    if isinstance(problem, openai.APIResponseValidationError):
        return _malformed()
    if isinstance(problem, openai.APIStatusError):
        return _status(problem)
    return Unavailable("The embedding server did not answer.", reason="embedder-unreachable")


def _is_fault(problem: CairnError) -> bool:
    """Return whether the server is ill; one that is busy or refuses is well enough."""
    if not isinstance(problem, Unavailable):
        return False
    if problem.reason == "embedder-failed":
        return cast("int", problem.fields["status"]) >= 500
    return problem.reason in {"embedder-unreachable", "malformed-vectors"}


def _is_passing(problem: BaseException) -> bool:
    """Return whether the same request may succeed soon: busy, ill, cut off, or too slow."""
    silent = isinstance(problem, Unavailable) and problem.reason == "embedder-unreachable"
    return silent or has_passing_status(problem)


def _status(problem: APIStatusError) -> Unavailable:
    status = problem.status_code
    if status in (401, 403):
        return Unavailable(
            "The embedding server does not accept the configured key.",
            reason="embedder-credentials",
            status=status,
        )
    return Unavailable(
        "The embedding server could not answer.",
        reason="embedder-busy" if status == 429 else "embedder-failed",
        retry_after=_retry_after(problem),
        status=status,
    )


def _retry_after(problem: APIStatusError) -> float:
    """Return the seconds the server asks for, between 1 and 60; it may also send a date."""
    header = problem.response.headers.get("retry-after", "")
    return min(60.0, max(1.0, float(header))) if re.fullmatch(r"\d+(\.\d+)?", header) else 1.0
