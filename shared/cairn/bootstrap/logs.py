"""Structured logs: one powertools logger a function, fed by use cases that know no library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.writing.platform import Log


def logger(service: str, level: str) -> Logger:
    """Return the function's logger; it writes JSON lines and never events or bodies."""
    return Logger(service=f"cairn-{service}", level=level, log_uncaught_exceptions=False)


def inform(log: Logger) -> Log:
    """Return what use cases say with what they did: a name and ids, counts or codes."""

    def report(event: str, fields: Mapping[str, Any]) -> None:
        log.info(event, extra=dict(fields))

    return report


def warn(log: Logger) -> Log:
    """Return what use cases report trouble with: a name and ids or codes."""

    def report(event: str, fields: Mapping[str, Any]) -> None:
        log.warning(event, extra=dict(fields))

    return report
