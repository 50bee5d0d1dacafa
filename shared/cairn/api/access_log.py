"""The structured log the API writes to by default: one JSON line an event, on standard output."""

from collections.abc import Mapping

from aws_lambda_powertools import Logger

from cairn.api.middleware import Log


def structured_log(level: str = "INFO") -> Log:
    """Return a `Log` over the powertools logger, which adds time, level and service."""
    logger = Logger(service="cairn-api", level=level)

    def write(event: str, fields: Mapping[str, object]) -> None:
        if event == "unexpected":
            logger.error(event, extra=dict(fields))
        else:
            logger.info(event, extra=dict(fields))

    return write
