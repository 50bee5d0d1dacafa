"""How help desks whose adapters speak JSON are asked: one service, one sign-in. Not what."""

from __future__ import annotations

import base64
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cairn.adapters.http.desks.declaring import is_hours, is_statuses, is_text, refuse
from cairn.adapters.http.rest import Request
from cairn.connectors.port import ConnectorUnauthorised
from cairn.kernel.errors import ValidationFailed
from cairn.tickets.adapter import backfill_of, statuses_of, text_at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cairn.adapters.http.desks.declaring import Check
    from cairn.adapters.http.rest import RestService
    from cairn.kernel.clock import Stopwatch
    from cairn.tickets.adapter import FileOf

TOKEN_LEEWAY_SECONDS = 60.0

COMMON: Mapping[str, Check] = {
    "customer": is_text,
    "statuses": is_statuses,
    "backfill_hours": is_hours,
}
"""What every such desk may have in its settings."""


def settled(config: Mapping[str, Any], usual: Mapping[str, str]) -> dict[str, Any]:
    """Return what is `COMMON` as an adapter takes it; statuses are the desk's `usual` ones."""
    return {
        "statuses": statuses_of(config, usual, refuse=refuse),
        "customer": str(config.get("customer", "")),
        "backfill": backfill_of(config),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class AskDesk:
    """Implements `DeskApi`. `sign_in` returns the headers of a request. Safe between threads.

    One that `renews` is asked for others, with True, when the desk refuses the first.
    """

    service: RestService
    sign_in: Callable[[bool], Mapping[str, str]] = field(repr=False)
    renews: bool = False

    def __call__(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | list[Any] | None = None,
        repeatable: bool = False,
    ) -> Any:
        """Return the decoded answer; errors are those of `rest`."""
        request = Request(
            method=method, path=path, query=query or {}, body=body, repeatable=repeatable
        )
        try:
            return self.service.ask(request, self._headers(again=False)).body
        except ConnectorUnauthorised as refused:
            if not self.renews or refused.fields.get("status") != 401:
                raise
        return self.service.ask(request, self._headers(again=True)).body

    def _headers(self, *, again: bool) -> Mapping[str, str]:
        return {"user-agent": "cairn", **self.sign_in(again)}


def always(headers: Mapping[str, str]) -> Callable[[bool], Mapping[str, str]]:
    """Return a sign-in whose headers are always the same."""
    return lambda again: headers


def files_of(
    service: RestService, sign_in: Callable[[bool], Mapping[str, str]], **more: Any
) -> FileOf:
    """Return what fetches the files of a desk; see `files.DeskFiles`, which is loaded by then."""

    def file(url: str, media_type: str) -> bytes:
        from cairn.adapters.http.desks.files import DeskFiles

        return DeskFiles(service=service, sign_in=sign_in, **more)(url, media_type)

    return file


def basic(user: str, password: str) -> str:
    """Return an Authorization header (RFC 7617)."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


class ClientCredentials:
    """A sign-in by OAuth's client credentials (RFC 6749 4.4); a token serves until near its end."""

    def __init__(
        self, service: RestService, path: str, form: Mapping[str, str], stopwatch: Stopwatch
    ) -> None:
        self._service, self._path, self._form = service, path, form
        self._stopwatch, self._lock = stopwatch, threading.Lock()
        self._token, self._ends = "", 0.0

    def __call__(self, again: bool) -> Mapping[str, str]:
        """Return the headers with an access token, a new one `again`."""
        with self._lock:
            if again or not self._token or self._stopwatch() >= self._ends:
                self._renew()
            return {"authorization": f"Bearer {self._token}"}

    def _renew(self) -> None:
        form = {"grant_type": "client_credentials", **self._form}
        request = Request(method="POST", path=self._path, form=form, repeatable=True)
        try:
            body = self._service.ask(request, {}).record()
        except ValidationFailed as refused:
            if refused.reason != "refused":
                raise
            raise ConnectorUnauthorised(refused.detail, status=401) from refused
        self._token = text_at(body, "access_token")
        if not self._token:
            raise ConnectorUnauthorised(f"{self._service.name} gives no access token.", status=401)
        lives = text_at(body, "expires_in")
        seconds = float(lives) if lives.isdecimal() else 3600.0
        self._ends = self._stopwatch() + max(seconds - TOKEN_LEEWAY_SECONDS, 0.0)
