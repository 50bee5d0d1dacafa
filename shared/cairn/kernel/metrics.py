"""What is counted about agents at work: fifteen names, and the hook they are told through.

Not where the numbers go: `adapters.aws.metrics` and `adapters.files.prometheus`. Labels are ids,
codes and names of tools; never text of anybody.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping


class Metric(StrEnum):
    """The names, as CloudWatch shows them."""

    INVESTIGATIONS = "cairn_investigations_total"
    INVESTIGATION_SECONDS = "cairn_investigations_duration_seconds"
    VERDICTS = "cairn_investigations_verdict_total"
    LLM_TOKENS = "cairn_llm_tokens_total"
    LLM_USD = "cairn_llm_cost_usd_total"
    CONNECTOR_CALLS = "cairn_connector_calls_total"
    CONNECTOR_HEALTH = "cairn_connector_health"
    SAFETY_DENIALS = "cairn_safety_denials_total"
    APPROVALS_PENDING = "cairn_approvals_pending"
    CHAT_SESSIONS = "cairn_chat_sessions_total"
    CHAT_HANDOFFS = "cairn_chat_handoffs_total"
    RATE_LIMIT_REJECTIONS = "cairn_rate_limit_rejections_total"
    TICKET_QUEUE_DEPTH = "cairn_ticket_queue_depth"
    RETRIEVAL_HIT_RATE = "cairn_retrieval_hit_rate"
    TOOL_SEARCHES = "cairn_tool_searches_total"


class Sort(StrEnum):
    """How the values of a metric are put together over time."""

    COUNTER = "counter"  # summed
    SPREAD = "spread"  # percentiles and means
    GAUGE = "gauge"  # the value at that moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """CloudWatch's unit of a metric, its sort, and the sets of labels it is kept by.

    A set without labels is the total. A label that is in no set is kept on the log line only. A
    gauge is kept by exactly the set of the labels it comes with: totals are told beside parts.
    """

    unit: str
    sort: Sort
    sets: tuple[tuple[str, ...], ...]


def _counter(*sets: tuple[str, ...], unit: str = "Count") -> Shape:
    return Shape(unit=unit, sort=Sort.COUNTER, sets=((), *sets))


_WORKSPACE = ("workspace",)
SHAPES: Mapping[Metric, Shape] = MappingProxyType(
    {
        Metric.INVESTIGATIONS: _counter(_WORKSPACE, ("outcome",)),
        Metric.INVESTIGATION_SECONDS: Shape(
            unit="Seconds", sort=Sort.SPREAD, sets=((), _WORKSPACE, ("outcome",))
        ),
        Metric.VERDICTS: _counter(("outcome",), ("workspace", "outcome")),
        Metric.LLM_TOKENS: _counter(_WORKSPACE, ("model", "purpose")),
        Metric.LLM_USD: _counter(_WORKSPACE, ("model",), unit="None"),
        Metric.CONNECTOR_CALLS: _counter(("connector", "outcome"), ("connector", "tool")),
        Metric.CONNECTOR_HEALTH: Shape(
            unit="None", sort=Sort.GAUGE, sets=((), ("workspace", "connector"))
        ),
        Metric.SAFETY_DENIALS: _counter(_WORKSPACE, ("outcome",), ("connector",)),
        Metric.APPROVALS_PENDING: Shape(unit="Count", sort=Sort.GAUGE, sets=((), _WORKSPACE)),
        Metric.CHAT_SESSIONS: _counter(("channel", "outcome")),
        Metric.CHAT_HANDOFFS: _counter(("channel",)),
        Metric.RATE_LIMIT_REJECTIONS: _counter(("surface",)),
        Metric.TICKET_QUEUE_DEPTH: Shape(unit="Count", sort=Sort.GAUGE, sets=((), _WORKSPACE)),
        Metric.RETRIEVAL_HIT_RATE: Shape(unit="None", sort=Sort.SPREAD, sets=((), _WORKSPACE)),
        Metric.TOOL_SEARCHES: _counter(_WORKSPACE),
    }
)
"""Every metric. `outcome` is DONE or HALTED of investigations, a verdict, how a call ended, or the
code of a refusal; `surface` is api, mcp or public; `connector` and `tool` are names."""


class Metrics(Protocol):
    """Told of what happened, once it is committed. Never raises, never waits for a network."""

    def __call__(self, metric: Metric, value: float = 1, /, **labels: object) -> None:
        """Count `value`; labels are those of `SHAPES`, such as `workspace=workspace_id`."""
        ...


def untold(metric: Metric, value: float = 1, /, **labels: object) -> None:
    """Count nothing: what use cases have until they are given something better."""


MOST_VALUES = 100
MOST_CHARS = 128
OTHER = "other"


class Bounds:
    """Holds a label to so many values in a process: those that come later are `other`."""

    def __init__(self) -> None:
        self._seen: dict[tuple[Metric, str], set[str]] = {}
        self._lock = Lock()

    def __call__(self, metric: Metric, name: str, label: str) -> str:
        """Return a label in ASCII, short, and one of `MOST_VALUES`; an empty one stays empty."""
        label = label.encode("ascii", "replace").decode().strip()[:MOST_CHARS]
        with self._lock:
            seen = self._seen.setdefault((metric, name), set())
            if label not in seen and len(seen) >= MOST_VALUES:
                return OTHER
            seen.add(label)
        return label
