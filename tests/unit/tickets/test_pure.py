"""What tickets are made of: names, cursors, plain text, the queue's numbers."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.helpdesk import incoming

from cairn.kernel.errors import ValidationFailed
from cairn.tickets.adapter import MAX_SEEN, OVERLAP, Cursor, read_cursor, text_at, time_at
from cairn.tickets.github import priority_of
from cairn.tickets.html import plain_text
from cairn.tickets.intake import is_later
from cairn.tickets.queue import is_degraded, view_of
from cairn.tickets.sealing import (
    checked,
    customer_key,
    mended,
    owners_of,
    requester_key,
    shortened,
    text_of,
)
from cairn.tickets.ticket import Priority, QueueNumbers

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "x"])
def test_a_moment_that_no_clock_shows_is_none(text: str) -> None:
    assert time_at({"at": text}, "at") is None


@pytest.mark.parametrize(
    ("customer", "key"),
    [
        ("Hartwell Law \u2014 Kevin Reyes", "hartwell-law"),
        ("Hartwell Law - Kevin Reyes", "hartwell-law"),
        ("  ACME, Inc.  ", "acme-inc"),
        ("Caf\u00e9 d'Or", "caf\u00e9-d-or"),
        ("\u682a\u5f0f\u4f1a\u793e", "\u682a\u5f0f\u4f1a\u793e"),
        ("global", "global-customer"),
        ("", None),
        (" \u2014 ", None),
        ("!!!", None),
    ],
)
def test_a_customer_is_known_by_its_companys_name(customer: str, key: str | None) -> None:
    assert customer_key(customer) == key


@pytest.mark.parametrize(
    ("email", "key"),
    [
        ("Kevin.Reyes@Hartwell.example ", "kevin.reyes@hartwell.example"),
        ("kevin", None),
        ("a@b@c", None),
        ("<a@b>", None),
        ("", None),
        (None, None),
    ],
)
def test_a_requester_is_known_by_the_address(email: str | None, key: str | None) -> None:
    assert requester_key(email) == key


def test_a_ticket_is_about_its_customer_and_its_requester() -> None:
    assert owners_of(incoming()) == (
        ("client", "hartwell-law"),
        ("person", "kevin@hartwell.example"),
    )
    assert owners_of(incoming(customer="", requester_email=None)) == ()


@pytest.mark.parametrize(
    ("given_at", "known_at", "later"),
    [
        (NOON, None, True),
        (NOON, NOON, False),
        (NOON + timedelta(seconds=1), NOON, True),
        (NOON, NOON + timedelta(seconds=1), False),
        (None, None, False),
        (None, NOON, False),
    ],
)
def test_the_sources_clock_says_which_form_is_later(
    given_at: datetime | None, known_at: datetime | None, later: bool
) -> None:
    assert is_later(given_at, known_at) is later


@given(st.text(), st.text(max_size=600), st.text())
def test_whatever_a_source_sends_can_be_kept_once_it_is_mended(
    title: str, body: str, customer: str
) -> None:
    strange = incoming(title=title + "\ud800", body=body + "\x00", customer=customer)
    kept = mended(strange)
    assert checked(kept) == kept
    assert mended(kept) == kept
    text_of(kept)


@pytest.mark.parametrize("external_id", ["", "  ", "a\x00", "x" * 201])
def test_a_ticket_without_an_id_cannot_be_mended(external_id: str) -> None:
    with pytest.raises(ValidationFailed):
        mended(incoming(external_id=external_id))


def test_what_is_cut_says_how_long_it_was() -> None:
    assert shortened("short", 40) == "short"
    cut = shortened("x" * 100, 50)
    assert len(cut) == 50
    assert cut.endswith("[cut by cairn: 100 characters in all]")


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("plain < text > here", "plain < text > here"),
        ("a &amp; b", "a &amp; b"),
        ("<p>a &amp; b</p>", "a & b"),
        ("one<br>two<br/>three", "one\ntwo\nthree"),
        ("<style>p{}</style><p>seen</p><script>x</script>", "seen"),
        ("<div>a</div><div> </div><div>b</div>", "a\n\nb"),
        ("<p>never closed", "never closed"),
        ("</script>x<b>y", "xy"),
        ("<!-- hidden -->seen<i></i>", "seen"),
    ],
)
def test_html_is_read_as_a_reader_would_see_it(html: str, text: str) -> None:
    assert plain_text(html) == text


@pytest.mark.parametrize(
    "piece",
    ["<", "<a ", "<!--", "</scrip", '<p a="', "<?", "<div>", " \n", "<script>", "&", "<br", "< >"],
)
def test_hostile_html_takes_no_longer_than_other_texts(piece: str) -> None:
    began = time.perf_counter()
    plain_text("<p>" + piece * (1_000_000 // len(piece)))
    assert time.perf_counter() - began < 10


def test_a_cursor_is_read_as_it_was_written() -> None:
    cursor = Cursor(since=NOON, start=3, seen=frozenset({("1", "t"), ("2", "u")}))
    assert read_cursor(str(cursor), NOON - timedelta(days=1)) == cursor


@pytest.mark.parametrize("kept", [None, "", "{", "[]", "[1, 2, 3]", '["x", 0, []]', "null"])
def test_a_cursor_that_is_none_begins_at_the_beginning(kept: str | None) -> None:
    assert read_cursor(kept, NOON) == Cursor(since=NOON)


def test_the_next_list_overlaps_and_passes_over_what_was_seen() -> None:
    at = NOON + timedelta(hours=1)
    after = Cursor(since=NOON).after([("1", NOON), ("2", at)], full=False, size=2)
    assert after.since == at - OVERLAP
    assert after.has_seen("2", at)
    assert not after.has_seen("1", NOON)
    assert not after.has_seen("2", at + timedelta(seconds=1))


def test_a_full_list_of_one_moment_is_gone_on_behind() -> None:
    many = [(str(number), NOON) for number in range(600)]
    after = Cursor(since=NOON).after(many, full=True, size=600)
    assert (after.since, after.start) == (NOON, 600)
    assert len(read_cursor(str(after), NOON).seen) == MAX_SEEN
    assert Cursor(since=NOON).after([], full=False, size=0) == Cursor(since=NOON)


@pytest.mark.parametrize(
    ("labels", "priority"),
    [
        ([], Priority.MEDIUM),
        (["bug"], Priority.MEDIUM),
        (["priority: high"], Priority.HIGH),
        (["P0", "low"], Priority.CRITICAL),
        (["prio/low"], Priority.LOW),
        (["highlight"], Priority.MEDIUM),
    ],
)
def test_labels_say_how_urgent_an_issue_is(labels: list[str], priority: Priority) -> None:
    assert priority_of(labels) is priority


def test_records_are_read_whatever_their_types() -> None:
    record = {"a": {"b": 7}, "list": [1], "yes": True, "at": "2026-05-01T12:00:00.000Z"}
    assert text_at(record, "a", "b") == "7"
    assert text_at(record, "list") == text_at(record, "yes") == text_at(record, "a") == ""
    assert text_at(record, "at", "deeper") == ""
    assert time_at(record, "at") == NOON
    assert time_at({"at": "2026-05-01T12:00:00"}, "at") == NOON
    assert time_at({"at": "soon"}, "at") is None
    assert time_at(record, "none") is None


def test_the_wait_is_the_queue_times_the_average_over_how_many_run() -> None:
    numbers = QueueNumbers(depth=40, held=1, new=2, investigating=8, discarded=3, average_s=120.0)
    view = view_of(numbers, at_once=8)
    assert view.expected_wait_s == pytest.approx(600.0)
    assert not view.degraded
    assert [is_degraded(depth) for depth in (50, 51)] == [False, True]
