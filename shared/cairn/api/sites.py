"""Serves what is published, on the host of the sites and nowhere else. Not its making.

The request's host decides alone: that of the sites has these files and nothing more, every other
host has everything but these. No cookie is read or set, no script is let run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import Response

from cairn.api.problems import Refused, from_error, from_http, problem_response
from cairn.kernel.errors import CairnError, NotFound
from cairn.publishing.addresses import ROOT, Surface, UnsafePath, surface_of
from cairn.publishing.reading import IsFolder

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from cairn.api.middleware import Log
    from cairn.bootstrap.api import ApiServices
    from cairn.publishing.reading import PublishedFile

METHODS = ("GET", "HEAD")
HEADERS = {
    "content-security-policy": (
        "default-src 'self' https: data:; script-src 'none'; object-src 'none'; frame-src 'none'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "accept-ranges": "none",
}
"""Beside those that every answer has: nosniff, X-Frame-Options, Referrer-Policy."""

PAGE_CACHE = "no-cache"
"""Asked for again each time, and answered 304 while nothing changed: withdrawn is gone at once."""

FILE_CACHE = "private, max-age=3600"
"""What a page is made up of may stay an hour in the browser that has it, and in nothing between."""


class Sites:
    """Middleware: what the sites' host is asked ends here; other hosts serve no sites."""

    def __init__(self, app: ASGIApp, *, services: ApiServices, sites_url: str, log: Log) -> None:
        self.app = app
        self.services = services
        self.sites_url = sites_url
        self.log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        surface = surface_of(Headers(scope=scope).get("host", ""), self.sites_url)
        if surface is Surface.SITES:
            response = await run_in_threadpool(self._response, scope)
        elif (cast("str", scope["path"]) + "/").startswith(ROOT):
            response = _problem(scope, NotFound("Sites are served by a host of their own."))
        else:
            await self.app(scope, receive, send)
            return
        await response(scope, receive, send)

    def _response(self, scope: Scope) -> Response:
        """Return the answer of the sites' host, and say in the log what it was."""
        outcome, response = self._answer(scope)
        self.log.info("sites", extra={"op": outcome, "status": response.status_code})
        return response

    def _answer(self, scope: Scope) -> tuple[str, Response]:
        path: str = scope["path"]
        if scope["method"] not in METHODS:
            refused = Refused("method-not-allowed", "Sites are read with GET and HEAD.")
            response = problem_response(from_http(refused), scope["state"]["request_id"])
            response.headers["allow"] = ", ".join(METHODS)
            return "method-not-allowed", response
        try:
            if not path.startswith(ROOT):
                raise NotFound("Nothing is published here.")
            file = self.services.read_site.find(path)
            return "serve", self._file(scope, file)
        except UnsafePath:
            refused = Refused("denied", "This path names no file.", reason="path")
            return "path-traversal-rejected", problem_response(
                from_http(refused), scope["state"]["request_id"]
            )
        except IsFolder:
            return "redirect-trailing-slash", _with_slash(scope)
        except CairnError as error:
            outcome = "not-found" if isinstance(error, NotFound) else error.code
            return outcome, _problem(scope, error)

    def _file(self, scope: Scope, file: PublishedFile) -> Response:
        etag = f'"{file.file.sha256}"'
        is_page = file.media_type.startswith("text/html")
        headers = {**HEADERS, "etag": etag, "cache-control": PAGE_CACHE if is_page else FILE_CACHE}
        if _has(Headers(scope=scope).get("if-none-match", ""), etag):
            return Response(status_code=304, headers=headers)
        headers["content-type"] = file.media_type
        if scope["method"] == "HEAD":
            return Response(headers={**headers, "content-length": str(file.file.size)})
        return Response(self.services.read_site.content(file), headers=headers)


def _problem(scope: Scope, error: CairnError) -> Response:
    return problem_response(from_error(error), scope["state"]["request_id"])


def _with_slash(scope: Scope) -> Response:
    """Return the way to the same path with a slash, with the query as it came."""
    where = quote(f"{scope['path']}/", safe="/")
    query = quote(cast("bytes", scope.get("query_string", b"")), safe="%&=+-._~:@!$'()*,;/?")
    location = f"{where}?{query}" if query else where
    return Response(status_code=301, headers={**HEADERS, "location": location})


def _has(header: str, etag: str) -> bool:
    """Return whether If-None-Match names a tag, weak or not (RFC 9110, 13.1.2)."""
    tags = [part.strip().removeprefix("W/") for part in header.split(",")]
    return etag in tags or header.strip() == "*"
