"""Clients that send one request after the other, side by side, and time each. No retries.

Threads over the standard library's connections: cheap enough beside a server on the same machine.
"""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from benchmarks.metrics import percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

TIMEOUT_SECONDS = 60.0
GOOD = 300


@dataclass(frozen=True, slots=True)
class Request:
    """What a client sends. `kind` is what it is counted as."""

    kind: str
    path: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer; `failure` is None, a status or the name of what went wrong."""

    kind: str
    ms: float
    failure: str | None


@dataclass(frozen=True, kw_only=True)
class Key:
    """Who asks where."""

    url: str
    key: str = field(repr=False)

    def opened(self) -> HTTPConnection:
        """Return a connection of its own, not open yet."""
        parts = urlsplit(self.url)
        make = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        return make(parts.netloc, timeout=TIMEOUT_SECONDS)

    def send(self, connection: HTTPConnection, request: Request) -> tuple[int, bytes]:
        """Return the status and the body of one answer."""
        prefix = urlsplit(self.url).path.rstrip("/")
        headers = {"authorization": f"Bearer {self.key}", "content-type": "application/json"}
        connection.request("POST", prefix + request.path, json.dumps(request.body), headers)
        answer = connection.getresponse()
        return answer.status, answer.read()


@dataclass(frozen=True, kw_only=True)
class Clients:
    """So many clients of one key, each over a connection of its own."""

    key: Key
    number: int
    requests: Callable[[int], Iterator[Request]]
    """What the client of a number sends, without an end."""

    stopwatch: Callable[[], float]

    def run(self, seconds: float) -> list[Sample]:
        """Send for so long and return what came of it."""
        until = self.stopwatch() + seconds
        with ThreadPoolExecutor(max(1, self.number)) as threads:
            each = threads.map(partial(self._client, until=until), range(self.number))
            return [sample for samples in each for sample in samples]

    def _client(self, number: int, *, until: float) -> list[Sample]:
        samples: list[Sample] = []
        connection = self.key.opened()
        for request in self.requests(number):
            start = self.stopwatch()
            if start >= until:
                break
            failure = self._failure(connection, request)
            samples.append(Sample(request.kind, (self.stopwatch() - start) * 1000, failure))
        connection.close()
        return samples

    def _failure(self, connection: HTTPConnection, request: Request) -> str | None:
        try:
            status, _ = self.key.send(connection, request)
        except (OSError, HTTPException) as error:
            connection.close()
            return type(error).__name__
        return None if status < GOOD else str(status)


def summary(samples: Sequence[Sample], seconds: float) -> dict[str, Any]:
    """Return throughput, times of good answers, and failures by what they were."""
    good = [sample.ms for sample in samples if sample.failure is None]
    failures = Counter(sample.failure for sample in samples if sample.failure is not None)
    return {
        "requests": len(samples),
        "per_second": round(len(good) / seconds, 1),
        "p50_ms": round(percentile(good, 0.5), 1) if good else None,
        "p95_ms": round(percentile(good, 0.95), 1) if good else None,
        "failures": dict(sorted(failures.items())),
    }
