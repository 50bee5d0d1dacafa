"""Bytes of one media type to a `ParsedDocument`. Not the splitting, and no network or files."""

import codecs
import re

from cairn.documents import media
from cairn.documents.parsed import (
    Block,
    BlockKind,
    ParsedDocument,
    ParseLimits,
    ReadBlocks,
    empty,
    malformed,
    too_much_text,
)
from cairn.kernel.errors import TooLarge, ValidationFailed

_MARKS = (  # UTF-32 before UTF-16: its little-endian mark begins with the other's
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([A-Za-z0-9_:.-]{1,40})", re.I)
_META_WITHIN = 1024
_CONTROL = re.compile(r"[\x01-\x08\x0e-\x1a\x1c-\x1f]")
_NEWLINES = re.compile(r"\r\n?|\f|\v")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_UTF8_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")


def decode(content: bytes, *, charset: str | None = None, html: bool = False) -> str:
    """Return the text of `content` with newlines as LF and without a byte order mark.

    The first that is present decides: byte order mark, `charset`, for HTML a meta charset, UTF-8.
    Text that is not UTF-8 is read as windows-1252 (its superset latin-1 where that has gaps); text
    that is UTF-8 but for a few damaged bytes keeps U+FFFD for those.
    Raises ValidationFailed: unknown-charset, or malformed-document for NUL, lone surrogates, bytes
    that contradict the charset, and binary data.
    """
    text = _NEWLINES.sub("\n", _decoded(content, charset, html=html))
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise malformed(f"The document contains a NUL character in line {line}.")
    if _SURROGATE.search(text):
        raise malformed("The document contains half of a surrogate pair.")
    return text


def _decoded(content: bytes, charset: str | None, *, html: bool) -> str:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _strict(content[len(mark) :], encoding)
    if charset:
        return _strict(content, _require_encoding(charset))
    if html and (declared := _META_CHARSET.search(content[:_META_WITHIN])):
        encoding = _encoding(declared.group(1).decode("ascii"))
        if encoding and not encoding.startswith(("utf-16", "utf-32")):  # they hide their own name
            return content.decode(encoding, errors="replace")
    return _guessed(content)


def _require_encoding(charset: str) -> str:
    encoding = _encoding(charset)
    if encoding is None:
        raise ValidationFailed(
            f"The charset {charset!r} is not known.", reason="unknown-charset", charset=charset
        )
    return encoding


def _encoding(charset: str) -> str | None:
    """Return the codec of a charset name; latin-1 and ASCII mean windows-1252, as on the web."""
    try:
        info = codecs.lookup(charset)
        "".encode(info.name)
    except LookupError:
        return None
    return "cp1252" if info.name in {"iso8859-1", "ascii"} else info.name


def _strict(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as exc:
        if encoding == "cp1252":
            return content.decode("latin-1")
        raise malformed(f"The document is not valid {encoding}: byte {exc.start}.") from exc


def _guessed(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        pass
    damaged = content.decode("utf-8", errors="replace")
    lost = damaged.count("\ufffd")
    intact = sum(1 for character in damaged if character > "\x7f") - lost
    if _UTF8_SURROGATE.search(content):
        raise malformed("The document contains half of a surrogate pair.")
    if intact > lost:
        return damaged
    text = _strict(content, "cp1252")
    if _CONTROL.search(text):
        raise malformed("The document is binary data, not text.")
    return text


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
    kind = media.normalise_media_type(media_type)
    most = limits.pdf_bytes if kind == media.PDF else limits.input_bytes
    if len(content) > most:
        raise TooLarge(
            f"The document has {len(content)} bytes; at most {most} are allowed.", limit=most
        )
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
    from cairn.documents.formats.markdown import read_plain

    return read_plain(text)


def _first_line(blocks: tuple[Block, ...]) -> str:
    headings = [block for block in blocks if block.kind is BlockKind.HEADING and block.text.strip()]
    first = headings[0] if headings else next(block for block in blocks if block.text.strip())
    return first.text.strip().split("\n", 1)[0]
