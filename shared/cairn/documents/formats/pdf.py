"""PDF to blocks: text with its page, headings told by their size. Not OCR: pictures stay unread."""

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from math import hypot
from typing import TYPE_CHECKING, Any

from cairn.documents.parsed import (
    Block,
    BlockKind,
    ParseLimits,
    ReadBlocks,
    empty,
    malformed,
    too_much_text,
)
from cairn.kernel.errors import TooLarge, ValidationFailed

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

_LARGER = 1.12  # times the size of running text: a heading
_HEADING_CHARS = 120
_HEADING_LEVELS = 3
_WIDE_GAP = 1.5  # times the usual distance of lines: a new paragraph
_FURNITURE_SHARE = 0.6  # of the pages: a line that stands first or last on so many is no text
_FURNITURE_PAGES = 3
_SENTENCE_END = (".", "!", "?", ":", ";", "\u201d", '"', ")")
_DIGITS = re.compile(r"\d+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_BROKEN = (  # what pypdf raises on damaged files besides its own errors
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """One line of a page; `size` in points, `top` the height on the page, growing upwards."""

    text: str
    size: float
    top: float
    page: int


def read_pdf(content: bytes, limits: ParseLimits) -> ReadBlocks:
    """Return headings and paragraphs in reading order, each with its page.

    A line larger than the running text is a heading (three levels by size). Lines that repeat at
    the top or foot of most pages are dropped. A paragraph that goes on after a page break is two
    blocks, the second `continues`. A file that opens with the empty password is read.
    Raises ValidationFailed (encrypted-pdf, malformed-document, empty-document without pages,
    no-text-layer) and TooLarge (too-many-pages, too-much-text).
    """
    from pypdf import apply_configuration
    from pypdf.errors import DependencyError, DeprecationError, LimitReachedError, PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)  # a line for each damaged object
    size = limits.stream_bytes
    try:
        with apply_configuration(
            zlib_maximum_output_length=size,
            lzw_maximum_output_length=size,
            run_length_maximum_output_length=size,
            array_based_stream_maximum_output_length=size,
            page_tree_maximum_entries=max(10 * limits.pages, 1_000),
            disable_legacy_handling=True,
        ):
            return _read(content, limits)
    except LimitReachedError as exc:
        raise too_much_text(limits.text_chars) from exc
    except DependencyError as exc:
        raise _encrypted() from exc
    except ValidationFailed:
        raise
    except (PyPdfError, DeprecationError, *_BROKEN) as exc:
        raise malformed("The PDF is damaged and cannot be read.") from exc


def _read(content: bytes, limits: ParseLimits) -> ReadBlocks:
    from pypdf import PdfReader

    reader = PdfReader(BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        raise _encrypted()
    _check_pages(reader, limits)
    lines = list(_lines(reader.pages, limits))
    if not any(line.text.strip() for line in lines):
        raise ValidationFailed(
            "The PDF has no text layer; it holds pictures only.", reason="no-text-layer"
        )
    title = reader.metadata.title if reader.metadata else None
    return ReadBlocks(
        blocks=tuple(_blocks(lines)), title=_clean(title) if isinstance(title, str) else None
    )


def _check_pages(reader: "PdfReader", limits: ParseLimits) -> None:
    count = len(reader.pages)
    if not count:
        raise empty()
    if count > limits.pages:
        raise TooLarge(
            f"The PDF has {count} pages; at most {limits.pages} are read.",
            reason="too-many-pages",
            limit=limits.pages,
        )


def _encrypted() -> ValidationFailed:
    return ValidationFailed(
        "The PDF is encrypted and cannot be read without its password.", reason="encrypted-pdf"
    )


def _lines(pages: Iterable["PageObject"], limits: ParseLimits) -> Iterator[_Line]:
    """Yield the lines of all pages without running heads and feet, while the text stays allowed."""
    results: list[list[_Line]] = []
    chars = 0
    for number, page in enumerate(pages, start=1):
        results.append(_page_lines(page, number))
        chars += sum(len(line.text) for line in results[-1])
        if chars > limits.text_chars:
            raise too_much_text(limits.text_chars)
    furniture = _furniture(results)
    for lines in results:
        edges = {0, len(lines) - 1}
        for index, line in enumerate(lines):
            if index not in edges or _shape(line) not in furniture:
                yield line


def _page_lines(page: "PageObject", number: int) -> list[_Line]:
    """Return the lines of one page; a line's size is that of most of its characters."""
    rows: list[list[tuple[str, float, float]]] = [[]]

    def visit(text: str, cm: Any, tm: Any, font: Any, size: float) -> None:
        scale = hypot(tm[2], tm[3]) * hypot(cm[2], cm[3]) or 1.0
        top = cm[1] * tm[4] + cm[3] * tm[5] + cm[5]
        for index, part in enumerate(text.split("\n")):
            if index:
                rows.append([])
            if part:
                rows[-1].append((part, abs(size * scale), top))

    page.extract_text(visitor_text=visit)
    return [_line(row, number) for row in rows if any(part.strip() for part, _, _ in row)]


def _line(row: Sequence[tuple[str, float, float]], page: int) -> _Line:
    sizes: Counter[float] = Counter()
    for part, size, _ in row:
        sizes[round(size, 1)] += len(part.strip())
    top = next((top for part, _, top in row if part.strip()), 0.0)
    text = _clean("".join(part for part, _, _ in row))
    return _Line(text=text, size=sizes.most_common(1)[0][0], top=top, page=page)


def _clean(text: str) -> str:
    """Return text that can be stored: no NUL, soft hyphens or halves of surrogate pairs."""
    text = text.replace("\x00", "").replace("\u00ad", "").replace("\xa0", " ")
    return " ".join(_SURROGATE.sub("\ufffd", text).split())


def _shape(line: _Line) -> str:
    return _DIGITS.sub("0", line.text)


def _furniture(pages: Sequence[Sequence[_Line]]) -> frozenset[str]:
    """Return the shapes (digits equal) of lines that stand first or last on most pages."""
    if len(pages) < _FURNITURE_PAGES:
        return frozenset()
    counts: Counter[str] = Counter()
    for lines in pages:
        counts.update({_shape(line) for line in (*lines[:1], *lines[-1:])})
    return frozenset(
        shape for shape, count in counts.items() if count >= _FURNITURE_SHARE * len(pages)
    )


def _blocks(lines: Sequence[_Line]) -> Iterator[Block]:
    """Yield headings and paragraphs; consecutive lines of one heading size are one heading."""
    levels = _heading_levels(lines)
    compounds = _compounds(lines)
    gap = _usual_gap(lines)
    run: list[_Line] = []
    before: Block | None = None
    for line in [*lines, None]:
        if run and (line is None or _starts_block(run, line, levels, gap)):
            before = _block(run, levels, compounds, before)
            yield before
            run = []
        if line is not None:
            run.append(line)


def _level(line: _Line, levels: dict[float, int]) -> int:
    return levels.get(line.size, 0) if len(line.text) <= _HEADING_CHARS else 0


def _heading_levels(lines: Sequence[_Line]) -> dict[float, int]:
    """Return size -> level for the sizes above that of most characters, the largest first."""
    chars: Counter[float] = Counter()
    for line in lines:
        chars[line.size] += len(line.text)
    body = chars.most_common(1)[0][0]
    larger = sorted((size for size in chars if size > body * _LARGER), reverse=True)
    return {size: min(n, _HEADING_LEVELS) for n, size in enumerate(larger, start=1)}


def _usual_gap(lines: Sequence[_Line]) -> float:
    """Return the most frequent distance between lines of a page, in points; 0 when unknown."""
    gaps: Counter[float] = Counter()
    for before, line in pairwise(lines):
        if before.page == line.page and before.top > line.top:
            gaps[round(before.top - line.top, 1)] += 1
    return gaps.most_common(1)[0][0] if gaps else 0.0


def _starts_block(run: Sequence[_Line], line: _Line, levels: dict[float, int], gap: float) -> bool:
    last = run[-1]
    if line.page != last.page or _level(line, levels) != _level(last, levels):
        return True
    distance = last.top - line.top
    usual = max(gap, line.size * 1.2)
    return bool(gap) and (distance > usual * _WIDE_GAP or distance < 0)


def _block(
    run: Sequence[_Line], levels: dict[float, int], compounds: frozenset[str], before: Block | None
) -> Block:
    level = _level(run[0], levels)
    text = _joined([line.text for line in run], compounds)
    kind = BlockKind.HEADING if level else BlockKind.PARAGRAPH
    page = run[0].page
    goes_on = (
        kind is BlockKind.PARAGRAPH
        and before is not None
        and before.kind is kind
        and before.page != page
        and not before.text.endswith(_SENTENCE_END)
        and text[:1].islower()
    )
    return Block(kind=kind, text=text, level=level, page=page, continues=goes_on)


def _compounds(lines: Sequence[_Line]) -> frozenset[str]:
    """Return the hyphenated words that stand within a line: their hyphens are meant."""
    results = re.findall(r"[^\W\d_]+-[^\W\d_]+", "\n".join(line.text for line in lines))
    return frozenset(word.casefold() for word in results)


def _joined(lines: Sequence[str], compounds: frozenset[str]) -> str:
    """Return one line of text; a hyphen that only the line break made is taken out."""
    parts = [lines[0]]
    for line in lines[1:]:
        last = parts[-1]
        if last.endswith("-") and line[:1].islower():
            word = last.rsplit(" ", 1)[-1] + line.split(" ", 1)[0]
            if re.sub(r"\W+$", "", word).casefold() not in compounds:
                parts[-1] = last[:-1]
            parts.append(line)
        else:
            parts.extend((" ", line))
    return "".join(parts)
