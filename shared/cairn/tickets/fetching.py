"""Fetches the attachments that help desks keep: each once, within a time and a size. Not the HTTP.

What is there as a document already is not asked for again. Nothing that fails here holds up the
ticket: the file is named with the reason, and asked for again when its ticket changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cairn.kernel.errors import CairnError, RateLimited, TooLarge, Unavailable
from cairn.tickets.attachments import (
    NOT_READABLE,
    is_elsewhere,
    listed,
    named,
    refusal,
    source_uri,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cairn.kernel.access import Principal
    from cairn.tickets.adapter import Attachment, FileOf, Incoming, Message, Polled
    from cairn.writing.platform import Platform

SECONDS = 25.0
"""How long the files of one page of tickets may take."""

MOST_HELD = 30_000_000
"""Bytes of files that are held at once; what is beyond comes with the next pass."""

NOT_FETCHED = "not-fetched"


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchAttachments:
    """Gets the files of a page of tickets; see `attachments.AttachDocuments` for what follows."""

    platform: Platform

    def __call__(
        self, principal: Principal, source: str, page: Polled, seconds: float
    ) -> tuple[Polled, bool]:
        """Return the page with its files, and whether the same page has more of them.

        It has more only when this pass got some: so a page is not read again and again for files
        that nobody can get.
        """
        missing = dict(self._missing(principal, source, page))
        if page.file is None or not missing:
            return page, False
        until = self.platform.stopwatch() + min(seconds, SECONDS)
        held = 0
        done: dict[str, Attachment] = {}
        for uri, attachment in missing.items():
            if held >= MOST_HELD or self.platform.stopwatch() >= until:
                break
            done[uri] = self._fetch(page.file, attachment)
            held += len(done[uri].content)
        left = missing.keys() - done.keys()
        if left and not held:
            done |= {uri: replace(missing[uri], refused=NOT_FETCHED) for uri in left}
        return _with(page, source, done), bool(left and held)

    def _missing(
        self, principal: Principal, source: str, page: Polled
    ) -> Iterator[tuple[str, Attachment]]:
        """Name what is to be fetched: of tickets that are kept, what is no document yet."""
        names = {each.external_id for each in page.tickets}
        with self.platform.transactions.reading(principal) as stores:
            rows = stores.tickets.known(source, names)
            tickets = {each.external_id for each in page.tickets if not each.closed} | rows.keys()
            files = {
                source_uri(source, name, each): each
                for name, attachments in _attachments(page)
                if name in tickets and (name not in rows or rows[name].sealed)
                for number, each in enumerate(attachments)
                if is_elsewhere(each) and refusal(each, number) is None
            }
            there = stores.documents.at(files.keys()) if files else frozenset[str]()
        return ((uri, each) for uri, each in files.items() if uri not in there)

    def _fetch(self, file: FileOf, attachment: Attachment) -> Attachment:
        try:
            content = file(attachment.url, attachment.media_type)
        except TooLarge:
            return replace(attachment, refused="too-large")
        except CairnError as problem:
            fields: dict[str, Any] = {"file": attachment.file, "reason": problem.reason}
            self.platform.warn("attachment_not_fetched", fields)
            passing = isinstance(problem, Unavailable | RateLimited)
            return replace(attachment, refused=NOT_FETCHED if passing else NOT_READABLE)
        if not content.strip():
            return replace(attachment, refused="empty-document")
        return replace(attachment, content=content)


def _attachments(page: Polled) -> Iterator[tuple[str, Sequence[Attachment]]]:
    yield from ((each.external_id, each.attachments) for each in page.tickets)
    yield from ((each.ticket, each.attachments) for each in page.messages)


def _with(page: Polled, source: str, done: Mapping[str, Attachment]) -> Polled:
    """Return the page with these files, and what is said of them in its texts."""

    def became(name: str, attachments: Sequence[Attachment]) -> tuple[Attachment, ...]:
        return tuple(done.get(source_uri(source, name, each), each) for each in attachments)

    def ticket(before: Incoming) -> Incoming:
        files = became(before.external_id, before.attachments)
        metadata = {**before.source_metadata, **named(files)}
        return replace(before, attachments=files, source_metadata=metadata)

    def message(before: Message) -> Message:
        files = became(before.ticket, before.attachments)
        text = before.text.removesuffix(listed(before.attachments)) + listed(files)
        return replace(before, attachments=files, text=text)

    return replace(
        page,
        tickets=tuple(map(ticket, page.tickets)),
        messages=tuple(map(message, page.messages)),
    )
