"""The grammar of citations: what is one, which claims end with one, and what is done without."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.graph.node import Label
from cairn.investigations import citations
from cairn.investigations.citations import (
    Citation,
    Kind,
    claims,
    disclaimed,
    parse,
    resolves,
    unsourced,
)
from cairn.recall.records import FoundNode
from cairn.recall.rendering import citation_of

NOW = datetime(2026, 11, 3, tzinfo=UTC)
ID = UUID("0198a1b2-0000-7000-8000-000000000001")
OTHER = UUID("0198a1b2-0000-7000-8000-000000000002")
RUNBOOK = "[doc:kb://lockout.md#Unlock > Steps#L12-L30]"
KNOWN = tuple(filter(None, [parse(RUNBOOK), parse(citations.tool(ID))]))


@pytest.mark.parametrize(
    ("token", "read"),
    [
        (
            RUNBOOK,
            Citation(
                kind=Kind.DOC,
                target="kb://lockout.md",
                headings=("Unlock", "Steps"),
                lines=(12, 30),
            ),
        ),
        ("[doc:a.pdf#p3-p4]", Citation(kind=Kind.DOC, target="a.pdf", pages=(3, 4))),
        ("[doc:a b.md]", Citation(kind=Kind.DOC, target="a b.md")),
        (f"[memory:{ID}]", Citation(kind=Kind.MEMORY, target=str(ID))),
        (f"[tool:{str(ID).upper()}]", Citation(kind=Kind.TOOL, target=str(ID))),
        (f"[ticket:{ID}]", Citation(kind=Kind.TICKET, target=str(ID))),
    ],
)
def test_a_citation_is_read(token: str, read: Citation) -> None:
    assert parse(token) == read


@pytest.mark.parametrize(
    "token",
    [
        "",
        "doc:a",
        "[doc:]",
        "[doc:#L1-L2]",
        "[doc:a#b#c#L1-L2]",
        "[doc:a#L3-L2]",
        "[doc:a#L0-L2]",
        "[memory:not-an-id]",
        "[tool:1]",
        "[kb:a]",
        f"[memory:{ID}] and more",
        "[doc:a[b]]",
        "[doc:" + "a" * 3000 + "]",
    ],
)
def test_anything_else_is_none(token: str) -> None:
    assert parse(token) is None


def test_what_recall_writes_is_read_back_the_same() -> None:
    node = FoundNode(
        id=ID,
        label=Label.CHUNK,
        text="",
        state="active",
        entry_id=ID,
        position=1,
        occurred_at=NOW,
        recorded_at=NOW,
        valid_from=NOW,
        source_uri="https://x.example/a#b?[c]",
        headings=("One # two", "Three"),
        line_from=3,
        line_to=9,
    )
    token = citation_of(node)
    assert str(parse(token)) == token


def test_a_claim_ends_with_its_citation_before_or_after_the_full_stop() -> None:
    text = (
        f"Hello Ana,\n\nYour account was locked after 7 tries {RUNBOOK}. It is open now. "
        f"[tool:{ID}] Is it well with 3.5 GB? That is all e.g. today.\n\nKind regards,"
    )
    found = claims(text)
    assert [len(item.citations) for item in found] == [1, 1, 0]
    assert found[1].text == f"It is open now. [tool:{ID}]"


def test_a_citation_in_the_middle_is_not_at_the_end() -> None:
    (claim,) = claims(f"The log {RUNBOOK} says so and the moon is cheese.")
    assert claim.citations == ()


def test_a_request_is_no_claim_but_a_note_is() -> None:
    assert claims("Please send the address of the web hook.") == ()
    assert len(claims("Please note that we deleted everything.")) == 1


@pytest.mark.parametrize(
    ("token", "known"),
    [
        (RUNBOOK, True),
        ("[doc:kb://lockout.md]", True),
        ("[doc:kb://lockout.md#Unlock#L13-L14]", True),
        ("[doc:kb://lockout.md#Unlock#L13-L31]", False),
        ("[doc:kb://lockout.md#Other#L13-L14]", False),
        ("[doc:kb://other.md]", False),
        (f"[tool:{ID}]", True),
        (f"[tool:{OTHER}]", False),
        (f"[memory:{ID}]", False),
    ],
)
def test_a_citation_resolves_to_what_was_found_or_a_part_of_it(token: str, known: bool) -> None:
    cited = parse(token)
    assert cited is not None
    assert resolves(cited, KNOWN) is known


def test_an_invented_citation_leaves_the_claim_without_source() -> None:
    text = f"All is well [memory:{OTHER}]. The account is locked {RUNBOOK}."
    assert [item.text for item in unsourced(text, KNOWN)] == [f"All is well [memory:{OTHER}]."]
    assert disclaimed(text, KNOWN) == f"All is well (no source). The account is locked {RUNBOOK}."


def test_lines_are_kept_and_the_marker_speaks_the_language() -> None:
    text = f"Guten Tag,\n\n- Das Konto ist gesperrt {RUNBOOK}\n- Der Mond ist aus Käse."
    assert disclaimed(text, KNOWN, language="de") == (
        f"Guten Tag,\n\n- Das Konto ist gesperrt {RUNBOOK}\n- Der Mond ist aus Käse (ohne Quelle)."
    )


PIECES = ["It works", "No", RUNBOOK, f"[memory:{OTHER}]", ". ", "? ", "\n", " ", "[doc:", "]", "#"]


@given(st.lists(st.sampled_from(PIECES)).map("".join) | st.text(max_size=80))
def test_after_disclaiming_nothing_is_unsourced_and_again_changes_nothing(text: str) -> None:
    once = disclaimed(text, KNOWN)
    assert unsourced(once, KNOWN) == ()
    assert disclaimed(once, KNOWN) == once
    assert all(resolves(citation, KNOWN) for citation in citations.citations(once))


def test_spaces_without_end_after_a_citation_are_read_in_one_pass() -> None:
    text = f"It is open {RUNBOOK}{' ' * 100_000}now"
    assert disclaimed(text, KNOWN) == f"It is open {RUNBOOK} now (no source)."


def test_a_requester_reads_titles_and_no_ids() -> None:
    doc = "[doc:kb://team.md#Your team > Inviting a colleague#L3-L6]"
    said = f"It says: “Choose Invite” {doc}. “It is good” {doc}."
    text = f"Hello,\n\nIt is open {citations.tool(ID)}. {said}\nBye."
    read = citations.for_readers(text)
    assert read == (
        "Hello,\n\nIt is open. It says: “Choose Invite”. “It is good” (Your team, Inviting a "
        "colleague).\nBye."
    )
    assert citations.for_readers("See [doc:kb://a/team.md].") == "See (team)."
    assert citations.for_readers(read) == read
