"""The structured log the API writes to by default: one JSON line an event, on standard output."""

import sys
from collections.abc import Mapping
from typing import IO

from aws_lambda_powertools import Logger

from cairn.api.middleware import Log


def structured_log(level: str = "INFO", *, stream: IO[str] | None = None) -> Log:
    """Return a `Log` over the powertools logger, which adds time, level and service.

    Lines go to `stream`, standard output without one.
    """
    logger = Logger(
        service="cairn-api", level=level, utc=True, use_rfc3339=True, stream=stream or sys.stdout
    )

    def write(event: str, fields: Mapping[str, object]) -> None:
        if event == "unexpected":
            logger.error(event, extra=dict(fields))
        else:
            logger.info(event, extra=dict(fields))

    return write
