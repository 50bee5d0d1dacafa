"""The dispatcher of a process: outbox rows to the embed queue and the machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from cairn.clock import utc_now
from cairn.ingestion.ports import Topic
from cairn.storage.aws.dispatch import AwsDispatcher
from cairn.storage.postgres.sweeping import ClaimOutbox

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cairn.ingestion.ports import WriteStores
    from cairn.storage.postgres.database import Database
    from cairn.transaction import Transactions


class MachineSettings(Protocol):
    """The machines that requests wake."""

    @property
    def ingestion_machine_arn(self) -> str: ...
    @property
    def consolidation_machine_arn(self) -> str: ...
    @property
    def rebuild_machine_arn(self) -> str: ...


def machines_of(settings: MachineSettings) -> dict[str, str]:
    """Return the machines' ARNs by the topic that wakes them."""
    return {
        Topic.INGESTION: settings.ingestion_machine_arn,
        Topic.CONSOLIDATION: settings.consolidation_machine_arn,
        Topic.REBUILD: settings.rebuild_machine_arn,
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
        Topic.WEBHOOK: settings.webhook_queue_url,
    }


def dispatcher(
    queues: Mapping[str, str],
    machines: Mapping[str, str],
    opened: Database,
    transactions: Transactions[WriteStores],
    report: Callable[[str, dict[str, Any]], None],
) -> AwsDispatcher:
    """Return a dispatcher that nothing has armed yet; URLs and ARNs are by topic."""
    return AwsDispatcher(
        queues=queues,
        machines=machines,
        transactions=transactions,
        claim=ClaimOutbox(opened),
        clock=utc_now,
        log=report,
    )
