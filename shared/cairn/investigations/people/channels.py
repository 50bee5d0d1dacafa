"""Where people are called besides tickets and webhooks: Slack's incoming webhooks, by name.

The address is the secret: whoever has it can post. It is sealed and never shown. Slack's form:
https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, Protocol
from urllib.parse import urlsplit

from cairn.investigations.people.ports import Channel
from cairn.kernel.access import Role
from cairn.kernel.errors import Conflict, FieldError, NotFound, ValidationFailed
from cairn.kernel.ids import derived_id
from cairn.kernel.text.checks import clean_text
from cairn.writing.append import principal_actor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.investigations.journal import Journal, Page
    from cairn.kernel.access import Principal

SLACK = "slack"
MAX_CHANNELS = 20
MAX_URL_CHARS = 2_048
NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,40}[a-z0-9])?")


class CheckAddress(Protocol):
    """Says whether an address may ever be posted to; `lifecycle.webhooks.WebhookSender.check`."""

    def __call__(self, url: str, /) -> None:
        """Raise ValidationFailed for one that may not."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Channels:
    """Makes, lists and removes channels: an admin's work. Each change is a ledger entry."""

    journal: Journal
    check: CheckAddress

    def create(self, principal: Principal, *, name: str, url: str) -> Channel:
        """Keep a channel; ValidationFailed for a bad name or address, Conflict for a taken name."""
        principal.require(Role.ADMIN)
        if not NAME.fullmatch(name):
            _refuse("name", "is 1 to 42 small letters, digits, - and _")
        address = self._address(url)
        workspace_id = principal.workspace_id

        def keep(page: Page) -> Channel:
            channels = page.stores.channels
            if len(channels.all()) >= MAX_CHANNELS:
                raise Conflict(
                    f"A workspace has at most {MAX_CHANNELS} channels.", reason="too-many-channels"
                )
            sealed = page.entries.seal(sealed_as(workspace_id, name), (), {"url": address})
            channel = Channel(
                name=name, kind=SLACK, created_at=page.now, created_by=principal.principal_id
            )
            if not channels.add(channel, sealed):
                raise Conflict("There is a channel of this name.", reason="name-taken")
            page.note("escalation.channel_added", {"kind": SLACK}, {"name": name})
            return channel

        return self.journal.write(workspace_id, (), principal_actor(principal), keep)

    def all(self, principal: Principal) -> Sequence[Channel]:
        """Return every channel, by name."""
        principal.require(Role.ADMIN)
        with self.journal.reading(principal.workspace_id) as stores:
            return stores.channels.all()

    def remove(self, principal: Principal, name: str) -> None:
        """Remove one; NotFound when there is none. Who is called by it gets a note instead."""
        principal.require(Role.ADMIN)

        def gone(page: Page) -> None:
            if not page.stores.channels.remove(name):
                raise NotFound("There is no such channel.", name=name)
            page.note("escalation.channel_removed", {"kind": SLACK}, {"name": name})

        self.journal.write(principal.workspace_id, (), principal_actor(principal), gone)

    def _address(self, url: str) -> str:
        address = clean_text(url, field="url", max_chars=MAX_URL_CHARS)
        self.check(address)
        parts = urlsplit(address)
        if parts.username or parts.password:
            _refuse("url", "carries no name and no password")
        return address


def sealed_as(workspace_id: UUID, name: str) -> UUID:
    """Return the id under which a channel's address is sealed."""
    return derived_id(workspace_id, "channel", name)


def _refuse(field: str, message: str) -> NoReturn:
    raise ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])
