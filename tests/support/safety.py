"""Policies, tools and attempts for tests of the safety pipeline."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.kernel.ids import new_id
from cairn.safety.action import Action
from cairn.safety.pipeline import Attempt, Pipeline, Ready
from cairn.safety.rules import ConnectorPolicy, Policy
from cairn.safety.scope import parse_scopes
from cairn.safety.tools import Autonomy, Lane, Manifest, ToolSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
WORKSPACE = UUID(int=7)
EVERYTHING = "read: {allow: ['**']}\nwrite: {allow: ['**']}"


def tool(name: str = "reset", **changes: Any) -> ToolSpec:
    given: dict[str, Any] = {"lane": Lane.WRITE, **changes}
    return ToolSpec(connector="desk", name=name, description="", **given)


def policy(
    *tools: ToolSpec,
    autonomy: Autonomy = Autonomy.ACT,
    scopes: str = EVERYTHING,
    safe: bool = True,
    redaction: str = "pii",
    manifest_hash: str = "a" * 64,
) -> Policy:
    manifest = Manifest(
        connector="desk", version="1.0.0", hash=manifest_hash, tools=tools or (tool(),), safe=safe
    )
    held = ConnectorPolicy(
        connector="desk", autonomy=autonomy, scopes=parse_scopes(scopes), manifest=manifest
    )
    return Policy(connectors={"desk": held}, redaction=redaction)


def action(name: str = "reset", **arguments: Any) -> Action:
    return Action(id=new_id(), connector="desk", tool=name, arguments=arguments)


def attempt(name: str = "reset", *, persona: Autonomy = Autonomy.ACT, **arguments: Any) -> Attempt:
    return Attempt(workspace_id=WORKSPACE, action=action(name, **arguments), autonomy=persona)


@dataclass(frozen=True)
class Answer:
    """What a tool says."""

    text: str = "done"
    is_error: bool = False


@dataclass
class Stand:
    """A pipeline over one policy that may change, and everything it called in order."""

    policy: Policy
    now: datetime = NOON
    answer: Answer | Exception = field(default_factory=Answer)
    trace: list[str] = field(default_factory=list[str])
    calls: list[Ready] = field(default_factory=list[Ready])
    audited: list[Attempt] = field(default_factory=list[Attempt])
    grants: Any = None

    def __post_init__(self) -> None:
        given: Mapping[str, Any] = {"grants": self.grants} if self.grants is not None else {}
        self.pipeline = Pipeline(policies=self._policy, clock=lambda: self.now, **given)

    def _policy(self, workspace_id: UUID) -> Policy:
        assert workspace_id == WORKSPACE
        return self.policy

    def begin(self, attempt: Attempt) -> None:
        self.trace.append("begin")

    def call(self, ready: Ready) -> Answer:
        self.trace.append("call")
        self.calls.append(ready)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def audit(self, attempt: Attempt) -> None:
        self.trace.append("audit")
        self.audited.append(attempt)

    def check(self, attempt: Attempt) -> Attempt:
        return self.pipeline.check(attempt, self.audit)

    def perform(self, attempt: Attempt) -> Attempt:
        return self.pipeline.perform(attempt, begin=self.begin, call=self.call, audit=self.audit)
