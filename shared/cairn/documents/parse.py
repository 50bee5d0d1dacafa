"""Bytes of one media type to a `ParsedDocument`. Not the splitting, and no network or files."""

from cairn.documents import media
from cairn.documents.decoding import decode
from cairn.documents.parsed import Block, BlockKind, ParsedDocument, ParseLimits, ReadBlocks
from cairn.documents.refusals import empty, too_much_text
from cairn.kernel.errors import TooLarge

_TITLE_CHARS = 200
_DEFAULT_LIMITS = ParseLimits()


def parse(
    content: bytes,
    media_type: str,
    *,
    title: str | None = None,
    limits: ParseLimits = _DEFAULT_LIMITS,
) -> ParsedDocument:
    """Return the title and blocks of a document.

    `media_type` may carry a charset. The title is the one given, else the document's own, else its
    first heading, else its first line, at most 200 characters.
    Raises TooLarge (too-large, too-many-pages, too-much-text) above a limit; otherwise
    ValidationFailed with the reason unsupported-media-type, media-type-mismatch, unknown-charset,
    malformed-document, encrypted-pdf, empty-document (nothing in it) or no-text-layer (a PDF of
    pictures).
    """
    if len(content) > limits.input_bytes:
        raise TooLarge(
            f"The document has {len(content)} bytes; at most {limits.input_bytes} are allowed.",
            limit=limits.input_bytes,
        )
    kind = media.normalise_media_type(media_type)
    if not content.strip():
        raise empty()
    media.check_magic(content, kind)
    read = _read(content, kind, media.charset_of(media_type), limits)
    if sum(len(block.text) for block in read.blocks) > limits.text_chars:
        raise too_much_text(limits.text_chars)
    if not any(block.text.strip() for block in read.blocks):
        raise empty()
    own = title or read.title or _first_line(read.blocks)
    return ParsedDocument(
        title=" ".join(own.split())[:_TITLE_CHARS], media_type=kind, blocks=read.blocks
    )


def _read(content: bytes, kind: str, charset: str | None, limits: ParseLimits) -> ReadBlocks:
    """Hand the content to the reader of its format; the readers' libraries load only here."""
    if kind == media.PDF:
        from cairn.documents.formats.pdf import read_pdf

        return read_pdf(content, limits)
    text = decode(content, charset=charset, html=kind == media.HTML)
    if len(text) > limits.text_chars:
        raise too_much_text(limits.text_chars)
    if kind == media.HTML:
        from cairn.documents.formats.html import read_html

        return read_html(text)
    if kind == media.MARKDOWN:
        from cairn.documents.formats.markdown import read_markdown

        return read_markdown(text)
    if kind in media.SOURCE_CODE:
        from cairn.documents.formats.source import read_source

        return read_source(text, kind)
    from cairn.documents.formats.plain import read_plain

    return read_plain(text)


def _first_line(blocks: tuple[Block, ...]) -> str:
    headings = [block for block in blocks if block.kind is BlockKind.HEADING and block.text.strip()]
    first = headings[0] if headings else next(block for block in blocks if block.text.strip())
    return first.text.strip().split("\n", 1)[0]
