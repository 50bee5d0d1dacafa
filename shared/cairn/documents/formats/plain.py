"""Plain text: paragraphs between blank lines. Not a guess at headings."""

from collections.abc import Iterable

from cairn.documents.parsed import Block, BlockKind, ReadBlocks


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
