"""Bytes to clean text: which encoding, and what no encoding excuses. Not the media type."""

import codecs
import re

from cairn.documents.refusals import malformed
from cairn.kernel.errors import ValidationFailed

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
        return _strict(content, _known(charset))
    if html and (declared := _META_CHARSET.search(content[:_META_WITHIN])):
        encoding = _encoding(declared.group(1).decode("ascii"))
        if encoding and not encoding.startswith(("utf-16", "utf-32")):  # they hide their own name
            return content.decode(encoding, errors="replace")
    return _guessed(content)


def _known(charset: str) -> str:
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
