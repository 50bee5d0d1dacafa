"""Who asks for a page, and whether a browser sent it from one of ours. Not what pages show.

A form counts when it comes from this origin and carries the token that its session has; the cookie
alone, which a browser sends for anybody, changes nothing.
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID

from cairn.accounts.attempts import ATTEMPT_LASTS
from cairn.accounts.sessions import principal_of
from cairn.api.oauth.clients import LOOPBACK
from cairn.kernel.access import PersonRole, Role
from cairn.kernel.errors import Denied, NotFound, Unauthenticated, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fastapi import Request, Response

    from cairn.accounts.sessions import Opened, SessionRow
    from cairn.api.options import ApiOptions
    from cairn.bootstrap.api import ApiServices
    from cairn.kernel.access import Principal

COOKIE, SECURE_COOKIE = "cairn_session", "__Host-cairn_session"
CSRF_FIELD, CSRF_HEADER = "csrf", "x-csrf-token"
MAX_FORM_BYTES, MAX_FIELDS = 131_072, 200
ATTEMPT, SECURE_ATTEMPT = "cairn_sign_in", "__Host-cairn_sign_in"
HOME = "/"
_OWN_PATH = re.compile(
    r"/(?:console(?:/(?!\.+(?:[/?]|$))[A-Za-z0-9_.\-]+)*)?(?:\?[A-Za-z0-9=&%_.+\-]*)?"
)
"""No part of it is dots alone: a browser would go up from there, and out of the console."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """A person who is signed in, and what they may use."""

    services: ApiServices
    session: SessionRow
    principal: Principal

    def renewed(self, opened: Opened) -> Visitor:
        """Return the same with the token that forms send from now on."""
        return replace(self, session=replace(self.session, csrf=opened.csrf, rotate=False))

    @property
    def is_admin(self) -> bool:
        """Whether the person is an owner or an admin."""
        return self.principal.role is Role.ADMIN

    @property
    def writes(self) -> bool:
        """Whether the person changes what agents know; deleting is for who `works`."""
        return self.session.role is not PersonRole.READER

    @property
    def works(self) -> bool:
        """Whether the person does all of the daily work."""
        return self.is_admin or self.session.role is PersonRole.OPERATOR


def require_own_host(request: Request) -> None:
    """Raise Denied for a laptop that is asked under somebody else's name (DNS rebinding)."""
    options = cast("ApiOptions", request.app.state.options)
    own = urlsplit(options.console_url).hostname
    if options.mcp_hosts and request.url.hostname not in (*LOOPBACK, own):
        raise Denied("This address is answered under its own name only.", reason="host")


def require_own_origin(request: Request) -> None:
    """Raise Denied unless a page of this origin sent a form."""
    site = request.headers.get("sec-fetch-site", "same-origin")
    origin = request.headers.get("origin", "")
    host = request.headers.get("host", "")
    if site != "same-origin" or not host or urlsplit(origin).netloc != host:
        raise Denied("This form was not sent from a page of this console.", reason="origin")


def own_origin(request: Request) -> str:
    """Return the origin of these pages as the deployment was told; empty where nobody knows.

    Never what a request says it is. A laptop that was told nothing is `localhost`, at the port that
    its socket has.
    """
    options = cast("ApiOptions", request.app.state.options)
    if options.console_url or not options.mcp_hosts:
        return options.console_url
    server = cast("tuple[str, int | None] | None", request.scope.get("server"))
    return f"http://localhost:{server[1]}" if server and server[1] else ""


def is_at(request: Request, origin: str) -> bool:
    """Return whether a page is looked at under an origin."""
    return bool(origin) and request.headers.get("host", "") == urlsplit(origin).netloc


def address_of(request: Request) -> str | None:
    """Return the address a request comes from, as the server in front says; None for a socket."""
    return request.client.host if request.client else None


def visitor_of(request: Request) -> Visitor:
    """Return who is signed in; Unauthenticated for nobody."""
    require_own_host(request)
    require_characters((request.scope["path"], *request.query_params.values()))
    services = cast("ApiServices", request.app.state.services)
    session = services.sessions.admit(request.cookies.get(cookie_name(request), ""))
    request.state.console_session = session
    principal = principal_of(session)
    request.state.principal = principal
    visitor = Visitor(services=services, session=session, principal=principal)
    request.state.visitor = visitor
    return visitor


def changing_visitor(request: Request, form: Mapping[str, str]) -> Visitor:
    """Return who sent a form; refused when another page may have sent it for them."""
    require_own_origin(request)
    visitor = visitor_of(request)
    token = request.headers.get(CSRF_HEADER) or form.get(CSRF_FIELD, "")
    if not hmac.compare_digest(token.encode(), visitor.session.csrf.encode()):
        raise Unauthenticated("This session was renewed.", reason="session-rotated")
    return visitor


def form_from(
    request: Request, body: bytes, *, most: int = MAX_FORM_BYTES
) -> tuple[Visitor, dict[str, str]]:
    """Return who sent a form and its fields; refused when another page may have sent it."""
    form = form_of(request, body, most=most)
    return changing_visitor(request, form), form


def form_of(request: Request, body: bytes, *, most: int = MAX_FORM_BYTES) -> dict[str, str]:
    """Return a form's fields; refused when one comes twice, is no text, or there is too much."""
    media_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if body and media_type != "application/x-www-form-urlencoded":
        raise ValidationFailed("Send a form.", reason="content-type")
    if len(body) > most:
        raise ValidationFailed("The form is too long.", reason="body")
    try:
        pairs = parse_qsl(
            body.decode("utf-8"), keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict"
        )
    except ValueError as error:
        raise ValidationFailed("This is no form.", reason="body") from error
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValidationFailed("A field is given twice.", reason="body")
    require_characters(fields.values())
    return fields


def require_characters(texts: Iterable[str]) -> None:
    """Raise ValidationFailed for NUL, which no store can keep; halves of characters come not."""
    if any("\0" in text for text in texts):
        raise ValidationFailed("A text has a character that cannot be kept.", reason="nul")


def require_meant(form: Mapping[str, str]) -> None:
    """Raise ValidationFailed unless a box says that what cannot be taken back is meant."""
    if form.get("meant") != "yes":
        raise ValidationFailed("Say that it is meant: tick the box.")


def id_of(text: str) -> UUID:
    """Return the id that a path or a query has; NotFound, as for one that nothing has."""
    try:
        return UUID(text)
    except ValueError as error:
        raise NotFound("There is nothing with this id.") from error


def own_path(text: str | None) -> str:
    """Return a path of this console, Home for anything else: nobody is sent elsewhere."""
    path = text or HOME
    return path if len(path) <= 1_000 and _OWN_PATH.fullmatch(path) else HOME


def cookie_name(request: Request) -> str:
    """Return the cookie's name; over TLS one that no other host can set."""
    return SECURE_COOKIE if request.url.scheme == "https" else COOKIE


def keep_session(request: Request, response: Response, opened: Opened) -> None:
    """Give a browser a session's token; it never leaves the cookie, and no script reads it."""
    response.set_cookie(
        cookie_name(request),
        opened.token,
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )


def attempt_of(request: Request) -> str:
    """Return the token of the sign-in that a browser has under way; empty without one."""
    return request.cookies.get(_attempt_name(request), "")


def keep_attempt(request: Request, response: Response, token: str) -> None:
    """Give a browser the token of a sign-in under way, for the minutes that it lasts."""
    response.set_cookie(
        _attempt_name(request),
        token,
        max_age=int(ATTEMPT_LASTS.total_seconds()),
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )


def forget_attempt(request: Request, response: Response) -> None:
    """Take the token of a sign-in that is over out of a browser."""
    response.delete_cookie(
        _attempt_name(request),
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )


def _attempt_name(request: Request) -> str:
    return SECURE_ATTEMPT if request.url.scheme == "https" else ATTEMPT


def forget_session(request: Request, response: Response) -> None:
    """Take the token out of a browser."""
    response.delete_cookie(
        cookie_name(request),
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )
