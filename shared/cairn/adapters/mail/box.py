"""A mailbox over IMAP (RFC 9051) and SMTP (RFC 5321), by the standard library's clients.

A connection lasts one call. Names are looked up first, and the address that was looked at is
connected to (`outgoing`). Without TLS nothing is said, except where private addresses are allowed.
"""

from __future__ import annotations

import imaplib
import re
import smtplib
import socket
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import SplitResult, urlsplit

from cairn.adapters.http.outgoing import address_to_ask, resolved
from cairn.adapters.http.rest import trusted
from cairn.connectors.port import ConnectorUnauthorised
from cairn.kernel.errors import FieldError, Unavailable, ValidationFailed
from cairn.tickets.mail import MESSAGE_ID, Batch, Place, StoredMail

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from datetime import date
    from ssl import SSLContext

    from cairn.oauth_client.ports import Bearer

SECONDS = 20.0
MAX_MAIL_BYTES = 5_000_000
"""Of a mail; of a larger one its beginning is read, where its text is."""

WINDOW = 5_000
"""UIDs that one search covers, so that no answer grows beyond what the client reads."""

MAX_WINDOWS = 40
PORTS = {"imaps": 993, "imap": 143, "smtps": 465, "smtp": 587}
_MONTHS = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip
_NUMBER = re.compile(rb"\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class MailAccount:
    """Where a mailbox is and how to sign in; the password never shows in a repr.

    With a `bearer` its tokens sign in, and there is no password.

    `imap_url` is imaps://HOST[:PORT], or imap:// for STARTTLS; `smtp_url` alike.
    """

    address: str
    username: str
    password: str = field(default="", repr=False)
    imap_url: str
    smtp_url: str
    folder: str = "INBOX"
    sent_folder: str = "Sent"
    allow_private: bool = False
    bearer: Bearer | None = field(default=None, repr=False)


class _Imap(imaplib.IMAP4):
    """Connects to an address that was looked at; `context` is for TLS from the beginning."""

    def __init__(self, url: SplitResult, context: SSLContext | None, *, private: bool) -> None:
        self._url, self._context, self._private = url, context, private
        super().__init__(url.hostname or "", _port(url), SECONDS)

    def _create_socket(self, timeout: float | None) -> socket.socket:  # pyright: ignore
        return _connected(self._url, self._context, private=self._private)


class _Smtp(smtplib.SMTP):
    """As `_Imap`; `domain` is what it greets with."""

    def __init__(
        self, url: SplitResult, context: SSLContext | None, domain: str, *, private: bool
    ) -> None:
        self._url, self._context, self._private = url, context, private
        super().__init__(url.hostname or "", _port(url), domain, SECONDS)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:  # pyright: ignore
        return _connected(self._url, self._context, private=self._private)


class ImapSmtpBox:
    """Implements `MailBox`. Safe between threads: nothing is kept between calls."""

    def __init__(self, account: MailAccount) -> None:
        self._account = account
        private = account.allow_private
        self._imap = _checked_url("imap_url", account.imap_url, private=private)
        self._smtp = _checked_url("smtp_url", account.smtp_url, private=private)

    def after(self, place: Place | None, since: date, limit: int) -> Batch:
        """Return mails behind a place, a window of UIDs after the other."""
        with self._signed_in() as imap:
            validity, last = _selected(imap, self._account.folder)
            uid = place.uid if place and place.validity == validity else 0
            day = f"{since.day:02d}-{_MONTHS[since.month - 1]}-{since.year}"
            mails: list[StoredMail] = []
            for _ in range(MAX_WINDOWS):
                if uid >= last or len(mails) >= limit:
                    break
                end = min(uid + WINDOW, last)
                uids = [each for each in _search(imap, f"UID {uid + 1}:{end} SINCE {day}")
                        if uid < each <= end]  # fmt: skip
                room = limit - len(mails)
                fetched = (_fetch(imap, each) for each in uids[:room])
                mails += [mail for mail in fetched if mail is not None]
                uid = uids[room - 1] if len(uids) > room else end
            return Batch(mails=mails, place=Place(validity=validity, uid=uid), more=uid < last)

    def find(self, *headers: tuple[str, str]) -> StoredMail | None:
        """Return the first mail with one of the headers, in the folder, then among what is sent."""
        with self._signed_in() as imap:
            for folder in (self._account.folder, self._account.sent_folder):
                if folder != self._account.folder and not _has(imap, folder):
                    continue
                _selected(imap, folder)
                for uid in _search(imap, _any_of(headers)):
                    mail = _fetch(imap, uid)
                    if mail is not None:
                        return mail
        return None

    def get(self, place: Place) -> StoredMail | None:
        """Return the mail at a place."""
        with self._signed_in() as imap:
            validity, _ = _selected(imap, self._account.folder)
            return _fetch(imap, place.uid) if validity == place.validity else None

    def send(self, message_id: str, recipient: str, raw: bytes) -> None:
        """Keep a mail as a draft, send it, and take the draft's flag off: then it was sent."""
        folder = self._account.sent_folder
        with self._signed_in() as imap:
            if not _has(imap, folder):
                _done(imap.create(_quoted(folder)))
            _selected(imap, folder, readonly=False)
            present = _search(imap, _any_of([(MESSAGE_ID, message_id)]))
            if present and not _is_draft(imap, present[0]):
                return
            if not present:
                _done(imap.append(_quoted(folder), r"(\Draft \Seen)", "", raw))
                _selected(imap, folder, readonly=False)
                present = _search(imap, _any_of([(MESSAGE_ID, message_id)]))
            self._hand_over(recipient, raw)
            for uid in present:
                _done(imap.uid("STORE", str(uid), "-FLAGS.SILENT", r"(\Draft)"))

    def _hand_over(self, recipient: str, raw: bytes) -> None:
        account = self._account
        try:
            context, domain = _context(self._smtp, "smtps"), account.address.rpartition("@")[2]
            with _Smtp(self._smtp, context, domain, private=account.allow_private) as smtp:
                smtp.ehlo()
                if self._smtp.scheme == "smtp":
                    if smtp.has_extn("starttls"):
                        smtp.starttls(context=trusted())
                        smtp.ehlo()
                    elif not account.allow_private:
                        raise _no_tls()
                if smtp.has_extn("auth"):
                    _sign_in_to_smtp(smtp, account)
                smtp.sendmail(account.address, [recipient], raw)
        except smtplib.SMTPAuthenticationError as refused:
            raise ConnectorUnauthorised("The mail server refuses its sign-in.") from refused
        except smtplib.SMTPException as refused:
            raise _smtp_error(refused) from refused
        except OSError as broken:
            raise _unreachable() from broken

    @contextmanager
    def _signed_in(self) -> Generator[imaplib.IMAP4]:
        account = self._account
        try:
            context = _context(self._imap, "imaps")
            imap = _Imap(self._imap, context, private=account.allow_private)
            try:
                if self._imap.scheme == "imap":
                    if "STARTTLS" in imap.capabilities:
                        imap.starttls(ssl_context=trusted())
                    elif not account.allow_private:
                        raise _no_tls()
                _sign_in(imap, account)
                yield imap
            finally:
                _end(imap)
        except imaplib.IMAP4.error as refused:
            raise Unavailable(
                "The mail server does not do what it was asked.", reason="mail-refused"
            ) from refused
        except OSError as broken:
            raise _unreachable() from broken


def _sign_in_to_smtp(smtp: smtplib.SMTP, account: MailAccount) -> None:
    if account.bearer is None:
        smtp.login(account.username, account.password)
        return
    mechanism = _mechanism(smtp.esmtp_features.get("auth", "").upper().split())
    at, token = urlsplit(account.smtp_url), account.bearer(None)
    try:
        smtp.auth(mechanism.name, mechanism.smtp(account, at, token))
    except smtplib.SMTPAuthenticationError:  # another token, once
        again = account.bearer(token)
        smtp.auth(mechanism.name, mechanism.smtp(account, at, again))


def _sign_in_by_token(imap: imaplib.IMAP4, account: MailAccount, bearer: Bearer) -> None:
    offered = [each.removeprefix("AUTH=") for each in imap.capabilities if each.startswith("AUTH=")]
    mechanism = _mechanism(offered)
    at, token = urlsplit(account.imap_url), None
    for _ in range(2):  # another token, once
        token = bearer(token)
        try:
            imap.authenticate(mechanism.name, mechanism.imap(account, at, token))
        except imaplib.IMAP4.abort:
            raise
        except imaplib.IMAP4.error:
            continue
        return
    raise ConnectorUnauthorised("The mail server refuses the token of its sign-in.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mechanism:
    """A SASL mechanism by a token. `acknowledges` answers the challenge that says what is wrong."""

    name: str
    words: Callable[[MailAccount, SplitResult, str], str]
    acknowledges: str

    def smtp(self, account: MailAccount, at: SplitResult, token: str) -> Any:
        """Return what smtplib asks: first without a challenge."""
        words = iter([self.words(account, at, token)])

        def answer(challenge: bytes | None = None) -> str:
            return next(words, self.acknowledges)

        return answer

    def imap(self, account: MailAccount, at: SplitResult, token: str) -> Callable[[bytes], bytes]:
        """Return what imaplib asks: first with an empty challenge."""
        words = iter([self.words(account, at, token)])
        return lambda challenge: next(words, self.acknowledges).encode()


def _mechanism(offered: Sequence[str]) -> _Mechanism:
    """Return the mechanism to sign in by; Microsoft knows XOAUTH2, RFC 7628 the other."""
    for mechanism in _MECHANISMS:
        if mechanism.name in offered:
            return mechanism
    raise Unavailable("The mail server takes no tokens (XOAUTH2).", reason="mail-without-oauth")


def _xoauth2(account: MailAccount, at: SplitResult, token: str) -> str:
    return f"user={account.username}\x01auth=Bearer {token}\x01\x01"


def _oauthbearer(account: MailAccount, at: SplitResult, token: str) -> str:
    """Return what RFC 7628 3.1 says."""
    user = account.username.replace("=", "=3D").replace(",", "=2C")
    where = f"host={at.hostname}\x01port={_port(at)}"
    return f"n,a={user},\x01{where}\x01auth=Bearer {token}\x01\x01"


_MECHANISMS = (
    _Mechanism(name="XOAUTH2", words=_xoauth2, acknowledges=""),
    _Mechanism(name="OAUTHBEARER", words=_oauthbearer, acknowledges="\x01"),
)


def _sign_in(imap: imaplib.IMAP4, account: MailAccount) -> None:
    if account.bearer is not None:
        _sign_in_by_token(imap, account, account.bearer)
        return
    try:
        # as literals: any character may stand in a password
        imap.authenticate("PLAIN", lambda _: _plain(account))
    except imaplib.IMAP4.abort:
        raise
    except imaplib.IMAP4.error as refused:
        raise ConnectorUnauthorised("The mail server refuses its sign-in.") from refused


def _plain(account: MailAccount) -> bytes:
    return f"\0{account.username}\0{account.password}".encode()


def _end(imap: imaplib.IMAP4) -> None:
    try:
        imap.logout()
    except (imaplib.IMAP4.error, OSError):  # it hung up first
        imap.shutdown()


def _connected(url: SplitResult, context: SSLContext | None, *, private: bool) -> socket.socket:
    host = url.hostname or ""
    address = address_to_ask(host, _port(url), resolve=resolved, allow_private=private)
    connection = socket.create_connection((address, _port(url)), SECONDS)
    if context is None:
        return connection
    try:
        return context.wrap_socket(connection, server_hostname=host)
    except OSError:
        connection.close()
        raise


def _context(url: SplitResult, scheme: str) -> SSLContext | None:
    return trusted() if url.scheme == scheme else None


def _port(url: SplitResult) -> int:
    return url.port or PORTS[url.scheme]


def _checked_url(name: str, text: str, *, private: bool) -> SplitResult:
    """Return an address of a mail server; ValidationFailed for anything else."""
    try:
        url = urlsplit(text)
        fits = url.scheme.startswith(name[:4]) and url.scheme in PORTS and url.port != 0
    except ValueError:
        url, fits = urlsplit(""), False
    extra = url.path.strip("/") or url.query or url.fragment or "@" in url.netloc
    if not fits or not url.hostname or extra or not text.isprintable() or " " in text:
        fault = f"is {name[:4]}s://HOST[:PORT], or {name[:4]}:// for STARTTLS"
        raise ValidationFailed(f"{name} {fault}.", errors=[FieldError(f"config.{name}", fault)])
    return url


def _selected(imap: imaplib.IMAP4, folder: str, *, readonly: bool = True) -> tuple[int, int]:
    """Open a folder; return its validity and the highest UID that it may have given."""
    _done(imap.select(_quoted(folder), readonly=readonly))
    validity, following = _count(imap, "UIDVALIDITY"), _count(imap, "UIDNEXT")
    return validity, following - 1


def _count(imap: imaplib.IMAP4, name: str) -> int:
    _, values = imap.response(name)
    value = values[0] if values else None
    if not isinstance(value, bytes) or not value.isdigit():
        raise Unavailable("The mail server keeps no UIDs.", reason="mail-refused")
    return int(value)


def _search(imap: imaplib.IMAP4, criteria: str) -> list[int]:
    lines = _done(imap.uid("SEARCH", criteria))
    text = b" ".join(each for each in lines if isinstance(each, bytes))
    return sorted(int(each) for each in _NUMBER.findall(text))


def _any_of(headers: Sequence[tuple[str, str]]) -> str:
    """Return criteria: of `Message-ID` and alike, whose values hold no quotes."""
    each = [f'HEADER {name} "{value}"' for name, value in headers]
    return " ".join(["OR"] * (len(each) - 1) + each)


def _fetch(imap: imaplib.IMAP4, uid: int) -> StoredMail | None:
    """Return a mail without marking it as read; None when it is gone."""
    what = f"(INTERNALDATE BODY.PEEK[]<0.{MAX_MAIL_BYTES}>)"
    for each in _done(imap.uid("FETCH", str(uid), what)):
        if isinstance(each, tuple):
            each = cast("tuple[bytes, bytes]", each)
            whole = len(each[1]) < MAX_MAIL_BYTES
            return StoredMail(uid=uid, raw=each[1], arrived_at=_arrived(each[0]), whole=whole)
    return None


def _arrived(line: bytes) -> datetime | None:
    parsed = imaplib.Internaldate2tuple(line)
    if parsed is None:
        return None
    return datetime.fromtimestamp(time.mktime(parsed), UTC)


def _is_draft(imap: imaplib.IMAP4, uid: int) -> bool:
    answers = _done(imap.uid("FETCH", str(uid), "(FLAGS)"))
    return any(rb"\Draft" in each for each in answers if isinstance(each, bytes))


def _has(imap: imaplib.IMAP4, folder: str) -> bool:
    answers = _done(imap.list('""', _quoted(folder)))
    return any(each for each in answers)


def _quoted(folder: str) -> str:
    return f'"{folder}"'


def _done(answer: tuple[str, list[Any]]) -> list[Any]:
    kind, values = answer
    if kind != "OK":
        raise Unavailable("The mail server refuses a command.", reason="mail-refused")
    return values


def _smtp_error(refused: smtplib.SMTPException) -> Unavailable | ValidationFailed:
    """Return a refusal for good (5xx) as ValidationFailed, another as Unavailable."""
    codes = [getattr(refused, "smtp_code", 0)]
    if isinstance(refused, smtplib.SMTPRecipientsRefused):
        codes = [code for code, _ in refused.recipients.values()]
    if any(500 <= code < 600 for code in codes):
        return ValidationFailed("The mail server refuses this mail.", reason="mail-refused")
    return Unavailable("The mail server did not take the mail.", reason="mail-refused")


def _no_tls() -> Unavailable:
    return Unavailable("The mail server offers no TLS.", reason="mail-without-tls")


def _unreachable() -> Unavailable:
    return Unavailable("The mail server cannot be reached.", reason="mail-unreachable")
