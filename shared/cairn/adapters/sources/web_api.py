"""Requests for the documents of a service: signed in, paced, and what its refusals mean.

401 ends a run (`sign-in`), 403 and 404 refuse the one thing that was wanted, 429 lets the run wait.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from cairn.adapters.http.rest import Request, RestService
from cairn.connectors.port import ConnectorUnauthorised
from cairn.kernel.clock import Stopwatch, monotonic
from cairn.kernel.errors import Denied, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cairn.adapters.http.rest import Answer


@dataclass
class WebApi:
    """Asks one service. `gap` is the least number of seconds between two requests."""

    name: str
    url: str
    headers: Mapping[str, str]
    private_hosts: frozenset[str] = frozenset()
    gap: float = 0.0
    pause: Callable[[float], None] = time.sleep
    stopwatch: Stopwatch = monotonic
    _last: float | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._service = RestService(
            name=self.name,
            base_url=self.url.rstrip("/"),
            words=_words,
            allow_private=urlsplit(self.url).hostname in self.private_hosts,
            pause=self.pause,
        )

    def get(self, path: str, **query: str | int | None) -> dict[str, Any]:
        """Return the object at a path."""
        parameters = {name: str(value) for name, value in query.items() if value is not None}
        return self._ask(
            Request(method="GET", path=path, query=parameters, repeatable=True)
        ).record()

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a search: it changes nothing."""
        return self._ask(Request(method="POST", path=path, body=body, repeatable=True)).record()

    def _ask(self, request: Request) -> Answer:
        if self._last is not None and (early := self._last + self.gap - self.stopwatch()) > 0:
            self.pause(early)
        self._last = self.stopwatch()
        try:
            return self._service.ask(request, self.headers)
        except ConnectorUnauthorised as refusal:
            if refusal.fields.get("status") == 403:
                raise ValidationFailed(
                    f"{self.name} does not show this to the source's token.", reason="not-permitted"
                ) from None
            raise Denied(
                f"{self.name} refuses to be read with this token.", reason="sign-in"
            ) from None


def records(answer: Mapping[str, Any], name: str = "results") -> list[dict[str, Any]]:
    """Return the objects of a list; [] where there is none."""
    return objects(answer.get(name))


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; [] for what is none."""
    rows = cast("list[Any]", value) if isinstance(value, list) else []
    return [row for row in rows if isinstance(row, dict)]


def record(value: Any, *names: str) -> Any:
    """Return what stands below names in objects; None where there is no such thing."""
    for name in names:
        value = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return value


def _words(body: Mapping[str, Any]) -> str:
    words = body.get("message") or body.get("errors") or ""
    return words if isinstance(words, str) else ""
