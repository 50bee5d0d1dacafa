"""HTTP to connectors: where it may lead, how much of an answer is read, what a status means.

Not the protocol: the SDK speaks that over the client made here. Redirects go nowhere else, proxies
and netrc of the environment are not used, and answers come uncompressed: a small body must not
become a large one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2
from anyio import to_thread

from cairn.adapters.http.public_address import is_public
from cairn.adapters.http.webhooks import SCHEMES, HttpWebhookSender
from cairn.connectors.lines import MAX_MESSAGE, Lines, TooLong, mended
from cairn.connectors.manifest import UNAUTHORIZED
from cairn.connectors.session import FAULT_KEY, LOST, NOT_SENT
from cairn.kernel.errors import CairnError
from cairn.oauth_client.ports import SignInNeeded

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from cairn.oauth_client.ports import Bearer

SECONDS = 30.0
CONNECT_SECONDS = 5.0
READ_SECONDS = 120.0
"""An answer may stay away for as long; a call's own limit is shorter."""

_CODE = -32_000
_UNSIGNED = 401
_REFUSING = frozenset({_UNSIGNED, 403})
_READ = frozenset({"application/json", "text/event-stream"})
_SESSION = "mcp-session-id"


def connector_client(
    guard: HttpWebhookSender, url: str, headers: Mapping[str, str], bearer: Bearer | None = None
) -> httpx2.AsyncClient:
    """Return a client for one connector; `guard` says where it may lead.

    `bearer` gives the token of each request.
    """
    guard.check(url)
    guarded = _Guarded(guard, httpx2.AsyncHTTPTransport(trust_env=False))
    return httpx2.AsyncClient(
        transport=guarded if bearer is None else _SignedIn(guarded, bearer),
        headers={**headers, "accept-encoding": "identity"},
        timeout=httpx2.Timeout(SECONDS, connect=CONNECT_SECONDS, read=READ_SECONDS),
        follow_redirects=False,
        trust_env=False,
    )


@dataclass(frozen=True, slots=True)
class _Guarded(httpx2.AsyncBaseTransport):
    """Connects to the address that was looked at, and makes errors of HTTP ones of the protocol."""

    guard: HttpWebhookSender
    inner: httpx2.AsyncBaseTransport

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            pinned = await to_thread.run_sync(self._pinned, request)
            answer = await self.inner.handle_async_request(pinned)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, CairnError):
            return _fault(502, NOT_SENT)
        except httpx2.TransportError:
            return _fault(502, LOST)
        return await _judged(request, answer)

    async def aclose(self) -> None:
        await self.inner.aclose()

    def _pinned(self, request: httpx2.Request) -> httpx2.Request:
        url = request.url
        self.guard.check(str(url))
        address = self._address(url.host, url.port or SCHEMES[url.scheme])
        return httpx2.Request(
            request.method,
            url.copy_with(host=address),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": url.host},
        )

    def _address(self, host: str, port: int) -> str:
        for address in self.guard.resolve(host, port):
            if self.guard.allow_private or is_public(address):
                return address
        raise httpx2.ConnectError("leads into a private network")


@dataclass(frozen=True, slots=True)
class _SignedIn(httpx2.AsyncBaseTransport):
    """Sends each request with a token; once more with another one where the first is refused.

    A request that was refused (401) was not looked at: to send it again does nothing twice.
    """

    guarded: _Guarded
    bearer: Bearer

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        token: str | None = None
        answer = _fault(401, UNAUTHORIZED)
        for _ in range(2):
            try:
                token = await to_thread.run_sync(self.bearer, token)
            except SignInNeeded:
                return _fault(401, UNAUTHORIZED)
            except CairnError:  # the authorization server or the database does not answer
                return _fault(502, NOT_SENT)
            request.headers["authorization"] = f"Bearer {token}"
            answer = await self.guarded.handle_async_request(request)
            if answer.status_code != _UNSIGNED or not isinstance(request.stream, httpx2.ByteStream):
                break
        return answer

    async def aclose(self) -> None:
        await self.guarded.aclose()


async def _judged(request: httpx2.Request, answer: httpx2.Response) -> httpx2.Response:
    status = answer.status_code
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    code = _meaning(request, answer, kind)
    if code is not None:
        await answer.aclose()
        return _fault(status, code)
    return httpx2.Response(
        status,
        headers=[item for item in answer.headers.raw if item[0].lower() != b"content-length"],
        stream=_Bounded(answer, sse=kind == "text/event-stream"),
        extensions=answer.extensions,
    )


def _meaning(request: httpx2.Request, answer: httpx2.Response, kind: str) -> str | None:
    """Return what became of a call by its status alone; None when the body says it."""
    status = answer.status_code
    if status in _REFUSING:
        return UNAUTHORIZED
    if status == 429 or (status == 404 and _SESSION in request.headers):
        return NOT_SENT  # turned away, or its session is over: the call was not looked at
    compressed = answer.headers.get("content-encoding", "identity") != "identity"
    unread = kind not in _READ and (status == 200 or status >= 500)
    if compressed or unread:
        return LOST
    return None


@dataclass(frozen=True, slots=True)
class _Bounded(httpx2.AsyncByteStream):
    """A body whose long messages are shortened as they come."""

    answer: httpx2.Response
    sse: bool

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        lines, size = Lines(), 0
        stream: Any = self.answer.stream
        try:
            async for chunk in stream:
                size += len(chunk)
                for line in lines.feed(chunk):
                    yield mended(line) + b"\n"
                if (lines.size if self.sse else size) > MAX_MESSAGE:
                    break  # what lies above is not fetched
            yield mended(lines.end())
        except (TooLong, httpx2.TransportError):
            return  # what came of it is no message: the call is lost

    async def aclose(self) -> None:
        await self.answer.aclose()


def _fault(status: int, code: str) -> httpx2.Response:
    error = {"code": _CODE, "message": code, "data": {FAULT_KEY: code}}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error})
    status = status if status >= 400 else 502
    return httpx2.Response(
        status, headers={"content-type": "application/json"}, content=body.encode()
    )
