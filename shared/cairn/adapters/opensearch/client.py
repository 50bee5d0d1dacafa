"""The connection to OpenSearch, and its errors in Cairn's words. No queries here."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cairn.kernel.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Generator

    from opensearchpy import OpenSearch

TIMEOUT_SECONDS = 5.0
CONNECTIONS = 10
UNAVAILABLE = 503
TOO_MANY = 429


class Connection:
    """One OpenSearch endpoint, connected to when first used.

    `url` may hold a user and a password. `auth` iam signs each request with the AWS credentials
    of the process (SigV4). Nothing is retried: who asks knows better what to do instead.
    """

    def __init__(self, url: str, *, auth: str = "none") -> None:
        self._url = url
        self._auth = auth

    @cached_property
    def client(self) -> OpenSearch:
        """The client; its import is a good part of a second on a cold start."""
        from opensearchpy import OpenSearch

        logging.getLogger("opensearch").setLevel(logging.ERROR)  # it warns of what we report
        signed = {"http_auth": _signer()} if self._auth == "iam" else {}
        return OpenSearch(
            hosts=[self._url],
            timeout=TIMEOUT_SECONDS,
            max_retries=0,
            retry_on_timeout=False,
            retry_on_status=(),
            http_compress=True,
            pool_maxsize=CONNECTIONS,
            **signed,
        )


def _signer() -> Any:
    import boto3
    from opensearchpy import Urllib3AWSV4SignerAuth

    session = boto3.Session()
    return Urllib3AWSV4SignerAuth(session.get_credentials(), session.region_name, "es")


@contextmanager
def translated() -> Generator[None]:
    """Turn what the client raises into Unavailable; its reason is one word for `meta.degraded`."""
    from opensearchpy import exceptions

    try:
        yield
    except exceptions.ConnectionTimeout as error:
        raise Unavailable("OpenSearch did not answer in time.", reason="timed-out") from error
    except exceptions.ConnectionError as error:
        raise Unavailable("OpenSearch cannot be reached.", reason="unreachable") from error
    except exceptions.NotFoundError as error:
        raise Unavailable("OpenSearch has no such index.", reason="no-index") from error
    except exceptions.TransportError as error:
        raise Unavailable("OpenSearch refused the request.", reason=_reason(error)) from error
    except exceptions.OpenSearchException as error:
        raise Unavailable("OpenSearch's answer is unreadable.", reason="unreadable") from error


def _reason(error: Any) -> str:
    reasons = {TOO_MANY: "busy", UNAVAILABLE: "red"}
    return reasons.get(error.status_code, "refused")
