"""Costs behind the fake API: the real reports over calls kept in memory."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

from tests.fakes.costs import InMemoryCosts
from tests.fakes.model_calls import InMemoryCallLog

from cairn.kernel.access import Principal
from cairn.kernel.ids import new_id
from cairn.llm.costs import CallRecord, GetCosts
from cairn.llm.port import Purpose, Usage

NOON = datetime(2026, 3, 15, 12, tzinfo=UTC)
USAGE = Usage(input_tokens=900, output_tokens=100, cache_read_tokens=20, cache_write_tokens=4)


@dataclass(frozen=True)
class Stores:
    costs: InMemoryCosts


@dataclass
class CostWorld:
    """The calls that were made; today is 15 March 2026."""

    log: InMemoryCallLog = field(default_factory=InMemoryCallLog)

    def spend(
        self,
        workspace_id: UUID,
        *,
        at: datetime = NOON,
        purpose: Purpose = Purpose.PLANNER,
        model: str = "claude-sonnet-4-6",
        usd: str | None = "0.01",
        run_id: UUID | None = None,
    ) -> None:
        record = CallRecord(
            id=new_id(),
            workspace_id=workspace_id,
            run_id=run_id,
            purpose=purpose,
            provider="anthropic",
            model=model,
            started_at=at,
            usage=USAGE,
            cost_usd=Decimal(usd) if usd else None,
        )
        self.log.record(record)

    @contextmanager
    def reading(self, principal: Principal, *, timeout_ms: int | None = None) -> Generator[Stores]:
        yield Stores(InMemoryCosts(self.log, principal.workspace_id))

    writing = reading

    @property
    def report(self) -> GetCosts:
        return GetCosts(transactions=self, clock=lambda: NOON)
