"""Markdown (CommonMark, tables, front matter) to blocks. Not rendering: text stays as typed."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from cairn.documents.formats.html import html_to_text
from cairn.documents.parsed import Block, BlockKind, ReadBlocks

if TYPE_CHECKING:
    from markdown_it.token import Token


def read_plain(text: str) -> ReadBlocks:
    """Return one PARAGRAPH a run of lines that are not blank."""
    return ReadBlocks(blocks=tuple(paragraphs(text.split("\n"), first_line=1)))


def paragraphs(lines: Iterable[str], *, first_line: int) -> Iterable[Block]:
    """Yield one PARAGRAPH a run of lines that are not blank, counting from `first_line`."""
    run: list[str] = []
    number = first_line
    for line in lines:
        if line.strip():
            run.append(line.rstrip())
        elif run:
            yield _paragraph(run, number - len(run))
            run = []
        number += 1
    if run:
        yield _paragraph(run, number - len(run))


def _paragraph(run: list[str], line_from: int) -> Block:
    return Block(
        kind=BlockKind.PARAGRAPH,
        text="\n".join(run),
        line_from=line_from,
        line_to=line_from + len(run) - 1,
    )


_KINDS = {
    "paragraph_open": BlockKind.PARAGRAPH,
    "heading_open": BlockKind.PARAGRAPH,  # unless short enough for a heading
    "bullet_list_open": BlockKind.LIST,
    "ordered_list_open": BlockKind.LIST,
    "blockquote_open": BlockKind.QUOTE,
    "table_open": BlockKind.TABLE,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
}
_MAX_NESTING = 20  # deeper quotations and lists are read as text; keeps hostile nesting linear
_FRONT_MATTER_LINES = 200
_HEADING_CHARS = 500
_TITLE = re.compile(r"^title:\s*(.+?)\s*$", re.MULTILINE | re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\]\[]{0,300})\]\([^)\s]{0,2000}\)")
_EMPHASIS = re.compile(r"(\*\*|__|`+)(?=\S)(.{1,300}?)(?<=\S)\1")


def read_markdown(text: str) -> ReadBlocks:
    """Return the blocks of Markdown; fences, lists, tables and quotations stay whole.

    The title is the `title:` of the front matter. Scripts, styles and comments in raw HTML are
    dropped; link reference definitions, which are not blocks in CommonMark, are kept as paragraphs.
    """
    lines = text.split("\n")
    front, start = _front_matter(lines)
    blocks = [front] if front else []
    blocks += _blocks(lines, start)
    match = _TITLE.search(front.text) if front else None
    title = match.group(1).strip("\"'") if match else None
    return ReadBlocks(blocks=tuple(blocks), title=title)


def _front_matter(lines: Sequence[str]) -> tuple[Block | None, int]:
    """Return the block between leading --- lines, and the index of the first line after it."""
    if lines[0].rstrip() != "---":
        return None, 0
    for index, line in enumerate(lines[1:_FRONT_MATTER_LINES], start=1):
        if line.rstrip() in {"---", "..."}:
            text = "\n".join(lines[1:index])
            if not text.strip():
                return None, index + 1
            kind = BlockKind.FRONT_MATTER
            return Block(kind=kind, text=text, line_from=1, line_to=index + 1), index + 1
    return None, 0


def _blocks(lines: Sequence[str], start: int) -> Iterator[Block]:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable("table")
    reader.disable(["inline"])
    tokens = reader.parse("\n".join(lines[start:]))
    covered = start
    for token, following in pairwise([*tokens, None]):
        if token is None or token.level or token.map is None:
            continue
        line_from, line_to = token.map[0] + start, token.map[1] + start
        yield from paragraphs(lines[covered:line_from], first_line=covered + 1)
        covered = line_to
        yield from _block(token, following, lines, line_from, line_to)
    yield from paragraphs(lines[covered:], first_line=covered + 1)


def _block(
    token: "Token", following: "Token | None", lines: Sequence[str], line_from: int, line_to: int
) -> Iterator[Block]:
    """Yield the block of a token over lines[line_from:line_to]; nothing for rules and dead HTML."""
    while line_to > line_from and not lines[line_to - 1].strip():
        line_to -= 1
    text = "\n".join(lines[line_from:line_to])
    level = 0
    kind = _KINDS.get(token.type)
    if token.type == "heading_open" and following and len(following.content) <= _HEADING_CHARS:
        kind, level = BlockKind.HEADING, int(token.tag[1])
        text = plain_heading(following.content)
    elif token.type == "html_block":
        kind, text = BlockKind.PARAGRAPH, html_to_text(text)
    if kind is not None and text.strip():
        yield Block(kind=kind, text=text, level=level, line_from=line_from + 1, line_to=line_to)


def plain_heading(text: str) -> str:
    """Return a heading's text in one line without emphasis, code marks and link targets."""
    text = _LINK.sub(r"\1", " ".join(text.split()))
    return _EMPHASIS.sub(r"\2", text).strip()
