"""What the steps do that need no model, tool or search: digest, report, notify."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from cairn.kernel.access.system import system_principal
from cairn.kernel.text.elements import one_line
from cairn.kernel.text.hashes import sha256
from cairn.reports.write import NewReport, WriteReport
from cairn.workflows.moving import Result
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.items import IdempotencyKey

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.sessions.opening import Opening
    from cairn.workflows.definition import Step
    from cairn.workflows.moving import Opened
    from cairn.workflows.rows import NewNode
    from cairn.writing.platform import Platform

RESULT_CHARS = 700
TEXT_CHARS = 8_000
"""Of what a step gives to the next: a report's body holds it."""

HOURS = 24
NEWEST = 10
NOTHING_NEW = "Nothing is new, and nothing waits."


def subjects_of(stores: Stores, ids: Sequence[UUID]) -> tuple[UUID, ...]:
    """Return whom nodes are about."""
    nodes = stores.graph_nodes.find(ids).values() if ids else ()
    return tuple(sorted({subject for node in nodes for subject in node.data_subjects}))


def whole_lines(lines: Sequence[str]) -> str:
    """Return as many whole lines as fit into TEXT_CHARS."""
    fitting: list[str] = []
    room = TEXT_CHARS
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        fitting.append(line)
    return "\n".join(fitting)


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What is new since a moment: how many by label, and the most important memories."""

    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    newest: tuple[NewNode, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SumUp:
    """Says by rules what is new, what is open and what waits for a person."""

    platform: Platform
    opening: Callable[[Principal], Opening]

    def __call__(self, opened: Opened, step: Step) -> Result:
        """Return it as lines, and whom they are about."""
        principal = system_principal(opened.workspace_id)
        hours = step.hours or HOURS
        since = self.platform.clock() - timedelta(hours=hours)
        client = opened.run.client_id
        with self.platform.transactions.reading(principal) as stores:
            news = news_since(stores, since, client)
        waits = None if client else self.opening(principal)
        text = whole_lines(digest_lines(news, waits, hours)) or NOTHING_NEW
        about = {subject for node in news.newest for subject in node.data_subjects}
        if waits is not None:
            with self.platform.transactions.reading(principal) as stores:
                about |= {*subjects_of(stores, [task.id for task in waits.tasks])}
        count = sum(news.counts.values())
        return Result(output={"text": text, "count": count}, about=tuple(sorted(about)))


def news_since(stores: Stores, since: datetime, client: str | None) -> News:
    """Return what was written since a moment, of one client and of everybody's where named."""
    after = stores.ledger.position_at(since)
    clients = [GLOBAL_CLIENT, client] if client else None
    return News(
        counts=stores.workflows.counts(after, clients),
        newest=tuple(stores.workflows.newest(after, clients, NEWEST)),
    )


def digest_lines(news: News, waits: Opening | None, hours: int) -> list[str]:
    """Return what is new and what waits, a heading before each part that has anything."""
    lines: list[str] = []
    if news.counts:
        counts = ", ".join(f"{count} {label}" for label, count in sorted(news.counts.items()))
        lines.append(f"New in the last {hours} hours: {counts}.")
    if news.newest:
        lines.append("What matters most of it:")
        lines += [
            f"- {one_line(node.text)[:RESULT_CHARS]} [memory:{node.id}]" for node in news.newest
        ]
    if waits is not None and waits.tasks:
        lines.append("Open tasks:")
        lines += [f"- [{task.status}] {one_line(task.title)}" for task in waits.tasks]
    if waits is not None and waits.alerts:
        lines.append("Waiting for a person:")
        lines += [f"- {alert.kind}: {one_line(alert.text)}" for alert in waits.alerts]
    return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportStep:
    """Writes a report, once: its key follows from the run and the step."""

    write: WriteReport

    def __call__(self, opened: Opened, step: Step) -> Result:
        """Return where the report is."""
        run = opened.run
        name = f"workflow-{run.id}-{step.name}"
        written = self.write(
            system_principal(opened.workspace_id),
            NewReport(
                title=step.title or "",
                body=step.body or "",
                keywords=step.keywords or (),
                source_workflow=run.workflow,
                occurred_at=run.created_at,
                client_id=run.client_id or GLOBAL_CLIENT,
                about=run.data_subjects,
            ),
            idempotency=IdempotencyKey(key=name, body_hash=sha256(name.encode())),
        )
        output = {"id": str(written.id), "title": step.title or ""}
        return Result(output=output, report_id=written.id)


def notify(opened: Opened, step: Step) -> Result:
    """Return what webhooks are told of: their event is made of the result's entry."""
    return Result(output={"message": step.message or ""})
