"""Which media types are read, and what the first bytes must not contradict."""

import pytest
from tests.unit.documents.pdf_files import pdf

from cairn.documents.media import media_type_of, normalise_media_type
from cairn.documents.parse import parse
from cairn.documents.parsed import ParseLimits
from cairn.kernel.errors import TooLarge, ValidationFailed


@pytest.mark.parametrize(
    ("given", "normalised"),
    [
        ("Text/Markdown; charset=utf-8", "text/markdown"),
        ("text/x-markdown", "text/markdown"),
        (" application/pdf ", "application/pdf"),
        ("application/javascript", "text/javascript"),
    ],
)
def test_parameters_case_and_aliases_are_resolved(given: str, normalised: str) -> None:
    assert normalise_media_type(given) == normalised


@pytest.mark.parametrize("given", ["", "image/png", "application/octet-stream", "nonsense"])
def test_a_type_that_is_not_read_is_refused(given: str) -> None:
    with pytest.raises(ValidationFailed) as caught:
        parse(b"some text", given)
    assert caught.value.reason == "unsupported-media-type"


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("https://wiki/runbooks/mfa.md#lockout", "text/markdown"),
        ("src/app.TSX", "text/x-tsx"),
        ("/srv/report.pdf?download=1", "application/pdf"),
        ("Makefile", None),
    ],
)
def test_a_name_tells_its_media_type(name: str, media_type: str | None) -> None:
    assert media_type_of(name) == media_type


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (b"Just a note, no PDF at all.", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n0000", "application/pdf"),
        (pdf([[(11, "Hello")]]), "text/plain"),
        (pdf([[(11, "Hello")]]), "text/markdown"),
        (b"PK\x03\x04\x14\x00\x06\x00 [Content_Types].xml", "text/html"),
        (b"\x1f\x8b\x08\x00\x00\x00", "text/plain"),
        (b"SQLite format 3\x00", "text/x-python"),
    ],
)
def test_first_bytes_of_another_format_are_a_mismatch(content: bytes, media_type: str) -> None:
    with pytest.raises(ValidationFailed) as caught:
        parse(content, media_type)
    assert caught.value.reason == "media-type-mismatch"


def test_prose_about_pdf_headers_is_text() -> None:
    parsed = parse(b"%PDF-1.7 is the header that a PDF begins with."[5:], "text/plain")
    assert parsed.blocks[0].text.startswith("1.7 is the header")


def test_a_file_above_the_limit_is_too_large() -> None:
    with pytest.raises(TooLarge) as caught:
        parse(b"x" * 101, "text/plain", limits=ParseLimits(input_bytes=100))
    assert caught.value.reason == "too-large"


def test_the_default_limit_is_twenty_million_bytes() -> None:
    with pytest.raises(TooLarge):
        parse(b"x" * 20_000_001, "text/plain")


@pytest.mark.parametrize("content", [b"", b"  \n\t\r\n ", b"\xef\xbb\xbf\n"])
@pytest.mark.parametrize(
    "media_type", ["text/plain", "text/markdown", "text/html", "text/x-python"]
)
def test_nothing_but_white_space_is_an_empty_document(content: bytes, media_type: str) -> None:
    with pytest.raises(ValidationFailed) as caught:
        parse(content, media_type)
    assert caught.value.reason == "empty-document"


def test_text_over_the_limit_is_refused_whatever_the_file_size() -> None:
    with pytest.raises(TooLarge) as caught:
        parse(b"long " * 100, "text/plain", limits=ParseLimits(text_chars=100))
    assert caught.value.reason == "too-much-text"


def test_the_title_given_wins_over_the_document_s_own() -> None:
    page = b"<title>Own</title><h1>Heading</h1><p>Text"
    assert parse(page, "text/html", title="Given").title == "Given"
    assert parse(page, "text/html").title == "Own"
    assert parse(b"intro\n\n# Heading\n", "text/markdown").title == "Heading"
    assert parse(b"First line\nsecond", "text/plain").title == "First line"


def test_with_text_changes_title_and_blocks_and_keeps_places() -> None:
    parsed = parse(b"# Key abc\n\nThe key is abc.\n", "text/markdown")
    scrubbed = parsed.with_text(lambda text: text.replace("abc", "[REDACTED]"))
    assert scrubbed.title == "Key [REDACTED]"
    assert [block.text for block in scrubbed.blocks] == ["Key [REDACTED]", "The key is [REDACTED]."]
    assert [block.line_from for block in scrubbed.blocks] == [1, 3]
