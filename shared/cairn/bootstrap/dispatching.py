"""The dispatcher of a process: outbox rows to the embed queue and the ingestion machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.clock import utc_now
from cairn.storage.aws.dispatch import AwsDispatcher
from cairn.storage.postgres.sweeping import ClaimOutbox

if TYPE_CHECKING:
    from collections.abc import Callable

    from cairn.ingestion.ports import WriteStores
    from cairn.storage.postgres.database import Database
    from cairn.transaction import Transactions


def dispatcher(
    queue_url: str,
    machine_arn: str | None,
    opened: Database,
    transactions: Transactions[WriteStores],
    report: Callable[[str, dict[str, Any]], None],
) -> AwsDispatcher:
    """Return a dispatcher that nothing has armed yet."""
    return AwsDispatcher(
        queue_url=queue_url,
        machine_arn=machine_arn,
        transactions=transactions,
        claim=ClaimOutbox(opened),
        clock=utc_now,
        log=report,
    )
