"""The dispatcher of a process: outbox rows to queues, machines, and those that wait for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from cairn.adapters.aws.dispatch import AwsDispatcher
from cairn.adapters.postgres.sweeping import ClaimOutbox
from cairn.bootstrap.lazy import lazy
from cairn.kernel.clock import utc_now
from cairn.writing.ports import Dispatcher, Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cairn.adapters.postgres.database import Database
    from cairn.investigations.run.resume import Answer, Resume
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.writing.ports import OutboxRow


class Wakes(Dispatcher, Protocol):
    """Sends what was committed: now, and what was left behind."""

    def sweep(self) -> int:
        """Send what was never sent, or not finished in time; return how many rows."""
        ...


class MachineSettings(Protocol):
    """The machines that requests wake."""

    @property
    def ingestion_machine_arn(self) -> str: ...
    @property
    def consolidation_machine_arn(self) -> str: ...
    @property
    def rebuild_machine_arn(self) -> str: ...
    @property
    def workflow_machine_arn(self) -> str: ...


def machines_of(settings: MachineSettings) -> dict[str, str]:
    """Return the machines' ARNs by the topic that wakes them."""
    return {
        Topic.INGESTION: settings.ingestion_machine_arn,
        Topic.CONSOLIDATION: settings.consolidation_machine_arn,
        Topic.REBUILD: settings.rebuild_machine_arn,
        Topic.WORKFLOW: settings.workflow_machine_arn,
    }


class QueueSettings(Protocol):
    """The queues that writes wake."""

    @property
    def embed_queue_url(self) -> str: ...
    @property
    def webhook_queue_url(self) -> str: ...


def queues_of(settings: QueueSettings) -> dict[str, str]:
    """Return the queues' URLs by the topic that wakes them."""
    return {
        Topic.EMBED: settings.embed_queue_url,
        Topic.ASSIGNMENT: settings.embed_queue_url,  # whose reader has the embedder
        Topic.WEBHOOK: settings.webhook_queue_url,
    }


class InvestigationSettings(QueueSettings, Protocol):
    """And what investigations wake."""

    @property
    def ticket_queue_url(self) -> str: ...
    @property
    def escalation_queue_url(self) -> str: ...
    @property
    def channel_queue_url(self) -> str: ...
    @property
    def investigation_machine_arn(self) -> str: ...


def investigation_queues_of(settings: InvestigationSettings) -> dict[str, str]:
    """Return the queues' URLs by the topic that wakes them, those of investigations too."""
    return queues_of(settings) | {
        Topic.TICKET: settings.ticket_queue_url,
        Topic.ESCALATION: settings.escalation_queue_url,
        Topic.CHANNEL: settings.channel_queue_url,
    }


def investigation_machine_of(settings: InvestigationSettings) -> dict[str, str]:
    """Return the ARN of the machine of investigations by its topic."""
    return {Topic.INVESTIGATION: settings.investigation_machine_arn}


def dispatcher(
    queues: Mapping[str, str],
    machines: Mapping[str, str],
    opened: Database,
    transactions: Transactions[Stores],
    report: Callable[[str, dict[str, Any]], None],
    resume: Resume | None = None,
) -> AwsDispatcher:
    """Return a dispatcher that nothing has armed yet; URLs and ARNs are by topic.

    Who can start investigations also answers those that wait for people, and by `resume` goes on
    with those whose execution is gone.
    """
    answers = Topic.INVESTIGATION in machines
    topics = {*queues, *machines, *([Topic.APPROVAL] if answers else [])}
    return AwsDispatcher(
        queues=queues,
        machines=machines,
        transactions=transactions,
        claim=ClaimOutbox(opened, sorted(topics)),
        clock=utc_now,
        log=report,
        answer=lazy(lambda: _answers(opened)) if answers else None,
        again=_again(resume) if resume is not None else None,
    )


def _again(resume: Resume) -> Callable[[OutboxRow], object]:
    return lambda row: row.reference and resume.decided(row.workspace_id, row.reference)


def _answers(opened: Database) -> Callable[[OutboxRow], Answer | None]:
    from cairn.adapters.postgres.store_transactions import StoreTransactions
    from cairn.investigations.run.resume import answer_to

    transactions = StoreTransactions(opened)
    return lambda row: answer_to(transactions, row)
