"""What a reply by mail says itself, without what it quotes."""

import pytest

from cairn.tickets.mail_text import read_mail, without_quotes

QUOTES = [
    "On Mon, 2 Mar 2026 at 09:12, Support <s@desk.example> wrote:\n> Which one?",
    "Am Mo., 2. März 2026 um 09:12 Uhr schrieb Support <s@desk.example>:\n> Welche?",
    "Le lun. 2 mars 2026 à 09:12, Support <s@desk.example> a écrit :\n> Laquelle ?",
    "-----Original Message-----\nFrom: Support\nSent: Monday\nTo: Kevin\n\nWhich one?",
    "From: Support <s@desk.example>\nSent: Monday, 2 March 2026\nTo: Kevin\nSubject: x\n\nWhich?",
]


@pytest.mark.parametrize("quoted", QUOTES)
def test_what_is_quoted_below_is_cut(quoted: str) -> None:
    assert without_quotes(f"The left one.\r\n\r\n{quoted}".replace("\n", "\r\n")) == "The left one."


def test_an_answer_between_the_lines_loses_only_what_it_quotes() -> None:
    text = "See below.\n\nOn Mon, S <s@d.example> wrote:\n> Which one?\nThe left.\n> When?\nNow."
    cut = without_quotes(text)
    assert "The left." in cut and "Now." in cut
    assert "Which one?" not in cut


def test_an_answer_below_the_quote_is_kept() -> None:
    assert "The left." in without_quotes("On Mon, S <s@d.example> wrote:\n> Which?\n\nThe left.")


def test_a_reply_of_quotes_alone_keeps_them() -> None:
    assert without_quotes("> Which one?") == "> Which one?"


@pytest.mark.parametrize("line", ["On ", "\n", "> ", "From: ", "-----", "Le ", "\u200b", "* "])
def test_a_hostile_reply_is_read_and_not_lost(line: str) -> None:
    assert "the end" in without_quotes(f"{line * 20_000}\nthe end")


def test_a_forwarded_mail_that_begins_a_thread_keeps_all_of_it() -> None:
    body = "Please look.\n\nFrom: A <a@b.example>\nSent: Monday\nTo: C\nSubject: x\n\nIt is broken."
    raw = f"From: k@b.example\r\nSubject: Fwd: x\r\n\r\n{body}".encode()
    assert "It is broken." in read_mail(raw, own="s@d.example").text


def test_lines_of_a_header_cannot_be_smuggled_in() -> None:
    raw = b"From: k@b.example\r\nSubject: =?utf-8?q?Hi=0D=0ABcc=3A_x=40y.example=00?=\r\n\r\nx"
    assert read_mail(raw, own="s@d.example").subject == "Hi Bcc: x@y.example"


def test_a_mail_of_a_thousand_parts_in_each_other_is_set_aside_or_read() -> None:
    opened = "".join(
        f"Content-Type: multipart/mixed; boundary=b{depth}\r\n\r\n--b{depth}\r\n"
        for depth in range(1_000)
    )
    mail = read_mail(f"From: k@b.example\r\n{opened}".encode(), own="s@d.example")
    assert (mail.set_aside, mail.text) in (("malformed", ""), (None, ""))
