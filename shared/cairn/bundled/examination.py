"""A connector is asked everything the contract promises. Not the promises: those are `contract`.

Anybody's connector can be asked: a command over stdio, an address, a server in this process.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

import anyio
import httpx2
from mcp import Client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from cairn.bundled.contract import (
    CALL_SECONDS,
    QUESTIONS,
    Broken,
    ExaminedConnector,
    NotAsked,
    Samples,
)
from cairn.connectors.manifest import ManifestRefused, read_manifest
from cairn.kernel.clock import monotonic
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from mcp import StdioServerParameters
    from mcp.client._transport import Transport
    from mcp.server.lowlevel import Server

    from cairn.bundled.contract import Question
    from cairn.kernel.clock import Stopwatch
    from cairn.kernel.ids import IdSource

    Target = Server[Any] | Transport | StdioServerParameters | str

GONE = (
    OSError,
    TimeoutError,
    MCPError,
    ValidationError,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    httpx2.HTTPError,
)
"""What a connector that went away, or never was one, looks like from here."""

INITIALIZE_SECONDS = 2.0
PATIENCE = 3.0
"""Seconds beyond those after which nothing more is waited for."""

NAMES = ("initialize", *(question.__name__ for question in QUESTIONS))


class Status(StrEnum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"  # the samples that it needs were not given


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One promise, and whether it was kept. `detail` says what was seen, `ms` how long it took."""

    name: str
    promise: str
    status: Status
    detail: str
    ms: int


def examine(
    target: Target,
    samples: Samples | None = None,
    *,
    initialize_seconds: float = INITIALIZE_SECONDS,
    stopwatch: Stopwatch = monotonic,
    ids: IdSource = new_id,
) -> list[Check]:
    """Ask a connector everything; one check for each of `NAMES`, in that order."""
    run = _Examination(target, samples or Samples(), initialize_seconds, stopwatch, ids)
    anyio.run(run.through)
    return run.checks


class _Examination:
    def __init__(
        self,
        target: Target,
        samples: Samples,
        seconds: float,
        stopwatch: Stopwatch,
        ids: IdSource,
    ) -> None:
        self._target, self._samples, self._seconds = target, samples, seconds
        self._stopwatch, self._ids = stopwatch, ids
        self.checks: list[Check] = []

    async def through(self) -> None:
        """Connect and ask; what cannot be asked any more has failed."""
        began = self._stopwatch()
        detail = f"no answer within {self._seconds + PATIENCE:g} s"
        try:
            with anyio.CancelScope(
                deadline=anyio.current_time() + self._seconds + PATIENCE
            ) as limit:
                await self._converse(limit, began)
        except* GONE as errors:
            detail = _error_text(errors)
        if not self.checks:
            self._add("initialize", self._promise, Status.FAILED, detail, began)
        for question in QUESTIONS[len(self.checks) - 1 :]:
            name, text = question.__name__, str(question.__doc__)
            self._add(name, text, Status.FAILED, f"not asked: {detail}", self._stopwatch())

    @property
    def _promise(self) -> str:
        return f"it answers initialize within {self._seconds:g} s"

    async def _converse(self, limit: anyio.CancelScope, began: float) -> None:
        client = Client(self._target, mode="legacy", read_timeout_seconds=CALL_SECONDS)
        async with client:
            limit.deadline = math.inf
            self._add("initialize", self._promise, *self._started(began), began)
            tested = await self._introduced(client)
            for question in QUESTIONS:
                await self._ask(question, tested)

    def _started(self, began: float) -> tuple[Status, str]:
        took = self._stopwatch() - began
        status = Status.PASSED if took <= self._seconds else Status.FAILED
        return status, f"after {took:.2f} s"

    async def _introduced(self, client: Client) -> ExaminedConnector:
        info = client.server_info
        version = "" if info is None else info.version
        listed = [
            tool.model_dump(by_alias=True, mode="json", exclude_none=True)
            for tool in (await client.list_tools()).tools
        ]
        try:
            manifest = read_manifest("tested", "0.0.0", listed)
        except ManifestRefused:
            manifest = None
        return ExaminedConnector(
            client=client,
            samples=self._samples,
            ids=self._ids,
            tools=listed,
            version=version,
            manifest=manifest,
        )

    async def _ask(self, question: Question, tested: ExaminedConnector) -> None:
        began = self._stopwatch()
        try:
            status, detail = Status.PASSED, await question(tested)
        except Broken as broken:
            status, detail = Status.FAILED, str(broken)
        except NotAsked as missing:
            status, detail = Status.SKIPPED, str(missing)
        self._add(question.__name__, str(question.__doc__), status, detail, began)

    def _add(self, name: str, promise: str, status: Status, detail: str, began: float) -> None:
        ms = round((self._stopwatch() - began) * 1000)
        self.checks.append(Check(name=name, promise=promise, status=status, detail=detail, ms=ms))


def _error_text(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return _error_text(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
    return f"{type(error).__name__}: {str(error)[:200]}"
