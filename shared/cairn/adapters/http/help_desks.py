"""Opens the adapters of ticket sources: settings checked, clients made, their errors translated.

A kind of source is a module of `desks` and a line of `DESKS`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from cairn.adapters.http.desks import (
    autotask,
    connectwise,
    freshdesk,
    github,
    halopsa,
    intercom,
    jira,
    linear,
    mail,
    slack,
    webhook,
    zendesk,
    zoho,
)
from cairn.adapters.http.desks.declaring import HelpDesk, Opening
from cairn.adapters.http.rest import rest_breakers
from cairn.connectors.port import ConnectorUnauthorised, OutcomeUnknown
from cairn.kernel.clock import Clock, Stopwatch, monotonic, utc_now
from cairn.kernel.errors import RateLimited, Unavailable
from cairn.oauth_client.ports import SignInNeeded
from cairn.tickets.adapter import DeskForm, NeedsAuth, PlainAdapter
from cairn.tickets.ticket import SourceKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    import httpx

    from cairn.kernel.resilience.breaker import Breakers
    from cairn.oauth_client.ports import Bearer
    from cairn.tickets.adapter import Capabilities, Delivered, Events, Polled, TicketAdapter

DESKS: Mapping[SourceKind, HelpDesk] = {
    desk.kind: desk
    for desk in (
        autotask.DESK,
        connectwise.DESK,
        freshdesk.DESK,
        intercom.DESK,
        zendesk.DESK,
        github.DESK,
        halopsa.DESK,
        jira.DESK,
        linear.DESK,
        mail.DESK,
        slack.DESK,
        webhook.DESK,
        zoho.DESK,
    )
}
"""Every kind of source but the plain one, by what it is called."""

T = TypeVar("T")


def desk_forms() -> Mapping[str, DeskForm]:
    """Return what each kind of source is made of."""
    return {
        kind.value: DeskForm(config=desk.config.listed(), secrets=desk.secrets.listed())
        for kind, desk in DESKS.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenHelpDesk:
    """Implements `OpenAdapter`; nothing is asked of a help desk here.

    `allow_private` lets addresses of sources lead into this network: for a laptop.
    """

    allow_private: bool = False
    transport: httpx.BaseTransport | None = None
    clock: Clock = utc_now
    stopwatch: Stopwatch = monotonic
    breakers: Breakers = field(default_factory=rest_breakers)

    def __call__(
        self,
        kind: str,
        config: Mapping[str, Any],
        secrets: Mapping[str, str],
        *,
        bearer: Bearer | None = None,
    ) -> TicketAdapter:
        """Return the adapter; ValidationFailed names the wrong field."""
        source_kind = SourceKind(kind)
        if source_kind is SourceKind.API:
            return PlainAdapter()
        desk = DESKS[source_kind]
        desk.config.check("config", config)
        desk.secrets.check("secrets", secrets)
        opening = Opening(
            config=config,
            secrets=secrets,
            allow_private=self.allow_private,
            transport=self.transport,
            clock=self.clock,
            stopwatch=self.stopwatch,
            breakers=self.breakers,
            bearer=bearer,
        )
        return Translated(desk.open(opening))


@dataclass(frozen=True, slots=True)
class Translated:
    """An adapter whose client's errors are those of `helpdesk.adapter`.

    An answer that never came counts as not given: the next try looks for it before it writes.
    """

    adapter: TicketAdapter

    def capabilities(self) -> Capabilities:
        """Say what it can do."""
        return self.adapter.capabilities()

    def poll(self, cursor: str | None, limit: int) -> Polled:
        """Return what changed since `cursor`."""
        return _translate_refusals(lambda: self.adapter.poll(cursor, limit))

    def verify(self, delivered: Delivered, now: datetime) -> None:
        """Raise Unauthenticated for a delivery that is not the help desk's."""
        _translate_refusals(lambda: self.adapter.verify(delivered, now))

    def read(self, delivered: Delivered) -> Events:
        """Return what a delivery tells."""
        return _translate_refusals(lambda: self.adapter.read(delivered))

    def reply(self, external_id: str, text: str, *, private: bool, key: str) -> str:
        """Answer a ticket."""
        return _translate_refusals(
            lambda: self.adapter.reply(external_id, text, private=private, key=key)
        )

    def set_status(self, external_id: str, status: str) -> str:
        """Set the status."""
        return _translate_refusals(lambda: self.adapter.set_status(external_id, status))

    def log_time(self, external_id: str, minutes: int, note: str, *, key: str) -> str:
        """Log working time."""
        return _translate_refusals(
            lambda: self.adapter.log_time(external_id, minutes, note, key=key)
        )


def _translate_refusals(ask: Callable[[], T]) -> T:
    try:
        return ask()
    except (ConnectorUnauthorised, SignInNeeded) as refused:
        raise NeedsAuth("The help desk refuses its sign-in; renew it.") from refused
    except OutcomeUnknown as unknown:
        raise Unavailable("The help desk did not answer.", reason=unknown.reason) from unknown
    except RateLimited as limited:
        raise Unavailable(
            "The help desk has had too many requests.",
            reason="help-desk-busy",
            retry_after=limited.retry_after,
        ) from limited
