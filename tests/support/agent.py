"""Investigations over any stores: a desk, tools, a planner and people that do as a test says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from tests.fakes.keys import InMemoryKeyStore
from tests.fakes.stores import InMemoryTransactions
from tests.support.platform import platform_of
from tests.support.remembering import NOON, Sent, admin_of

from cairn.connectors.port import ConnectorState, ConnectorView, ToolCall, ToolResult
from cairn.investigations.approvals import Approvals, Expire, Wait
from cairn.investigations.hiding import Hiding
from cairn.investigations.journal import Journal
from cairn.investigations.outcomes import CallTool
from cairn.investigations.planning.surrounds import History, RecentResults
from cairn.investigations.ports import ActionRow, Approval, Question, Ruling
from cairn.investigations.run.admission import Admit, Start, SweepInvestigations
from cairn.investigations.run.closing import Abandon, AbandonExecution, Close, Halt
from cairn.investigations.run.moving import read
from cairn.investigations.run.resume import Enter, ExecutionEnded, Loop, Resume
from cairn.investigations.run.step import RunStep
from cairn.investigations.state import (
    Evidence,
    Investigation,
    NextKind,
    Plan,
    State,
    Verdict,
    WorkingMemory,
)
from cairn.investigations.steps.act import Act, WriteBack
from cairn.investigations.steps.check import CheckSafety
from cairn.investigations.steps.plan import MakePlan, observe
from cairn.investigations.steps.retrieve import Retrieve
from cairn.investigations.steps.verdict import GiveVerdict, Triage
from cairn.investigations.views import Present, present
from cairn.kernel.errors import NotFound
from cairn.kernel.ids import new_id
from cairn.ledger.keys import BodyCipher, KeyStore, key_subjects
from cairn.safety.pipeline import Pipeline
from cairn.safety.redaction import ReversibleRedactor
from cairn.safety.rules import ConnectorPolicy, Policy
from cairn.safety.scope import LaneScope, Scopes, parse_pattern
from cairn.safety.tools import Autonomy, Criticality, Lane, Manifest, ToolSpec
from cairn.tickets.personas import DEFAULT, Persona
from cairn.tickets.queue import Requeue
from cairn.tickets.ticket import Priority, Ticket, TicketRow, TicketStatus
from cairn.workspace.settings import EnvelopeSettings

if TYPE_CHECKING:
    from cairn.ledger.entry import Entry

DOC = "[doc:kb://lockout.md#Unlock#L3-L9]"
SUMMARY = f"The account is unlocked again {DOC}."


class Killed(Exception):
    """The process is gone: nothing catches this."""


@dataclass
class FakeClock:
    """A clock that goes on a second a look; tests may set it."""

    now: datetime = NOON

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@dataclass
class FakeStopwatch:
    """A monotonic clock that goes on by `step` seconds a look."""

    step: float = 0.001
    seconds: float = 0.0

    def __call__(self) -> float:
        self.seconds += self.step
        return self.seconds


@dataclass
class FakeDesk:
    """A help desk with its tickets; write-backs are idempotent, as they have to be."""

    tickets: dict[UUID, Ticket] = field(default_factory=dict[UUID, Ticket])
    personas: dict[str, Persona] = field(default_factory=dict[str, Persona])
    written: dict[UUID, dict[str, Any]] = field(default_factory=dict[UUID, "dict[str, Any]"])
    notes: dict[UUID, str] = field(default_factory=dict[UUID, str])
    notable: str = "done"
    asked_to_write: int = 0
    endings: list[tuple[UUID, Verdict]] = field(default_factory=list["tuple[UUID, Verdict]"])
    fails: Exception | None = None
    settle: Callable[[UUID, UUID, Verdict], None] = lambda *_: None

    def ticket(self, workspace_id: UUID, ticket_id: UUID) -> Ticket:
        if ticket_id not in self.tickets:
            raise NotFound("There is no such ticket.")
        return self.tickets[ticket_id]

    def persona(self, workspace_id: UUID, name: str, *, began: datetime | None = None) -> Persona:
        return self.personas.get(name, DEFAULT)

    def write_back(
        self, workspace_id: UUID, ticket_id: UUID, *, investigation_id: UUID, **said: Any
    ) -> Mapping[str, str]:
        self.asked_to_write += 1
        if self.fails is not None:
            raise self.fails
        self.written.setdefault(investigation_id, {"ticket_id": ticket_id, **said})
        return {"reply": "done", "status": "done"}

    def note(
        self,
        workspace_id: UUID,
        ticket_id: UUID,
        *,
        investigation_id: UUID,
        text: str,
        data_subjects: tuple[UUID, ...],
    ) -> str:
        if self.fails is not None:
            raise self.fails
        self.notes.setdefault(investigation_id, text)
        return self.notable

    def ended(
        self, workspace_id: UUID, ticket_id: UUID, investigation_id: UUID, verdict: Verdict
    ) -> None:
        self.endings.append((ticket_id, verdict))
        self.settle(ticket_id, investigation_id, verdict)


Tool = Callable[[ToolCall], str | ToolResult]


@dataclass
class FakeHost:
    """Connectors whose tools are functions; what a write did is counted by tool and key.

    `deduplicates` of a tool is honoured: one key, one effect. `before` and `after` run around the
    effect and may raise.
    """

    specs: dict[str, ToolSpec] = field(default_factory=dict[str, ToolSpec])
    answers: dict[str, Tool] = field(default_factory=dict[str, Tool])
    calls: list[ToolCall] = field(default_factory=list[ToolCall])
    effects: list[tuple[str, UUID | None, Mapping[str, Any]]] = field(
        default_factory=list["tuple[str, UUID | None, Mapping[str, Any]]"]
    )
    before: Callable[[ToolCall], None] = lambda call: None
    after: Callable[[ToolCall], None] = lambda call: None
    state: ConnectorState = ConnectorState.READY
    criticality: Criticality = Criticality.SKIP
    version: str = "1.0.0"

    def add(self, key: str, lane: Lane, answer: Tool | str = "done", **spec: Any) -> ToolSpec:
        connector, name = key.split(".")
        given: dict[str, Any] = {
            "description": name,
            "schema": {
                "type": "object",
                "properties": {"user": {"type": "string"}},
                "required": ["user"],
                "additionalProperties": False,
            },
            "deduplicates": True,
        }
        made = ToolSpec(connector=connector, name=name, lane=lane, **given | spec)
        self.specs[key] = made
        self.answers[key] = (lambda call: answer) if isinstance(answer, str) else answer
        return made

    def manifest(self, connector: str) -> Manifest:
        tools = tuple(spec for spec in self.specs.values() if spec.connector == connector)
        return Manifest(
            connector=connector,
            version=self.version,
            hash=(self.version.replace(".", "") * 64)[:64],
            tools=tools,
            criticality=self.criticality,
        )

    def connectors(self, workspace_id: UUID) -> Sequence[ConnectorView]:
        names = dict.fromkeys(spec.connector for spec in self.specs.values())
        return [
            ConnectorView(name=name, state=self.state, manifest=self.manifest(name))
            for name in names
        ]

    def call(self, workspace_id: UUID, call: ToolCall) -> ToolResult:
        key = f"{call.connector}.{call.tool}"
        self.calls.append(call)
        self.before(call)
        said = self.answers[key](call)
        spec = self.specs[key]
        seen = spec.deduplicates and any(
            (one, idempotent) == (key, call.idempotency_key) for one, idempotent, _ in self.effects
        )
        failed = isinstance(said, ToolResult) and said.is_error
        if spec.lane is Lane.WRITE and not call.dry_run and not seen and not failed:
            self.effects.append((key, call.idempotency_key, dict(call.arguments)))
        self.after(call)
        return said if isinstance(said, ToolResult) else ToolResult(text=said, ms=3)


Thought = Plan | Callable[[Question], Plan]


@dataclass
class ScriptedPlanner:
    """Plans what it is told, then concludes. It remembers what it was asked."""

    script: list[Thought] = field(default_factory=list["Thought"])
    loops: bool = False
    skips: str = ""
    ruling: Ruling = field(
        default_factory=lambda: Ruling(verdict=Verdict.AUTO_RESOLVED, reason="It works again.")
    )
    summaries: list[str] = field(default_factory=list[str])
    asked: list[tuple[str, Question]] = field(default_factory=list["tuple[str, Question]"])
    tokens: int = 0
    at: Callable[[Question], int] = lambda question: question.budget.spent.iterations - 1

    def triage(self, question: Question) -> Ruling | None:
        self._note("triage", question)
        return Ruling(verdict=Verdict.SKIPPED, reason=self.skips) if self.skips else None

    def plan(self, question: Question) -> Plan:
        self._note("plan", question)
        place = self.at(question)
        if self.loops:
            place %= len(self.script)
        if place >= len(self.script):
            return Plan(kind=NextKind.CONCLUDE, reason="Nothing is left to do.")
        thought = self.script[place]
        return thought if isinstance(thought, Plan) else thought(question)

    def verdict(self, question: Question) -> Ruling:
        self._note("verdict", question)
        return self.ruling

    def summary(self, question: Question, ruling: Ruling) -> str:
        self._note("summary", question)
        place = sum(kind == "summary" for kind, _ in self.asked) - 1
        return self.summaries[min(place, len(self.summaries) - 1)] if self.summaries else SUMMARY

    def _note(self, kind: str, question: Question) -> None:
        self.asked.append((kind, question))
        if self.tokens:
            from cairn.llm.port import Usage

            question.budget.check(tokens=self.tokens)
            question.budget.record(Usage(input_tokens=self.tokens), None)

    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.asked]


@dataclass
class FakeEscalate:
    """Calls to people, once an investigation."""

    calls: dict[UUID, tuple[Verdict, str]] = field(
        default_factory=dict[UUID, "tuple[Verdict, str]"]
    )

    def __call__(
        self, workspace_id: UUID, investigation_id: UUID, *, verdict: Verdict, why: str
    ) -> None:
        self.calls.setdefault(investigation_id, (verdict, why))


@dataclass
class Commits:
    """Transactions that may be killed just before or just after the n-th writing commit."""

    inner: Any
    before: int = 0
    after: int = 0
    count: int = 0

    def reading(self, principal: Any, *, timeout_ms: int | None = None) -> Any:
        return self.inner.reading(principal, timeout_ms=timeout_ms)

    def writing(self, principal: Any, *, once: str | None = None) -> Any:
        return _Killing(self, self.inner.writing(principal, once=once))

    def arm(self, *, before: int = 0, after: int = 0) -> None:
        """Kill at the n-th commit from now on; 0 never."""
        self.before, self.after, self.count = before, after, 0


class _Killing:
    def __init__(self, commits: Commits, opened: Any) -> None:
        self._commits, self._opened = commits, opened

    def __enter__(self) -> Any:
        return self._opened.__enter__()

    def __exit__(self, *problem: Any) -> Any:
        commits = self._commits
        if problem[0] is not None:
            return self._opened.__exit__(*problem)
        commits.count += 1
        if commits.count == commits.before:
            killed = Killed("before the commit")
            self._opened.__exit__(Killed, killed, None)
            raise killed
        self._opened.__exit__(None, None, None)
        if commits.count == commits.after:
            raise Killed("after the commit")
        return None


def act(key: str, user: str = "ada", **changes: Any) -> Plan:
    """A plan to call a tool on a user."""
    connector, _, tool = key.partition(".")
    given: dict[str, Any] = {
        "kind": NextKind.ACT,
        "reason": "It helps.",
        "connector": connector,
        "tool": tool,
        "arguments": {"user": user},
    }
    return Plan(**given | changes)


def search(query: str) -> Plan:
    """A plan to search."""
    return Plan(kind=NextKind.RETRIEVE, reason="To know more.", query=query)


CONCLUDE = Plan(kind=NextKind.CONCLUDE, reason="All is known.")


@dataclass
class Agents:
    """A workspace with tickets, tools and a planner, and every use case of investigations."""

    transactions: Any = None
    workspace_id: UUID = field(default_factory=new_id)
    planner: ScriptedPlanner = field(default_factory=ScriptedPlanner)
    host: FakeHost = field(default_factory=FakeHost)
    desk: FakeDesk = field(default_factory=FakeDesk)
    escalate: FakeEscalate = field(default_factory=FakeEscalate)
    sent: Sent = field(default_factory=Sent)
    keys: KeyStore = field(default_factory=InMemoryKeyStore)
    clock: FakeClock = field(default_factory=FakeClock)
    stopwatch: FakeStopwatch = field(default_factory=FakeStopwatch)
    persona: Persona = field(default_factory=lambda: replace(DEFAULT, autonomy=Autonomy.ACT))
    at_once: int = 8
    degraded: bool = False
    autonomy: Autonomy = Autonomy.ACT
    redaction: str = "pii"
    found: list[Evidence] = field(
        default_factory=lambda: [Evidence(citation=DOC, text="How to unlock.", node_id=new_id())]
    )
    searches: list[tuple[str, str]] = field(default_factory=list["tuple[str, str]"])
    around: tuple[Sequence[Evidence], Sequence[Evidence], Sequence[str]] = ((), (), ())
    recalled: Exception | None = None
    told: list[tuple[str, Any]] = field(default_factory=list["tuple[str, Any]"])
    envelope: Callable[[UUID], EnvelopeSettings] = lambda _: EnvelopeSettings()

    def __post_init__(self) -> None:
        if self.transactions is None:
            self.transactions = InMemoryTransactions()
            self.transactions.create_workspace(self.workspace_id)
        self.commits = Commits(self.transactions)
        self.entered: set[tuple[UUID, int]] = set()
        self.admin = admin_of(self.workspace_id)
        self.desk.personas["default"] = self.persona
        self.desk.settle = self._settle
        self.journal = Journal(
            platform=platform_of(
                self.commits, keys=self.keys, dispatcher=self.sent, clock=self.clock
            )
        )
        self.pipeline = Pipeline(policies=self.policy, clock=self.clock)
        self.hiding = Hiding(
            redactor=ReversibleRedactor(), profiles=lambda item: self.policy(item).redaction
        )
        call = CallTool(host=self.host)
        self.abandon = Abandon(journal=self.journal)
        self.run = RunStep(
            journal=self.journal,
            steps={
                State.CREATED: Triage(
                    desk=self.desk,
                    hiding=self.hiding,
                    surrounds=lambda workspace_id, ticket: self.around,
                    recent=RecentResults(journal=self.journal, bounds=self.envelope),
                    earlier=History(journal=self.journal),
                    planner=self.planner,
                    degraded=lambda workspace_id: self.degraded,
                ),
                State.PLANNING: MakePlan(planner=self.planner, connectors=self.host),
                State.RETRIEVING: Retrieve(
                    recall=self.recall, hiding=self.hiding, bounds=self.envelope
                ),
                State.SAFETY_CHECK: CheckSafety(
                    journal=self.journal,
                    pipeline=self.pipeline,
                    call=call,
                    clock=self.clock,
                    new_id=new_id,
                ),
                State.ACTING: Act(
                    journal=self.journal,
                    pipeline=self.pipeline,
                    call=call,
                    connectors=self.host,
                ),
                State.OBSERVING: observe,
                State.VERDICT: GiveVerdict(planner=self.planner),
                State.WRITING_BACK: WriteBack(desk=self.desk, hiding=self.hiding),
            },
            desk=self.desk,
            stopwatch=self.stopwatch,
            abandon=self.abandon,
        )
        self.admit = Admit(journal=self.journal, at_once=self.at_once)
        self.start = Start(journal=self.journal, admit=self.admit, desk=self.desk)
        self.close = Close(
            journal=self.journal, desk=self.desk, escalate=self.escalate, admit=self.admit
        )
        self.halt = Halt(journal=self.journal, abandon=self.abandon)
        self.enter = Enter(journal=self.journal, connectors=self.host, abandon=self.abandon)
        self.wait = Wait(journal=self.journal, admit=self.admit)
        self.expire = Expire(journal=self.journal, abandon=self.abandon)
        self.resume = Resume(journal=self.journal)
        self.leave = AbandonExecution(
            journal=self.journal, escalate=self.escalate, admit=self.admit
        )
        self.execution_ended = ExecutionEnded(
            journal=self.journal, resume=self.resume, close=self.close, leave=self.leave
        )
        self.sweep = SweepInvestigations(
            workspaces=lambda: [self.workspace_id],
            tickets=lambda: 0,
            requeue=Requeue(
                platform=platform_of(self.transactions, dispatcher=self.sent, clock=self.clock)
            ).mended,
            expire=self.expire,
            resume=self.resume,
            close=self.close,
            leave=self.leave,
            admit=self.admit,
            clock=self.clock,
            report=lambda event, told: self.told.append((event, told)),
        )
        self.approvals = Approvals(
            journal=self.journal, pipeline=self.pipeline, desk=self.desk, hiding=self.hiding
        )
        self.loop = Loop(enter=self.enter, run=self.run, close=self.close)

    def policy(self, workspace_id: UUID) -> Policy:
        """Everything is in scope; the connectors have the autonomy of this world."""
        every = LaneScope(allow=(parse_pattern("**", "allow"),))
        names = dict.fromkeys(spec.connector for spec in self.host.specs.values())
        return Policy(
            connectors={
                name: ConnectorPolicy(
                    connector=name,
                    autonomy=self.autonomy,
                    scopes=Scopes(read=every, write=every),
                    manifest=self.host.manifest(name),
                )
                for name in names
            },
            redaction=self.redaction,
        )

    def recall(
        self, workspace_id: UUID, query: str, *, customer: str, limit: int = 6
    ) -> Sequence[Evidence]:
        """What a search finds."""
        self.searches.append((query, customer))
        if self.recalled is not None:
            raise self.recalled
        return self.found[:limit]

    def ticket(self, body: str = "Ada cannot sign in.", **changes: Any) -> UUID:
        """Queue a ticket and return its id."""
        given: dict[str, Any] = {
            "id": new_id(),
            "workspace_id": self.workspace_id,
            "source": "api",
            "external_id": str(new_id()),
            "title": "Locked out",
            "body": body,
            "customer": "Acme",
            "requester_email": "ada@acme.test",
            "received_at": self.clock(),
            "data_subjects": (new_id(),),
            "screening": {"language": "en", "injection": False},
        }
        ticket = Ticket(**given | changes)
        self.desk.tickets[ticket.id] = ticket
        with self.transactions.writing(self.admin) as stores:
            stores.tickets.add(_row(ticket))
        return ticket.id

    def begin(self, body: str = "Ada cannot sign in.", **changes: Any) -> UUID:
        """Queue a ticket, admit it, and return its investigation's id."""
        ticket_id = self.ticket(body, **changes)
        self.admit(self.workspace_id)
        return self.of_ticket(ticket_id)

    def again(self, ticket_id: UUID) -> UUID:
        """Put a ticket back as an admin does, admit it, and return its new investigation's id."""
        with self.transactions.writing(self.admin) as stores:
            assert stores.tickets.requeue(ticket_id, self.clock())
        self.admit(self.workspace_id)
        return self.of_ticket(ticket_id)

    def of_ticket(self, ticket_id: UUID) -> UUID:
        """The newest investigation of a ticket."""
        with self.transactions.reading(self.admin) as stores:
            found = stores.investigations.page(
                before=None, limit=1, state=None, ticket_id=ticket_id
            )
        return found[0].id

    def work(self, investigation_id: UUID) -> Present:
        """Go on with the present run until the end or until a person is asked."""
        found = self.found_(investigation_id)
        if (found.id, found.run) in self.entered:
            return self.loop.go_on(present(found))
        now = self.enter(self.workspace_id, investigation_id, run=found.run)
        self.entered.add((found.id, found.run))
        return self.loop.go_on(now)

    def step(self, investigation_id: UUID, times: int = 1) -> Present:
        """Run so many steps from where it is."""
        now = self.found_(investigation_id)
        for _ in range(times):
            now = self.run(self.workspace_id, investigation_id, state=now.state)
        assert isinstance(now, Present)
        return now

    def until(self, investigation_id: UUID, state: State) -> None:
        """Run until a state is reached."""
        for _ in range(200):
            if self.found_(investigation_id).state is state:
                return
            self.step(investigation_id)
        raise AssertionError(f"never reached {state}")

    def found_(self, investigation_id: UUID) -> Investigation:
        """The investigation as stored."""
        with self.transactions.reading(self.admin) as stores:
            return stores.investigations.find(investigation_id)

    def memory(self, investigation_id: UUID) -> WorkingMemory:
        """Its working memory."""
        return read(self.journal, self.workspace_id, investigation_id).memory

    def entries(self) -> list[Entry]:
        """Everything in the ledger."""
        with self.transactions.reading(self.admin) as stores:
            return stores.ledger.page(after=0, limit=10_000)

    def types(self) -> list[str]:
        """The types of all entries."""
        return [entry.type for entry in self.entries()]

    def body(self, entry: Entry) -> Mapping[str, Any]:
        """An entry's body, opened."""
        subjects = key_subjects(self.workspace_id, entry.data_subjects)
        keys = self.keys.get(self.workspace_id, subjects)
        return BodyCipher().open(entry.id, self.workspace_id, subjects, keys, entry.body)

    def walk(self, investigation_id: UUID) -> list[tuple[str, str]]:
        """The transitions of an investigation, resumptions included."""
        named = ("investigation.moved", "investigation.resumed")
        return [
            (str(entry.meta["from"]), str(entry.meta["to"]))
            for entry in self.entries()
            if entry.type in named and entry.meta["investigation_id"] == str(investigation_id)
        ]

    def actions(self) -> list[ActionRow]:
        """Every tool call, the oldest first."""
        with self.transactions.reading(self.admin) as stores:
            rows = stores.actions.page(
                investigation_id=None, connector=None, before=None, limit=1_000
            )
        return list(reversed(rows))

    def questions(self) -> list[Approval]:
        """Every question to a person, the oldest first."""
        with self.transactions.reading(self.admin) as stores:
            return list(reversed(stores.approvals.page(state=None, before=None, limit=1_000)))

    def pending(self) -> Approval:
        """The question put last."""
        return self.questions()[-1]

    def slots(self) -> int:
        """How many slots are taken."""
        with self.transactions.reading(self.admin) as stores:
            return stores.slots.taken()

    def woken(self, topic: str) -> Iterator[Any]:
        """Outbox rows of a topic that were sent."""
        return (row for row in self.sent.rows if row.topic == topic)

    def _settle(self, ticket_id: UUID, investigation_id: UUID, verdict: Verdict) -> None:
        status = {
            Verdict.SKIPPED: TicketStatus.NEEDS_TECH,
            Verdict.FAILED_BUDGET: TicketStatus.FAILED,
        }.get(verdict) or TicketStatus(verdict.value)
        with self.transactions.writing(self.admin) as stores:
            stores.tickets.settle(ticket_id, investigation_id, status, self.clock())


def _row(ticket: Ticket) -> TicketRow:
    return TicketRow(
        id=ticket.id,
        source=ticket.source,
        external_id=ticket.external_id,
        status=TicketStatus.QUEUED,
        priority=Priority(ticket.priority),
        persona=ticket.persona,
        sealed=b"sealed elsewhere",
        mark=b"m",
        data_subjects=ticket.data_subjects,
        position=0,
        received_at=ticket.received_at,
        queued_at=ticket.received_at,
    )
