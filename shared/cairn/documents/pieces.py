"""Blocks to pieces: the smallest passages that a chunk is made of. Not the choice of chunks."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from cairn.documents.parsed import Block, BlockKind
from cairn.kernel.text.words import sentences

CountTokens = Callable[[str], int]

_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,9}[.)])\s")
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_SENTENCES_WITHIN = 4_000  # characters; longer runs are cut at white space first


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A passage of one block. `joint` is what stands between it and the piece before it.

    `lead` is put before the piece when it opens a chunk (the head of a table that was cut).
    `tokens` counts the text alone. `whole` marks code, which may exceed the cap.
    """

    text: str
    tokens: int
    joint: str = "\n\n"
    lead: str = ""
    lead_tokens: int = 0
    line_from: int | None = None
    line_to: int | None = None
    page: int | None = None
    whole: bool = False


def pieces(
    blocks: Iterable[Block], count_tokens: CountTokens, *, soft: int, cap: int, whole_cap: int
) -> Iterator[Piece]:
    """Yield the pieces of `blocks` in order.

    A block of up to `soft` tokens is one piece. A longer one is cut into the items of a list, the
    rows of a table (the head repeated), the sentences of text; a part that is still over `soft` is
    cut at line ends, white space, and in the end anywhere. Code is one piece up to
    `whole_cap`, above it pieces of at most `cap`.
    """
    for block in blocks:
        tokens = count_tokens(block.text)
        limit = whole_cap if block.kind is BlockKind.CODE else soft
        if tokens <= limit:
            yield _piece(block, block.text, tokens, joint=_joint_before(block))
        else:
            yield from _cut(block, count_tokens, cap if block.kind is BlockKind.CODE else soft)


def _joint_before(block: Block) -> str:
    return " " if block.continues else "\n\n"


def _piece(block: Block, text: str, tokens: int, *, joint: str, offset_lines: int = 0) -> Piece:
    """Return a piece that starts `offset_lines` into its block."""
    line_from = line_to = None
    if block.line_from is not None and block.line_to is not None:
        line_from = min(block.line_from + offset_lines, block.line_to)
        line_to = min(line_from + text.count("\n"), block.line_to)
        if not offset_lines and text == block.text:
            line_to = block.line_to
    return Piece(
        text=text,
        tokens=tokens,
        joint=joint,
        line_from=line_from,
        line_to=line_to,
        page=block.page,
        whole=block.kind is BlockKind.CODE,
    )


def _cut(block: Block, count_tokens: CountTokens, cap: int) -> Iterator[Piece]:
    """Yield a long block in parts that together are its text, but for the white space between."""
    if block.kind is BlockKind.TABLE:
        yield from _cut_table(block, count_tokens, cap)
        return
    position = lines = 0
    for part in _parts(block):
        for fitting in _fit(part, count_tokens, cap):
            start = block.text.index(fitting, position)
            between = block.text[position:start]
            lines += between.count("\n")
            joint = between if position else _joint_before(block)
            tokens = count_tokens(fitting)
            yield _piece(block, fitting, tokens, joint=joint, offset_lines=lines)
            lines += fitting.count("\n")
            position = start + len(fitting)


def _parts(block: Block) -> Iterator[str]:
    if block.kind is BlockKind.LIST:
        yield from _items(block.text.split("\n"))
    elif block.kind in {BlockKind.CODE, BlockKind.FRONT_MATTER}:
        yield block.text
    else:
        for run in _runs(block.text, _SENTENCES_WITHIN):
            yield from _sentences(run)


def _items(lines: list[str]) -> Iterator[str]:
    item: list[str] = []
    for line in lines:
        if item and _ITEM.match(line):
            yield "\n".join(item).strip()
            item = []
        item.append(line)
    if text := "\n".join(item).strip():
        yield text


def _sentences(text: str) -> Iterator[str]:
    """Yield slices of `text`, one a sentence; a line break inside a sentence does not end it."""
    flat = re.sub(r"(?<!\n)\n(?!\n)", " ", text)
    position = 0
    for sentence in sentences(flat):
        start = flat.index(sentence, position)
        position = start + len(sentence)
        yield text[start:position]


def _runs(text: str, size: int) -> Iterator[str]:
    """Yield consecutive slices of at most `size` characters, cut at white space where there is."""
    start = 0
    while start < len(text):
        end = min(start + size, len(text))
        if end < len(text):
            end = _white_space_before(text, start, end)
        if piece := text[start:end].strip():
            yield piece
        start = end


def _white_space_before(text: str, start: int, end: int) -> int:
    """Return the place after the last line end, else space, in the second half of the slice."""
    half = start + (end - start) // 2
    for separator in ("\n", " "):
        at = text.rfind(separator, half, end)
        if at > 0:
            return at + 1
    return end


def _fit(text: str, count_tokens: CountTokens, cap: int) -> Iterator[str]:
    """Yield `text`, in slices when it is over `cap` tokens; slices over it are cut again."""
    tokens = count_tokens(text)
    if tokens <= cap or len(text) < 2:
        if text.strip():
            yield text.strip()
        return
    size = max(1, min(len(text) // 2, len(text) * cap // (tokens + tokens // 8)))
    for run in _runs(text, size):
        yield from _fit(run, count_tokens, cap)


def _cut_table(block: Block, count_tokens: CountTokens, cap: int) -> Iterator[Piece]:
    """Yield the rows of a table; the head is repeated before the row that opens a chunk."""
    lines = block.text.split("\n")
    head_lines = 2 if len(lines) > 2 and _TABLE_RULE.match(lines[1]) else 0
    head = "\n".join(lines[:head_lines])
    head_tokens = count_tokens(head) if head else 0
    if head_tokens > cap // 2:
        head, head_tokens, head_lines = "", 0, 0
    for index in range(head_lines, len(lines)):
        for number, row in enumerate(_fit(lines[index], count_tokens, cap - head_tokens)):
            first = index == head_lines and not number
            text = f"{head}\n{row}" if first and head else row
            yield Piece(
                text=text,
                tokens=count_tokens(text),
                joint=_joint_before(block) if first else " " if number else "\n",
                lead="" if first or not head else head + "\n",
                lead_tokens=0 if first else head_tokens,
                line_from=_line(block, 0 if first else index),
                line_to=_line(block, index),
                page=block.page,
            )


def _line(block: Block, index: int) -> int | None:
    if block.line_from is None or block.line_to is None:
        return None
    return min(block.line_from + index, block.line_to)
