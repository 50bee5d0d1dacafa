"""Every kind of ticket source, and what opens one.

A kind of source is a module of `desks` and a line of `DESKS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from cairn.adapters.http.opening import Opener
from cairn.tickets.adapter import PlainAdapter
from cairn.tickets.ticket import SourceKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.adapters.http.desks.declaring import HelpDesk
    from cairn.oauth_client.ports import Bearer
    from cairn.tickets.adapter import TicketAdapter

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


class OpenHelpDesk(Opener):
    """Implements `OpenAdapter`."""

    __slots__ = ()

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
        return self.opened(desk, config, secrets, called="help desk", bearer=bearer)
