"""A workspace with one locked account and a connector that may unlock it, on the running stack."""

import json
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psutil
from tests.e2e.tenant import Tenant, good, open_workspace, superuser
from tests.plugins.laptop import Laptop
from tests.plugins.waiting import eventually
from tests.support.processes import lives

from cairn.investigations.state import EDGES, RESUMED, State

CONNECTOR = Path(__file__).parents[1] / "support" / "gated_accounts.py"
SCOPES = "read: {allow: ['**']}\nwrite: {allow: ['**']}"
WORKERS = {
    State.CREATED: "plan",
    State.PLANNING: "plan",
    State.RETRIEVING: "retrieve",
    State.SAFETY_CHECK: "act",
    State.WAITING_APPROVAL: "act",
    State.ACTING: "act",
    State.OBSERVING: "audit",
    State.VERDICT: "plan",
    State.WRITING_BACK: "act",
    State.DONE: "audit",
    State.HALTED: "audit",
}
"""Which function runs the step of a state."""

SECONDS = 120.0


@dataclass(frozen=True, kw_only=True)
class Office:
    """The workspace; `folder` is where its connector tells and is told what happens."""

    tenant: Tenant
    folder: Path

    @property
    def laptop(self) -> Laptop:
        return self.tenant.laptop

    def ticket(self) -> str:
        """Somebody is locked out; the ticket's id."""
        given = {
            "external_id": uuid4().hex,
            "title": "Account locked",
            "body": "My account is locked after too many sign-in attempts, please unlock it.",
            "customer": "harbour",
            "requester_email": "ada@harbour.example",
        }
        return self.tenant.post("/v1/tickets", given)["id"]

    def row(self, ticket_id: str) -> dict[str, Any] | None:
        """The ticket's newest investigation as it stands, past every lock."""
        query = """SELECT id, state, run, verdict, error, ended_at FROM investigation
            WHERE workspace_id = %s AND ticket_id = %s ORDER BY id DESC LIMIT 1"""
        with superuser(self.laptop) as root:
            found = root.execute(query, [self.tenant.id, ticket_id]).fetchone()
        names = ("id", "state", "run", "verdict", "error", "ended_at")
        return dict(zip(names, found, strict=True)) if found else None

    def state(self, ticket_id: str) -> State | None:
        row = self.row(ticket_id)
        return State(row["state"]) if row else None

    def reaches(self, ticket_id: str, state: State) -> dict[str, Any]:
        """Wait until its investigation is in a state."""

        def there() -> dict[str, Any] | None:
            row = self.row(ticket_id)
            return row if row is not None and row["state"] == state.value else None

        return eventually(there, seconds=SECONDS, what=f"{state} of {self.row(ticket_id)}")

    def over(self, ticket_id: str) -> dict[str, Any]:
        """Wait until its investigation is closed."""

        def closed() -> dict[str, Any] | None:
            row = self.row(ticket_id)
            return row if row and row["ended_at"] else None

        return eventually(closed, seconds=SECONDS, what=f"the end of {self.row(ticket_id)}")

    def question(self) -> dict[str, Any]:
        """The question that waits, as a person sees it."""

        def asked() -> dict[str, Any] | None:
            pending = self.tenant.get("/v1/approvals", state="pending")["items"]
            return self.tenant.get(f"/v1/approvals/{pending[0]['id']}") if pending else None

        return eventually(asked, seconds=SECONDS, what="a question")

    def approve(self) -> None:
        """Say yes to what waits."""
        asked = self.question()
        given = {"binding": asked["binding"], "reason": "She called."}
        self.tenant.post(f"/v1/approvals/{asked['id']}/approve", given)

    def let_act(self) -> None:
        """Let its agents write without asking."""
        for method, path in (("PATCH", "connectors/accounts"), ("PUT", "personas/default")):
            good(self.tenant.call(method, f"/v1/{path}", json={"autonomy": "act"}))

    def resume(self, investigation_id: UUID) -> None:
        """What `cairn investigations resume` does."""
        self.tenant.post(f"/v1/investigations/{investigation_id}/resume", {})

    def kill_worker(self, state: State) -> list[int]:
        """Kill -9 the workers of the function that runs the step of a state.

        Their connectors end by themselves, once they are orphans, and are waited for.
        """
        function = f"cairn-local-{WORKERS[state]}"
        doomed = [item for pid in self.laptop.worker_pids(function) for item in family(pid)]
        killed = self.laptop.kill_workers(function)
        eventually(lambda: not any(lives(pid) for pid in doomed), what="the deaths")
        return killed

    def waits_with_token(self, ticket_id: str) -> bool:
        """Whether an execution waits for the answer to a pending question."""
        query = """SELECT 1 FROM approval WHERE workspace_id = %s AND ticket_id = %s
            AND state = 'pending' AND task_token IS NOT NULL"""
        with superuser(self.laptop) as root:
            return root.execute(query, [self.tenant.id, ticket_id]).fetchone() is not None

    def ticket_nobody_answered(self) -> str:
        """A ticket whose question is of yesterday, its execution still waiting; its id."""
        ticket = self.ticket()
        self.reaches(ticket, State.WAITING_APPROVAL)
        eventually(lambda: self.waits_with_token(ticket), seconds=SECONDS, what="the token")
        self._let_expire(ticket)
        return ticket

    def _let_expire(self, ticket_id: str) -> None:
        query = """UPDATE approval SET expires_at = now() - interval '1 hour',
            asked_at = now() - interval '25 hours' WHERE workspace_id = %s AND ticket_id = %s"""
        with superuser(self.laptop) as root:
            root.execute(query, [self.tenant.id, ticket_id])

    def sweep(self) -> None:
        """What the schedule does every hour, without waiting for the end of it."""
        self.laptop.client("lambda").invoke(
            FunctionName="cairn-local-audit",
            InvocationType="Event",
            Payload=json.dumps({"step": "sweep_investigations"}),
        )

    def owes_answers(self) -> bool:
        """Whether somebody is about to answer an execution that waits."""
        return self._owes("approval")

    def _owes(self, topic: str) -> bool:
        query = "SELECT 1 FROM outbox WHERE workspace_id = %s AND topic = %s"
        with superuser(self.laptop) as root:
            return root.execute(query, [self.tenant.id, topic]).fetchone() is not None

    def effects(self) -> list[str]:
        """The keys under which the account was really unlocked, once a time."""
        return self._lines("effects")

    def held(self) -> list[str]:
        """Where the connector waits or waited."""
        return self._lines("held")

    def hold(self, where: str) -> None:
        (self.folder / f"hold-{where}").touch()

    def release(self) -> None:
        for gate in self.folder.glob("hold-*"):
            gate.unlink()

    def calls(self, investigation_id: UUID, state: str) -> int:
        """How many calls that write are recorded in a state."""
        query = """SELECT count(*) FROM tool_call WHERE workspace_id = %s AND investigation_id = %s
            AND lane = 'write' AND NOT dry_run AND state = %s"""
        with superuser(self.laptop) as root:
            found = root.execute(query, [self.tenant.id, investigation_id, state]).fetchone()
        return found[0] if found else 0

    def _lines(self, name: str) -> list[str]:
        path = self.folder / name
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def path(self, investigation_id: UUID) -> list[tuple[State, State]]:
        """Its transitions as the ledger has them, in order."""
        query = """SELECT meta::jsonb FROM ledger WHERE workspace_id = %s
            AND type IN ('investigation.moved', 'investigation.resumed') ORDER BY position"""
        with superuser(self.laptop) as root:
            rows = root.execute(query, [self.tenant.id]).fetchall()
        metas = [meta for (meta,) in rows if meta["investigation_id"] == str(investigation_id)]
        return [(State(meta["from"]), State(meta["to"])) for meta in metas]

    def entries(self, type_: str, investigation_id: UUID) -> int:
        """How many entries of a type are about it."""
        query = "SELECT count(*) FROM ledger WHERE workspace_id = %s AND type = %s AND meta LIKE %s"
        about = f"%{investigation_id}%"
        with superuser(self.laptop) as root:
            found = root.execute(query, [self.tenant.id, type_, about]).fetchone()
        return found[0] if found else 0

    def is_whole(self, investigation_id: UUID) -> None:
        """Check what must hold whatever was killed: one path, one end, told once, a good chain.

        A call to a person that is under way is waited for.
        """
        eventually(lambda: not self._owes("escalation"), seconds=SECONDS, what="the call")
        path = self.path(investigation_id)
        assert path[0][0] is State.CREATED
        assert path[-1][1].is_end
        for (_, reached), (left, _) in pairwise(path):
            assert reached is left, path
        for source, target in path:
            assert target in EDGES[source] or target is RESUMED[source], path
        assert self.entries("investigation.ended", investigation_id) == 1
        calls = self.entries("escalation.delivered", investigation_id)
        assert calls <= 1
        assert self.entries("ticket.replied", investigation_id) <= 1 + calls  # a call is a note
        assert self.entries("ticket.status_set", investigation_id) <= 1
        assert self.tenant.chain_holds()


def open_office(laptop: Laptop, folder: Path, *, repeats: bool) -> Office:
    """A new workspace whose connector unlocks once under a key, or at every call it gets."""
    tenant = open_workspace(laptop, "office")
    command = [sys.executable, str(CONNECTOR), str(folder), *(["repeats"] if repeats else [])]
    laptop.allow(command)
    tenant.post(
        "/v1/connectors",
        {"name": "accounts", "command": command, "autonomy": "propose", "scopes": SCOPES},
    )
    return Office(tenant=tenant, folder=folder)


def family(pid: int) -> list[int]:
    """A process and whatever it has started."""
    try:
        return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    except psutil.NoSuchProcess:
        return [pid]


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What the machine tells of the workspace's executions: where the newest is, who died."""

    at: str | None = None
    deaths: int = 0


def machine(office: Office) -> Machine:
    """Look at the histories of the workspace's executions."""
    steps = office.laptop.client("stepfunctions")
    arn = office.laptop.env["CAIRN_INVESTIGATION_MACHINE_ARN"]
    events: list[dict[str, Any]] = []
    found = steps.list_executions(stateMachineArn=arn)["executions"]
    for item in sorted(found, key=lambda each: each["startDate"]):
        told = steps.describe_execution(executionArn=item["executionArn"])
        if json.loads(told["input"])["workspace_id"] == str(office.tenant.id):
            asked = {"executionArn": item["executionArn"], "maxResults": 1000}
            events += steps.get_execution_history(**asked)["events"]
    entered = [event for event in events if event["type"] == "TaskStateEntered"]
    failures = [event.get("taskFailedEventDetails", {}).get("error") for event in events]
    return Machine(
        at=entered[-1]["stateEnteredEventDetails"]["name"] if entered else None,
        deaths=failures.count("Runtime.ExitError"),
    )
