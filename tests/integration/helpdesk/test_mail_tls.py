"""Mailboxes over TLS: a certificate of an authority that is trusted, and those that are not."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

import pytest
from tests.support.mail import KEVIN, PASSWORD, SUPPORT, mail_server, written
from tests.support.tls import Authority, authority, tls_door

from cairn.adapters.mail import box
from cairn.adapters.mail.box import ImapSmtpBox, MailAccount
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date
    from pathlib import Path

    from tests.support.mail import MailServer

MESSAGE_ID = "<tls-1@harbourlane.example>"


@pytest.fixture(scope="module")
def server() -> Iterator[MailServer]:
    with mail_server() as server:
        yield server


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def stranger(tmp_path: Path) -> Authority:
    return authority(tmp_path)


@pytest.fixture
def trusts(monkeypatch: pytest.MonkeyPatch, issuer: Authority) -> None:
    monkeypatch.setattr(box, "trusted", issuer.trusting)


def since() -> date:
    return utc_now().date()


def mailbox(imap_port: int, smtp_port: int) -> ImapSmtpBox:
    return ImapSmtpBox(
        MailAccount(
            address=SUPPORT,
            username=SUPPORT,
            password=PASSWORD,
            imap_url=f"imaps://127.0.0.1:{imap_port}",
            smtp_url=f"smtps://127.0.0.1:{smtp_port}",
            allow_private=True,
        )
    )


@pytest.mark.usefixtures("trusts")
def test_mail_is_read_and_sent_over_tls_that_is_trusted(
    server: MailServer, issuer: Authority
) -> None:
    server.put(written("I cannot sign in.").as_bytes())
    answer = written("It is mended.", Message_ID=MESSAGE_ID).as_bytes()
    context = issuer.serving()
    with tls_door(server.imap_port, context) as imap, tls_door(server.smtp_port, context) as smtp:
        opened = mailbox(imap, smtp)
        mails = opened.after(None, since(), 10).mails
        assert any(b"I cannot sign in." in mail.raw for mail in mails)
        opened.send(MESSAGE_ID, KEVIN, answer)
    assert [recipient for recipient, _ in server.sent] == [KEVIN]
    server.sent.clear()


def test_a_certificate_of_nobody_that_is_known_ends_it_before_anything_is_said(
    server: MailServer, issuer: Authority
) -> None:
    door = tls_door(server.imap_port, issuer.serving())
    with door as port, pytest.raises(Unavailable, match="reached"):
        mailbox(port, port).after(None, since(), 10)


@pytest.mark.usefixtures("trusts")
def test_a_certificate_of_another_authority_is_refused(
    server: MailServer, stranger: Authority
) -> None:
    with tls_door(server.imap_port, stranger.serving()) as port, pytest.raises(Unavailable):
        mailbox(port, port).after(None, since(), 10)


@pytest.mark.usefixtures("trusts")
def test_a_certificate_for_another_name_is_refused_and_nothing_is_sent(
    server: MailServer, issuer: Authority
) -> None:
    named = issuer.serving("mail.example.org")
    with tls_door(server.imap_port, named) as imap, tls_door(server.smtp_port, named) as smtp:
        opened = mailbox(imap, smtp)
        with pytest.raises(Unavailable):
            opened.after(None, since(), 10)
    with (
        tls_door(server.imap_port, issuer.serving()) as imap,
        tls_door(server.smtp_port, named) as smtp,
        pytest.raises(Unavailable),
    ):
        answer = written("It is mended.", Message_ID="<tls-2@harbourlane.example>").as_bytes()
        mailbox(imap, smtp).send("<tls-2@harbourlane.example>", KEVIN, answer)
    assert server.sent == []


@pytest.mark.usefixtures("trusts")
def test_what_speaks_no_tls_at_a_port_of_tls_is_refused(server: MailServer) -> None:
    with pytest.raises(Unavailable):
        mailbox(server.imap_port, server.smtp_port).after(None, since(), 10)


def test_what_is_trusted_checks_names_and_certificates() -> None:
    context = box.trusted()
    assert (context.check_hostname, context.verify_mode) == (True, ssl.CERT_REQUIRED)
