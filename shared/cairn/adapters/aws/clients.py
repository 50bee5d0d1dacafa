"""boto3 clients, made on first use: importing boto3's services costs more than most requests."""

from functools import cache
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable


@cache
def aws_client(service: str, region: str | None = None) -> Any:
    """Return the process's client of a service, with short timeouts and standard retries.

    In the process's own region unless another is asked for.
    """
    import boto3
    from botocore.config import Config

    make = cast("Callable[..., Any]", boto3.client)  # pyright: ignore[reportUnknownMemberType]
    config = Config(
        connect_timeout=3,
        read_timeout=20,
        retries={"mode": "standard", "max_attempts": 3},
        s3={"addressing_style": "path"},
        signature_version="s3v4" if service == "s3" else None,
    )
    return make(service, config=config, region_name=region)
