"""PDF: pages, headings by size, running heads, and every kind of file that cannot be read."""

import logging

import pytest
from tests.unit.documents.pdf_files import assembled, bomb, encrypted, pdf

from cairn.documents.parse import parse
from cairn.documents.parsed import BlockKind, ParseLimits
from cairn.documents.split import split
from cairn.kernel.errors import TooLarge, ValidationFailed

BODY = [(10.0, f"Line {n} of plain running text that fills the page.") for n in range(1, 6)]


def words(text: str) -> int:
    return len(text.split())


def reason_of(content: bytes, limits: ParseLimits | None = None) -> str:
    with pytest.raises(ValidationFailed) as caught:
        parse(content, "application/pdf", limits=limits or ParseLimits())
    return caught.value.reason


def test_larger_lines_are_headings_by_size_and_text_has_its_page() -> None:
    first = [(20.0, "The agreement"), (14.0, "Fees"), *BODY]
    parsed = parse(pdf([first, [(14.0, "Term"), *BODY]]), "application/pdf")
    assert [(b.kind, b.level, b.page) for b in parsed.blocks] == [
        (BlockKind.HEADING, 1, 1),
        (BlockKind.HEADING, 2, 1),
        (BlockKind.PARAGRAPH, 0, 1),
        (BlockKind.HEADING, 2, 2),
        (BlockKind.PARAGRAPH, 0, 2),
    ]
    assert parsed.title == "The agreement"


def test_running_heads_and_page_numbers_are_dropped() -> None:
    pages = [[(10.0, "Club paper"), *BODY, (10.0, f"Page {n} of 4")] for n in range(1, 5)]
    text = "\n".join(block.text for block in parse(pdf(pages), "application/pdf").blocks)
    assert "Club paper" not in text and "Page" not in text
    assert text.count("Line 3 of plain") == 4


def test_a_paragraph_that_goes_on_after_the_page_break_is_marked() -> None:
    pages = [[(10.0, "The fee is due on the")], [(10.0, "fifth of each month.")]]
    first, second = parse(pdf(pages), "application/pdf").blocks
    assert (first.continues, second.continues) == (False, True)


def test_words_parted_at_a_line_end_are_joined_and_compounds_keep_their_hyphen() -> None:
    lines = [
        (10.0, "A mountain-hut is a reser-"),
        (10.0, "vation, and a mountain-"),
        (10.0, "hut too."),
    ]
    (block,) = parse(pdf([lines]), "application/pdf").blocks
    assert block.text == "A mountain-hut is a reservation, and a mountain-hut too."


def test_without_headings_no_chunk_crosses_a_page() -> None:
    parsed = parse(pdf([BODY, BODY]), "application/pdf")
    chunks = split(parsed, words).chunks
    assert [(chunk.page_from, chunk.page_to) for chunk in chunks] == [(1, 1), (2, 2)]


def test_under_a_heading_that_goes_on_a_chunk_may_cross_a_page() -> None:
    first = [(18.0, "Fees"), *BODY, (10.0, "It is due on the")]
    parsed = parse(pdf([first, [(10.0, "fifth of each month."), *BODY]]), "application/pdf")
    (chunk,) = split(parsed, words).chunks
    assert (chunk.page_from, chunk.page_to, chunk.line_from) == (1, 2, None)
    assert "It is due on the fifth of each month." in chunk.text


def test_a_file_that_needs_a_password_is_refused() -> None:
    assert reason_of(encrypted(pdf([BODY]), "secret")) == "encrypted-pdf"


def test_a_file_that_anybody_can_open_is_read_though_encrypted() -> None:
    parsed = parse(encrypted(pdf([BODY]), ""), "application/pdf")
    assert parsed.blocks[0].text.startswith("Line 1 of plain")


def test_a_file_without_pages_is_empty() -> None:
    assert reason_of(pdf([])) == "empty-document"


def test_a_file_of_pictures_has_no_text_layer() -> None:
    assert reason_of(pdf([[], []])) == "no-text-layer"


@pytest.mark.parametrize(
    "content",
    [
        b"%PDF-1.7\n",
        b"%PDF-1.7\n" + b"\xff\x00 garbage " * 50,
        pdf([BODY])[:200],
        assembled([b"<< /Type /Catalog /Pages 9 0 R >>"]),
        assembled([b"<< /Type /Catalog /Pages 1 0 R >>"]),
        assembled(
            [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [2 0 R] /Count 1 >>"]
        ),
        assembled([b"[" * 5_000]),
    ],
    ids=["header", "garbage", "cut", "no pages", "pages are the catalogue", "loop", "nesting"],
)
def test_a_damaged_file_is_refused_and_never_crashes(
    content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        assert reason_of(content) in {"malformed-document", "empty-document", "no-text-layer"}
    assert caplog.records == []  # the library would tell a line for each damaged object


def test_too_many_pages_are_refused() -> None:
    content = pdf([[(10.0, "x")]] * 4)
    assert reason_of(content, ParseLimits(pages=3)) == "too-many-pages"


def test_a_declared_page_count_is_not_believed() -> None:
    parsed = parse(pdf([BODY], count=4_000_000), "application/pdf")
    assert len(parsed.blocks) == 1


def test_a_stream_that_unpacks_beyond_the_limit_is_refused() -> None:
    small = bomb(3_000_000)
    assert len(small) < 10_000
    assert reason_of(small, ParseLimits(stream_bytes=1_000_000)) == "too-much-text"


def test_text_beyond_the_limit_is_refused_while_reading() -> None:
    with pytest.raises(TooLarge):
        parse(pdf([BODY] * 3), "application/pdf", limits=ParseLimits(text_chars=300))
