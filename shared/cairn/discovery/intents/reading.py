"""The words that intents and profiles are made of, from text, a document or a conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.discovery.networks.acting import client_of
from cairn.kernel.errors import NotFound
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.scrub import scrub
from cairn.writing.checks import MAX_TEXT_CHARS, refuse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.writing.platform import Platform

MOST_PARTS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where words come from: exactly one of these."""

    text: str | None = None
    document_id: UUID | None = None
    conversation_id: UUID | None = None


def words_of(platform: Platform, principal: Principal, source: Source) -> str:
    """Return the words of a source, scrubbed; of a long document its beginning.

    Raises ValidationFailed unless exactly one is named, NotFound for what is not the member's own.
    """
    sources = (source.text, source.document_id, source.conversation_id)
    if sum(each is not None for each in sources) != 1:
        refuse("text", "or document_id or conversation_id is needed, and one of them alone")
    if source.text is not None:
        return scrub(clean_text(source.text, field="text", max_chars=MAX_TEXT_CHARS)).text
    with platform.transactions.reading(principal) as stores:
        parts = _parts(stores, client_of(principal), source)
    text = "\n".join(parts)[:MAX_TEXT_CHARS]
    if not text.strip():
        what = "document" if source.document_id is not None else "conversation"
        raise NotFound(f"There is no such {what} with words of this member.")
    return text


def _parts(stores: Stores, client_id: str, source: Source) -> Sequence[str]:
    if source.document_id is not None:
        return stores.intents.document(source.document_id, client_id, MOST_PARTS)
    assert source.conversation_id is not None
    return stores.intents.conversation(source.conversation_id, client_id, MOST_PARTS)
