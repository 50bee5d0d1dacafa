"""Checks AWS Signature Version 4 of a request, with botocore's own signer. It knows no service.

Botocore signs what it sends; here the same code signs what came, with the headers that the request
says it signed, and both signatures must be equal.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

SKEW = timedelta(minutes=5)
LONGEST_PRESIGNED = 7 * 24 * 3600
TIMESTAMP = "%Y%m%dT%H%M%SZ"
BODY_HASH = "x-amz-content-sha256"
SHA256 = re.compile(r"[0-9a-f]{64}")
AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<credential>[^,\s]+),\s*"
    r"SignedHeaders=(?P<signed>[a-z0-9;_-]+),\s*Signature=(?P<signature>[0-9a-f]{64})"
)
CREDENTIAL = re.compile(
    r"(?P<key>[A-Za-z0-9]+)/(?P<day>\d{8})/(?P<region>[a-z0-9-]+)/(?P<service>[a-z0-9-]+)"
    r"/aws4_request"
)
UNSIGNED = frozenset(
    ["accept", "accept-encoding", "amz-sdk-invocation-id", "amz-sdk-request", "authorization",
     "connection", "content-length", "expect", "transfer-encoding", "user-agent",
     "x-amzn-trace-id"]
)  # fmt: skip
"""What a client may leave out of its signature; nothing here changes what is done."""


class Refused(Exception):
    """A request that may not pass; the message says why and holds nothing of the request."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request as it came: the path as it was sent, names of headers in lower case."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a request says of its signature. `expires_in` is there for a presigned URL only."""

    access_key: str
    timestamp: str
    region: str
    service: str
    signed: frozenset[str]
    signature: str
    token: str = ""
    expires_in: int | None = None


def read_claim(request: Request) -> Claim:
    """Return what the request says of its signature; Refused when it has none, or two."""
    parameters = dict(parse_qsl(request.query, keep_blank_values=True))
    if "X-Amz-Signature" not in parameters:
        return _header_claim(request.headers)
    if "authorization" in request.headers or len(parse_qsl(request.query)) != len(parameters):
        raise Refused("a request is signed once")
    if parameters.get("X-Amz-Algorithm") != "AWS4-HMAC-SHA256":
        raise Refused("only AWS4-HMAC-SHA256 is accepted")
    expires = parameters.get("X-Amz-Expires", "")
    if not re.fullmatch(r"\d{1,6}", expires):
        raise Refused("a presigned URL says when it expires")
    return _claim(
        parameters.get("X-Amz-Credential", ""),
        timestamp=parameters.get("X-Amz-Date", ""),
        signed=parameters.get("X-Amz-SignedHeaders", ""),
        signature=parameters["X-Amz-Signature"],
        token=parameters.get("X-Amz-Security-Token", ""),
        expires_in=int(expires),
    )


def check_time(claim: Claim, now: datetime) -> None:
    """Refuse what was signed too long ago, or in the future."""
    try:
        signed_at = datetime.strptime(claim.timestamp, TIMESTAMP).replace(tzinfo=UTC)
    except ValueError as exc:
        raise Refused("the request has no date of the form 20261122T100000Z") from exc
    lifetime = SKEW
    if claim.expires_in is not None:
        lifetime = timedelta(seconds=min(claim.expires_in, LONGEST_PRESIGNED))
    if signed_at > now + SKEW or now > signed_at + lifetime:
        raise Refused("the signature is too old, or of the future: is the clock right?")


def check_coverage(request: Request, claim: Claim) -> None:
    """Refuse headers that somebody could have added or changed after the signing."""
    if "host" not in claim.signed or not claim.signed <= request.headers.keys():
        raise Refused("the signature does not cover the Host, or covers what was not sent")
    present = request.headers.keys()
    if claim.expires_in is not None:  # a browser adds its own
        present = {name for name in present if name.startswith("x-amz-")}
    if uncovered := present - UNSIGNED - claim.signed:
        raise Refused(f"the signature does not cover {sorted(uncovered)}")


def check_path(request: Request, claim: Claim) -> None:
    """Refuse a path that is signed as another: S3's are signed as sent, others in normal form."""
    segments = request.path.split("/")[1:]
    if claim.service != "s3" and ({".", ".."} & {*segments} or "" in segments[:-1]):
        raise Refused("the path is not in its normal form")


def check_signature(request: Request, claim: Claim, secret: str, body_hash: str = "") -> None:
    """Refuse unless `secret` makes the same signature; a presigned URL signs no body."""
    signer = _signer(claim, secret)
    url = f"http://{request.headers['host']}{request.path}"
    query = [pair for pair in request.query.split("&") if not pair.startswith("X-Amz-Signature=")]
    signed = AWSRequest(
        method=request.method,
        url=f"{url}?{'&'.join(query)}" if request.query else url,
        headers={name: request.headers[name] for name in claim.signed},
    )
    signed.context["timestamp"] = claim.timestamp
    if claim.expires_in is None:
        signer.payload = partial(_stated_body_hash, body_hash)
    text = signer.string_to_sign(signed, signer.canonical_request(signed))
    if not hmac.compare_digest(signer.signature(text, signed), claim.signature):
        raise Refused("the signature is not of this stack's credentials, or of another request")


def check_body(claimed: str, body: bytes) -> None:
    """Refuse a body that is not the one whose hash was signed."""
    if hashlib.sha256(body).hexdigest() != claimed:
        raise Refused("the body is not the one that was signed")


def _stated_body_hash(body_hash: str, _request: AWSRequest) -> str:
    return body_hash


def _signer(claim: Claim, secret: str) -> Any:
    kinds = {True: S3SigV4Auth, False: SigV4Auth}
    kind = kinds[claim.service == "s3"] if claim.expires_in is None else S3SigV4QueryAuth
    return kind(Credentials(claim.access_key, secret), claim.service, claim.region)


def _header_claim(headers: Mapping[str, str]) -> Claim:
    match = AUTHORIZATION.fullmatch(headers.get("authorization", ""))
    if match is None:
        raise Refused("the request is not signed with this stack's credentials")
    return _claim(
        match["credential"],
        timestamp=headers.get("x-amz-date", ""),
        signed=match["signed"],
        signature=match["signature"],
        token=headers.get("x-amz-security-token", ""),
    )


def _claim(
    credential: str,
    *,
    timestamp: str,
    signed: str,
    signature: str,
    token: str,
    expires_in: int | None = None,
) -> Claim:
    scope = CREDENTIAL.fullmatch(credential)
    if scope is None or not SHA256.fullmatch(signature) or scope["day"] != timestamp[:8]:
        raise Refused("the credential scope is not of the request's date")
    return Claim(
        access_key=scope["key"],
        timestamp=timestamp,
        region=scope["region"],
        service=scope["service"],
        signed=frozenset(signed.split(";")),
        signature=signature,
        token=token,
        expires_in=expires_in,
    )
