"""The guard before the AWS emulator: an ASGI application that lets in whom the stack knows.

The emulator itself listens to everybody. Any web page and any user of this machine can reach a port
of 127.0.0.1, so a request passes only when it names that address, comes from no web page, and is
signed with the stack's own credentials. Two exceptions: the HTTP API, which checks keys itself, and
presigned uploads from pages of Cairn's own API.
"""

import hashlib
import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from infra.local.signatures import (
    BODY_HASH,
    SHA256,
    Claim,
    Refused,
    Request,
    check_body,
    check_coverage,
    check_path,
    check_signature,
    check_time,
    read_claim,
)

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

HTTP_API = "/_aws/execute-api/"
LARGEST_UNHASHED = 64 * 1024 * 1024
"""Bytes of a body that is read before its signature can be checked; uploads sign a hash."""


@dataclass(frozen=True, kw_only=True)
class Guard:
    """`find_secret` gives the secret of an access key and session token, None when unknown."""

    app: Application
    port: int
    upload_origin: str
    find_secret: Callable[[str, str], str | None]
    now: Callable[[], datetime]

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        try:
            request = read_request(scope)
            await self._admit(request, scope, receive, send)
        except Refused as refusal:
            await _answer(send, 403, str(refusal))

    async def _admit(self, request: Request, scope: Message, receive: Receive, send: Send) -> None:
        hosts = {f"127.0.0.1:{self.port}", f"localhost:{self.port}"}
        if request.headers.get("host") not in hosts or not request.path.startswith("/"):
            raise Refused("the Host is not this emulator's address")
        if "origin" in request.headers:
            await self._admit_page(request, scope, receive, send)
        elif request.path.startswith(HTTP_API) and _is_plain(request):
            await self.app(scope, receive, _without_cors(send))
        else:
            claim = self._read_claim(request)
            if claim.expires_in is None:
                receive = await self._check_all(request, claim, receive)
            else:
                self._check_upload(request, claim)
            await self.app(scope, receive, _without_cors(send))

    async def _admit_page(
        self, request: Request, scope: Message, receive: Receive, send: Send
    ) -> None:
        """Let a page of the API upload to a presigned URL, and its browser ask whether it may."""
        if request.headers["origin"] != self.upload_origin:
            raise Refused("web pages have no business here")
        claim = self._read_claim(request)
        if request.method == "OPTIONS":
            self._check_preflight(request, claim)
            await _answer(send, 204, "", _preflight_headers(self.upload_origin))
            return
        self._check_upload(request, claim)
        await self.app(scope, receive, _without_cors(send, allowed=self.upload_origin))

    def _read_claim(self, request: Request) -> Claim:
        claim = read_claim(request)
        check_time(claim, self.now())
        check_path(request, claim)
        return claim

    async def _check_all(self, request: Request, claim: Claim, receive: Receive) -> Receive:
        """Check the signature and the body; a hash that was signed is checked before the body."""
        check_coverage(request, claim)
        secret, claimed = self._secret(claim), request.headers.get(BODY_HASH)
        if claimed is not None:
            if not SHA256.fullmatch(claimed):
                raise Refused("the body must be signed by its hash")
            check_signature(request, claim, secret, claimed)
            body = await read_body(receive)
            check_body(claimed, body)
        else:
            body = await read_body(receive, limit=LARGEST_UNHASHED)
            check_signature(request, claim, secret, hashlib.sha256(body).hexdigest())
        return _replay(body, receive)

    def _check_upload(self, request: Request, claim: Claim) -> None:
        if claim.expires_in is None or claim.service != "s3" or request.method != "PUT":
            raise Refused("only an upload may come with a presigned URL")
        check_coverage(request, claim)
        check_signature(request, claim, self._secret(claim))

    @staticmethod
    def _check_preflight(request: Request, claim: Claim) -> None:
        """Let the browser ask; it sends none of the headers that the upload signs."""
        method = request.headers.get("access-control-request-method")
        if claim.expires_in is None or claim.service != "s3" or method != "PUT":
            raise Refused("only an upload may come with a presigned URL")

    def _secret(self, claim: Claim) -> str:
        secret = self.find_secret(claim.access_key, claim.token)
        if not secret:
            raise Refused("the credentials are not this stack's")
        return secret


def read_request(scope: Message) -> Request:
    """Return the request line and headers; Refused when a header came twice, as nobody sends it."""
    headers: dict[str, str] = {}
    path = scope["raw_path"].decode("latin-1")
    for name, value in scope["headers"]:
        key = name.decode("latin-1").lower()
        if key in headers and not path.startswith(HTTP_API):
            raise Refused(f"the header {key} came twice")
        headers[key] = value.decode("latin-1") if key not in headers else headers[key]
    return Request(
        method=scope["method"],
        path=path,
        query=scope["query_string"].decode("latin-1"),
        headers=headers,
    )


async def read_body(receive: Receive, limit: int | None = None) -> bytes:
    """Return the whole body; Refused when it is larger than `limit` or its sender went away."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Refused("the body did not come whole")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if limit is not None and size > limit:
            raise Refused("the body is too large for a signature without its hash")
        if not message.get("more_body", False):
            return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body that was read, then what comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return replayed


def _is_plain(request: Request) -> bool:
    """Return whether nothing in a request to the HTTP API speaks to AWS."""
    names = [name for name, _ in parse_qsl(request.query, keep_blank_values=True)]
    signed = request.headers.get("authorization", "").startswith("AWS4")
    return not signed and not any(
        name.lower().startswith("x-amz-") for name in [*request.headers, *names]
    )


def _without_cors(send: Send, allowed: str = "") -> Send:
    """Return a `send` that takes back the emulator's leave to every page; `allowed` may read it."""

    async def filtered(message: Message) -> None:
        if message["type"] == "http.response.start":
            others = [
                (name, value)
                for name, value in message.get("headers", [])
                if not name.lower().startswith(b"access-control-")
            ]
            extra = [(b"access-control-allow-origin", allowed.encode())] if allowed else []
            message = {**message, "headers": [*others, *extra]}
        await send(message)

    return filtered


def _preflight_headers(origin: str) -> list[tuple[bytes, bytes]]:
    return [
        (b"access-control-allow-origin", origin.encode()),
        (b"access-control-allow-methods", b"PUT"),
        (b"access-control-allow-headers", b"content-type, if-none-match, x-amz-checksum-sha256"),
        (b"vary", b"Origin"),
    ]


async def _answer(
    send: Send, status: int, reason: str, headers: list[tuple[bytes, bytes]] | None = None
) -> None:
    body = json.dumps({"__type": "AccessDenied", "message": reason}).encode() if reason else b""
    all_headers = [*(headers or []), (b"content-length", str(len(body)).encode())]
    if body:
        all_headers.append((b"content-type", b"application/json"))
    await send({"type": "http.response.start", "status": status, "headers": all_headers})
    await send({"type": "http.response.body", "body": body})
