"""The part of `cairn demo` with agents: three tickets of a made-up company, worked to their end.

Its own database, with users, sign-ins, deliveries and invoices, is made anew on the same server;
connectors reach it as any customer's. A person's yes is given by the demo itself, and shown.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchmarks.endpoints import NOBODY, customers_endpoints
from benchmarks.samples import SAMPLES
from cairn.cli.client import Failure
from cairn.cli.investigations import KINDS, begun
from cairn.kernel.clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from rich.text import Text

    from cairn.cli.deps import Deps

DATABASE = "harbourlane"
LOGINS = {"harbourlane_desk": "accounts_connector", "harbourlane_shop": "shop_reader"}
"""Logins of its database, by the roles its scripts make."""

RUNBOOKS = ("locked-accounts.md", "webhooks.md", "billing.md")
POLL_SECONDS = 0.3
WAIT_SECONDS = 180.0
PENDING = "pending"
APPROVED_BECAUSE = "The demo plays the person who looks at the evidence and agrees."

TICKETS: Sequence[Mapping[str, str]] = (
    {
        "title": "Cannot sign in",
        "body": "Since this morning the portal says my account is locked. I mistyped my password "
        "a few times. Payroll is due today, please help.",
        "requester_email": "marta.lindqvist@harbourlane.example",
        "customer": "Harbour Lane",
        "priority": "high",
    },
    {
        "title": "Webhook deliveries failing",
        "body": "Our webhook endpoint has received no order events since this morning.",
        "requester_email": "owen.adeyemi@harbourlane.example",
        "customer": "Harbour Lane",
    },
    {
        "title": "Charged twice",
        "body": "We were charged twice, see INV-1041 and INV-1042. Please refund one of them.",
        "requester_email": "grace.okafor@harbourlane.example",
        "customer": "Harbour Lane",
    },
)

_DRAWN = KINDS.keys() - {"state", "message"}
"""Kinds of steps that are drawn; the rest is for `investigations watch`."""


def runbooks() -> list[Path]:
    """Return the documents that agents find their way by."""
    return [SAMPLES / "tickets" / "runbooks" / name for name in RUNBOOKS]


def can_work(deps: Deps) -> bool:
    """Return whether there is a machine for investigations, and a server for a customer's data."""
    return bool(deps.settings.investigation_machine_arn and deps.owner_url)


@contextmanager
def opening(deps: Deps) -> Generator[Desk | None]:
    """Yield the desk, whose connectors are being registered meanwhile; None where there is none."""
    if not can_work(deps):
        yield None
        return
    with customers_endpoints() as endpoints, ThreadPoolExecutor(1) as aside:
        yield Desk(deps=deps, connected=aside.submit(_connect, deps, endpoints))


def _connect(deps: Deps, endpoints: str) -> None:
    """Make the customer's database anew and register what reaches it, or give it the new keys."""
    from benchmarks.sample_customer import sample_customer

    files = ("accounts/schema.sql", "accounts/demo.sql", "tickets/people.sql", "tickets/shop.sql")
    scripts = [(SAMPLES / name).read_text(encoding="utf-8") for name in files]
    scripts[-1] = scripts[-1].replace(NOBODY, endpoints)
    customer = sample_customer(deps.owner_url or "", DATABASE, scripts, LOGINS)
    desk, shop = (customer.logins[login] for login in LOGINS)
    wanted: Sequence[Mapping[str, Any]] = (
        {
            "name": "accounts",
            "secrets": {"dsn": desk},
            "scopes": 'read: {allow: ["*", "users/{id}/sign_ins"]}\n'
            'write: {allow: ["users/{id}/unlock"]}',
            "autonomy": "propose",
        },
        {
            "name": "postgres",
            "config": {"schemas": ["shop"]},
            "secrets": {"dsn": shop},
            "scopes": 'read: {allow: ["*"]}',
            "autonomy": "investigate",
        },
        {
            "name": "http",
            "config": {"rules": [{"url": f"{endpoints}/*"}], "allow_private": True},
            "scopes": 'read: {allow: ["*"]}',
            "autonomy": "investigate",
        },
    )
    known = {item["name"] for item in deps.client.get("/v1/connectors")["items"]}
    with ThreadPoolExecutor(len(wanted)) as pool:
        begun = [pool.submit(_register, deps, item, item["name"] in known) for item in wanted]
    for item in begun:
        item.result()


def _register(deps: Deps, wanted: Mapping[str, Any], known: bool) -> None:
    name = wanted["name"]
    if known:
        change = {key: value for key, value in wanted.items() if key != "name"}
        found = deps.client.patch(f"/v1/connectors/{name}", change)
    else:
        found = deps.client.post("/v1/connectors", {**wanted, "builtin": name})
    if found["error"]:
        raise Failure(
            f"The connector {name} does not start: {found['error']}.",
            advice=f"see why: cairn connectors check {name}",
        )


@dataclass(kw_only=True)
class Desk:
    """The three tickets on their way. `draw` says whether their steps are printed."""

    deps: Deps
    connected: Future[None]
    draw: bool = False
    tickets: list[str] = field(default_factory=list[str])
    found: dict[str, str] = field(default_factory=dict[str, str])
    after: dict[str, int] = field(default_factory=dict[str, int])
    ended: set[str] = field(default_factory=set[str])
    answered: list[dict[str, Any]] = field(default_factory=list["dict[str, Any]"])

    def file(self) -> None:
        """File the tickets: agents take them up while something else is done."""
        with self.deps.err.status("a made-up company's database, and connectors to it …"):
            self.connected.result()
        begun = utc_now().strftime("%Y%m%d%H%M%S")
        for number, ticket in enumerate(TICKETS, start=1):
            made = self.deps.client.post(
                "/v1/tickets", {**ticket, "external_id": f"demo-{begun}-{number}"}
            )
            self.tickets.append(made["id"])

    def work(self, *, draw: bool) -> list[dict[str, Any]]:
        """Follow and answer; return each ticket with its investigation and its replies."""
        self.draw = draw
        if not self.tickets:
            self.file()
        self._say_who()
        self._follow()
        return [self._told(ticket) for ticket in self.tickets]

    def _say_who(self) -> None:
        if not self.draw:
            return
        self.deps.out.print("\n[bold]Three tickets of a made-up company, worked by agents[/]")
        for number, ticket in enumerate(TICKETS, start=1):
            self.deps.out.print(f"  [bold]{number}[/] {ticket['title']}: {ticket['body']}")
        self.deps.out.print()

    def _follow(self) -> None:
        started = self.deps.stopwatch()
        while len(self.ended) < len(self.tickets):
            if self.deps.stopwatch() - started > WAIT_SECONDS:
                raise Failure(
                    "The investigations take too long.",
                    advice="see where they are: cairn investigations list",
                )
            for number, ticket in enumerate(self.tickets, start=1):
                if ticket not in self.ended:
                    self._look(number, ticket)
            self._answer()
            self.deps.sleep(POLL_SECONDS)

    def _look(self, number: int, ticket: str) -> None:
        """Draw what is new of a ticket's investigation."""
        if ticket not in self.found:
            items = self.deps.client.get("/v1/investigations", ticket_id=ticket, limit=1)["items"]
            if not items:
                return
            self.found[ticket] = items[0]["id"]
        path = f"/v1/investigations/{self.found[ticket]}/steps"
        page = self.deps.client.get(path, after=self.after.get(ticket, 0), limit=100)
        self.after[ticket] = page["after"]
        for step in page["items"]:
            self._draw(number, step)
        if page["ended"]:
            self.ended.add(ticket)

    def _answer(self) -> None:
        """Show what waits for a person, and say yes to it."""
        waiting = self.deps.client.get("/v1/approvals", state=PENDING, limit=50)["items"]
        for item in waiting:
            if item["investigation_id"] not in self.found.values():
                continue
            shown = self.deps.client.get(f"/v1/approvals/{item['id']}")
            self._show_question(shown)
            body = {"binding": shown["binding"], "reason": APPROVED_BECAUSE}
            self.answered.append(self.deps.client.post(f"/v1/approvals/{item['id']}/approve", body))

    def _show_question(self, one: Mapping[str, Any]) -> None:
        if not self.draw:
            return
        from rich.markup import escape
        from rich.panel import Panel

        given = ", ".join(f"{name} = {value}" for name, value in one["arguments"].items())
        lines = [
            f"[bold]{escape(one['tool'])}[/]({escape(given)})",
            f"why    {escape(one['why'])}",
            f"rule   {escape(one['rule'])}: {escape(one['detail'])}",
            f"undo   {escape(one['rollback'] or 'nothing undoes this')}",
            *(f"[dim]{escape(each['citation'])}[/]" for each in one["evidence"]),
            f"[dim]cairn approvals approve {one['id']}[/]  → the demo says yes",
        ]
        panel = Panel("\n".join(lines), title="an approval waits", border_style="yellow")
        self.deps.out.print(panel)

    def _draw(self, number: int, step: Mapping[str, Any]) -> None:
        if self.draw and step["kind"] in _DRAWN:
            self.deps.out.print(_line(number, step), no_wrap=True, overflow="ellipsis", crop=True)

    def _told(self, ticket: str) -> dict[str, Any]:
        shown = self.deps.client.get(f"/v1/tickets/{ticket}")
        mine = [item for item in self.answered if item["investigation_id"] == self.found[ticket]]
        return {
            "id": ticket,
            "title": shown["title"],
            "status": shown["status"],
            "investigation": self.found[ticket],
            "replies": [reply["text"] for reply in shown["replies"]],
            "approvals": len(mine),
        }


def show_tickets(deps: Deps, worked: Sequence[Mapping[str, Any]]) -> None:
    """Print what was written back to each ticket, and where to look on."""
    from rich.markup import escape

    for number, one in enumerate(worked, start=1):
        colour = "green" if one["status"] == "auto_resolved" else "yellow"
        title = escape(one["title"])
        deps.out.print(f"\n[bold]{number} {title}[/] → [{colour}]{one['status']}[/]")
        for reply in one["replies"]:
            for line in filter(None, str(reply).splitlines()):
                deps.out.print(f"  {escape(line)}", style="dim" if "[" not in line else "")
        deps.out.print(f"  [dim]cairn investigations show {one['investigation']}[/]")


def went_well(worked: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the tickets ended as this story ends."""
    wanted = ["auto_resolved", "needs_tech", "needs_l2"]
    return [item["status"] for item in worked] == wanted and all(item["replies"] for item in worked)


def _line(number: int, step: Mapping[str, Any]) -> Text:
    """Return a step in one line: which ticket, when, who, what."""
    from rich.text import Text

    said = " ".join(str(step["detail"] or "").split())
    line = Text()
    line.append(f"{number} ", style="bold")
    return line.append_text(begun(step)).append(said)
