"""A mail server on this machine: pymap keeps the mailbox, aiosmtpd takes mail in and out."""

from __future__ import annotations

import asyncio
import base64
import imaplib
import re
import smtplib
import socket
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope
from tests.plugins.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.support.device_server import DeviceServer

SUPPORT, PASSWORD = "support@harbourlane.example", 'pass "word" \\'
KEVIN = "kevin@hartwell.example"


@dataclass
class MailServer:
    """`sent` is what went out to others, by who gets it; `refuses` what SMTP answers instead."""

    imap_port: int
    smtp_port: int = 0
    sent: list[tuple[str, bytes]] = field(default_factory=list[tuple[str, bytes]])
    refuses: list[str] = field(default_factory=list[str])
    tokens: DeviceServer | None = None
    mechanism: str = "XOAUTH2"

    def config(self, **more: Any) -> dict[str, Any]:
        """The settings of a ticket source."""
        return {
            "address": SUPPORT,
            "imap_url": f"imap://127.0.0.1:{self.imap_port}",
            "smtp_url": f"smtp://127.0.0.1:{self.smtp_port}",
            **more,
        }

    def imap(self) -> imaplib.IMAP4:
        imap = imaplib.IMAP4("127.0.0.1", self.imap_port, timeout=20)
        if self.tokens is not None:
            start = f"user={SUPPORT}" if self.mechanism == "XOAUTH2" else f"n,a={SUPPORT},"
            words = f"{start}\x01auth=Bearer {self.tokens.own_token}\x01\x01"
            imap.authenticate(self.mechanism, lambda _: words.encode())
            return imap
        imap.authenticate("PLAIN", lambda _: f"\0{SUPPORT}\0{PASSWORD}".encode())
        return imap

    def put(self, raw: bytes, folder: str = "INBOX") -> None:
        """Put a mail into the mailbox as it is."""
        imap = self.imap()
        assert imap.append(folder, "", "", raw)[0] == "OK"
        imap.logout()

    def raw(self, folder: str) -> list[bytes]:
        imap = self.imap()
        if imap.select(folder, readonly=True)[0] != "OK":
            return []
        (found,) = imap.uid("SEARCH", "ALL")[1]
        mails = [imap.uid("FETCH", uid.decode(), "(FLAGS BODY.PEEK[])")[1] for uid in found.split()]
        imap.logout()
        return [b"".join(part if isinstance(part, bytes) else b"".join(part) for part in mail)
                for mail in mails]  # fmt: skip

    def mail(self, message: EmailMessage) -> None:
        """Send a mail as a customer's program does."""
        with smtplib.SMTP("127.0.0.1", self.smtp_port, timeout=20) as smtp:
            smtp.send_message(message)

    async def auth_XOAUTH2(self, server: Any, arguments: list[str]) -> AuthResult:
        """Take a token that its issuer calls good; what is wrong is said as Google says it."""
        said = base64.b64decode(arguments[1]).decode() if len(arguments) > 1 else ""
        user, _, rest = said.removeprefix("user=").partition("\x01auth=Bearer ")
        token = rest.removesuffix("\x01\x01")
        if self.tokens is not None and user == SUPPORT and self.tokens.is_good(token):
            return AuthResult(success=True)
        await server.challenge_auth(b'{"status":"400","schemes":"Bearer"}')
        return AuthResult(success=False, handled=False)

    async def handle_DATA(self, server: Any, session: Any, envelope: Envelope) -> str:
        """Take a mail: for the mailbox into it, for others to what was sent."""
        if self.refuses:
            return self.refuses.pop(0)
        content = envelope.content
        assert isinstance(content, bytes)
        for recipient in envelope.rcpt_tos:
            if recipient == SUPPORT:
                await asyncio.get_running_loop().run_in_executor(None, self.put, content)
            else:
                self.sent.append((recipient, content))
        return "250 taken"

    async def auth_OAUTHBEARER(self, server: Any, arguments: list[str]) -> AuthResult:
        """The same by RFC 7628: what is wrong is said in a challenge, which is acknowledged."""
        said = base64.b64decode(arguments[1]) if len(arguments) > 1 else b""
        user, token = by_rfc_7628(said, self.smtp_port)
        if self.tokens is not None and user == SUPPORT and self.tokens.is_good(token):
            return AuthResult(success=True)
        answer = await server.challenge_auth(b'{"status":"invalid_token"}', encode_to_b64=True)
        assert answer == b"\x01"
        return AuthResult(success=False, handled=False)


def by_rfc_7628(response: bytes, port: int | None = None) -> tuple[str, str]:
    """Return the user and the token of a client's response of OAUTHBEARER, its form checked (3.1).

    Where `port` is given the host and the port have to be those that were connected to.
    """
    header, *pairs = response.decode().split("\x01")
    matched = re.fullmatch(r"n,a=((?:[^=,]|=2C|=3D)*),", header)
    assert matched, header
    assert pairs[-2:] == ["", ""], pairs
    fields = dict(each.split("=", 1) for each in pairs[:-2])
    if port is not None:
        assert (fields["host"], fields["port"]) == ("127.0.0.1", str(port))
    scheme, _, token = fields["auth"].partition(" ")
    assert scheme == "Bearer"
    return matched[1].replace("=2C", ",").replace("=3D", "="), token


def written(text: str, subject: str = "Cannot sign in", **headers: str) -> EmailMessage:
    """A mail from Kevin to support; a header's `_` is a `-`."""
    message = EmailMessage()
    fields = {"From": f"Kevin Reyes <{KEVIN}>", "To": SUPPORT, "Subject": subject}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    for name, value in fields.items():
        message[name] = value
    message.set_content(text)
    return message


def _authenticated(*arguments: Any) -> AuthResult:
    data = arguments[-1]
    return AuthResult(success=(data.login, data.password) == (SUPPORT.encode(), PASSWORD.encode()))


@contextmanager
def mail_server(
    tokens: DeviceServer | None = None, mechanism: str = "XOAUTH2"
) -> Generator[MailServer]:
    """Start both parts, and stop them. With `tokens` these sign in, and no password does."""
    excluded = {"LOGIN", "PLAIN", "XOAUTH2", "OAUTHBEARER"}
    excluded -= {mechanism} if tokens else {"LOGIN", "PLAIN"}
    with _pymap(tokens, mechanism) as port, loop_thread() as loop:
        server = MailServer(imap_port=port, tokens=tokens, mechanism=mechanism)

        async def begin() -> asyncio.Server:
            return await loop.create_server(
                lambda: SMTP(
                    server,
                    hostname="mx",
                    authenticator=_authenticated,
                    auth_require_tls=False,
                    auth_exclude_mechanism=excluded,
                ),
                "127.0.0.1",
                0,
            )

        smtp = asyncio.run_coroutine_threadsafe(begin(), loop).result(20)
        server.smtp_port = smtp.sockets[0].getsockname()[1]
        try:
            yield server
        finally:
            loop.call_soon_threadsafe(smtp.close)


@contextmanager
def loop_thread() -> Generator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        asyncio.run_coroutine_threadsafe(_all_ended(), loop).result(20)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(20)
        loop.close()


async def _all_ended() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


@contextmanager
def _pymap(tokens: DeviceServer | None, mechanism: str) -> Generator[int]:
    """Run the IMAP server on a port that was free; on another one when somebody took it."""
    for _ in range(5):
        with closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [str(Path(sys.executable).parent / "pymap")]
        if tokens is not None:
            command = [sys.executable, "-m", "tests.support.pymap_by_token", tokens.url, mechanism]
        command += ["--host", "127.0.0.1"]
        command += ["--port", str(port), "--no-tls", "dict"]
        command += ["--demo-user", SUPPORT, "--demo-password", PASSWORD]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            eventually(lambda at=port, of=process: of.poll() is not None or _answers(at))
            if process.poll() is None:
                yield port
                return
        finally:
            process.kill()  # asked politely it waits for who is connected
            process.wait(20)
    raise AssertionError("the IMAP server does not start")


def _answers(port: int) -> bool:
    try:
        with closing(socket.create_connection(("127.0.0.1", port), 5)) as connection:
            return connection.recv(4) == b"* OK"
    except OSError:
        return False
