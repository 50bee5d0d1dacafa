"""One mail read: who wrote what, in which thread, and why it is set aside. Pure; never raises.

What a machine wrote is no ticket: an answer to it would be answered by the machine (RFC 3834).
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from email import policy
from email.errors import MessageError
from email.header import decode_header, make_header
from email.parser import BytesParser
from email.utils import getaddresses
from typing import TYPE_CHECKING

from mailparser_reply.parser import EmailMessage

from cairn.tickets.adapter import Attachment
from cairn.tickets.html import plain_text

if TYPE_CHECKING:
    from email.message import Message

MAX_RECIPIENTS = 100
MAX_REFERENCES = 100
"""Mails of a thread. A longer one goes in circles."""

MAX_PARTS = 200
MAX_ID_CHARS = 190
MAX_ATTACHMENTS = 40
HEAD_CHARS = 4_000
"""Where the quoted text begins is looked for in as much of a reply: the library that knows is
quadratic in hostile lines (0.3 s for these)."""

LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pl", "da", "sv", "cs", "ja", "ko", "zh")

_ID = re.compile(rf"<[!#-;=?-\[\]-~]{{1,{MAX_ID_CHARS}}}>")
_ADDRESS = re.compile(r"[!#-'*+.\-/-9=?A-Z^-~]{1,64}@[A-Za-z0-9][A-Za-z0-9.-]{0,188}")
_BREAKS = re.compile(r"\n[ \t\r]*\n(?:[ \t\r]*\n)+")
_SPACES = re.compile(r"\s+")
_AUTHENTICATED = re.compile(r"(?:^|;)\s*dmarc\s*=\s*pass\b", re.IGNORECASE)
_BULK = frozenset(["bulk", "junk", "list", "auto_reply"])
_ANSWERED_BY_MACHINE = (
    "X-Autoreply",
    "X-Autorespond",
    "X-Auto-Reply",
    "X-Auto-Response",
    "X-Auto-Response-Suppress",
)


class _Reply(EmailMessage):
    """Without the library's own normalisation, which Python 3.13 warns of."""

    def _normalize_text(self) -> None:
        self.text = "\n".join(line.strip() for line in self.text.split("\n"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """What one mail says; `references` from the first of its thread to its parent.

    `message_id` is None when there is none that can be looked up. `set_aside` is why it is nothing
    for tickets. `text` of a reply is without what it quotes.
    """

    message_id: str | None = None
    in_reply_to: str | None = None
    references: tuple[str, ...] = ()
    sender: str | None = None
    sender_name: str = ""
    subject: str = ""
    text: str = ""
    attachments: tuple[Attachment, ...] = ()
    set_aside: str | None = None


def read_mail(raw: bytes, *, own: str, authserv_id: str = "", whole: bool = True) -> Mail:
    """Return what a mail says; `own` is the mailbox's address, `whole` whether its end was read.

    With an `authserv_id` only mails count whose sender that server has authenticated by DMARC
    (RFC 8601); it removes such headers that others wrote.
    """
    try:
        message = BytesParser(policy=policy.compat32).parsebytes(raw)
        return _read(message, own, authserv_id, whole=whole)
    except (MessageError, RecursionError, ValueError, LookupError, TypeError, IndexError):
        return Mail(set_aside="malformed")


def without_quotes(text: str) -> str:
    """Return what a reply says itself; all of it where it answers between the lines."""
    text = _BREAKS.sub("\n\n", text.replace("\r\n", "\n")).strip()
    reply = _Reply(text=text[:HEAD_CHARS], languages=list(LANGUAGES)).read()
    head = reply.latest_reply or ""
    if not head or len(head) >= len(text[:HEAD_CHARS].strip()):
        return _unquoted(text) or text
    rest = text[len(head) :].splitlines()
    quoted = [number for number, line in enumerate(rest) if line.startswith(">")]
    if quoted and any(line.strip() for line in rest[quoted[0] :] if not line.startswith(">")):
        return _unquoted(text) or text
    return head


def _unquoted(text: str) -> str:
    lines = [line for line in text.splitlines() if not line.startswith(">")]
    return _BREAKS.sub("\n\n", "\n".join(lines)).strip()


def _read(message: Message, own: str, authserv_id: str, *, whole: bool) -> Mail:
    ((name, address), *_) = getaddresses([_header(message, "From")]) or [("", "")]
    address = address.casefold()
    sender = address if _ADDRESS.fullmatch(address) else None
    ids = _ID.findall(_header(message, "Message-ID"))
    answered = _ID.findall(_header(message, "In-Reply-To"))
    references = tuple(dict.fromkeys(_ID.findall(_header(message, "References"))))
    reason = _reason(message, sender, own, references, authserv_id)
    if reason is not None:
        return Mail(sender=sender, references=references, set_aside=reason)
    text, attachments = _content(message)
    if attachments and not whole:
        attachments = (*attachments[:-1], replace(attachments[-1], whole=False))
    return Mail(
        message_id=ids[0] if ids else None,
        in_reply_to=answered[0] if answered else None,
        references=references,
        sender=sender,
        sender_name=_line(name)[:200],
        subject=_line(_header(message, "Subject")),
        text=without_quotes(text) if references or answered else text.strip(),
        attachments=attachments,
    )


def _reason(
    message: Message, sender: str | None, own: str, references: tuple[str, ...], authserv_id: str
) -> str | None:
    """Return why a mail is nothing for tickets; None for one that a person sent us."""
    if sender is None:
        return "no-sender"
    if sender == own:
        return "own"
    if _is_automatic(message):
        return "automatic"
    if message.get("List-Id") is not None or message.get("List-Unsubscribe") is not None:
        return "mailing-list"
    recipients = [*message.get_all("To", []), *message.get_all("Cc", [])]
    if sum(str(each).count("@") for each in recipients) > MAX_RECIPIENTS:
        return "too-many-recipients"
    if len(references) > MAX_REFERENCES:
        return "thread-too-long"
    if authserv_id and not _is_authenticated(message, authserv_id):
        return "not-authenticated"
    return None


def _is_automatic(message: Message) -> bool:
    submitted = _header(message, "Auto-Submitted").split(";")[0].strip().casefold()
    return (
        submitted not in ("", "no")
        or _header(message, "Precedence").strip().casefold() in _BULK
        or _header(message, "Return-Path").strip() == "<>"
        or message.get_content_type() == "multipart/report"
        or any(message.get(name) is not None for name in _ANSWERED_BY_MACHINE)
    )


def _is_authenticated(message: Message, authserv_id: str) -> bool:
    for value in message.get_all("Authentication-Results", []):
        server, _, results = str(value).partition(";")
        if server.split()[:1] == [authserv_id]:
            return _AUTHENTICATED.search(_SPACES.sub(" ", results)) is not None
    return False


def _header(message: Message, name: str) -> str:
    """Return a header decoded; as it stands where that cannot be done."""
    value = str(message.get(name, ""))
    with suppress(MessageError, ValueError, LookupError):
        value = str(make_header(decode_header(value)))
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _line(text: str) -> str:
    """Return a text as one line that can stand in a header."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def _content(message: Message) -> tuple[str, tuple[Attachment, ...]]:
    """Return the text, of HTML where there is no other, and what is attached.

    Pictures within the text, such as a signature's, are not.
    """
    plain: list[str] = []
    rich: list[str] = []
    attached: list[Attachment] = []
    for number, part in enumerate(message.walk()):
        if number >= MAX_PARTS:
            break
        if part.is_multipart():
            continue
        name = part.get_filename()
        if _is_picture_of_text(part):
            continue
        if name is not None or part.get_content_disposition() == "attachment":
            attached.append(_attachment(part, _line(str(name or "attachment"))[:200]))
        elif part.get_content_type() == "text/plain":
            plain.append(_decoded(part))
        elif part.get_content_type() == "text/html":
            rich.append(_decoded(part))
    text = "\n".join(plain) if "".join(plain).strip() else plain_text("\n".join(rich))
    return text, tuple(attached[:MAX_ATTACHMENTS])


def _attachment(part: Message, name: str) -> Attachment:
    payload = part.get_payload(decode=True)
    content = payload if isinstance(payload, bytes) else b""
    charset = part.get_content_charset()
    media_type = part.get_content_type() + (f"; charset={charset}" if charset else "")
    return Attachment(name=name, media_type=media_type, content=content)


def _is_picture_of_text(part: Message) -> bool:
    within = part.get_content_disposition() == "inline" or part.get("Content-ID") is not None
    return part.get_content_maintype() == "image" and within


def _decoded(part: Message) -> str:
    payload = part.get_payload(decode=True)
    content = payload if isinstance(payload, bytes) else b""
    try:
        return content.decode(part.get_content_charset() or "utf-8", "replace")
    except LookupError:
        return content.decode("utf-8", "replace")
