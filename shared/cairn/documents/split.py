"""A parsed document to sections and chunks. Not summaries or embeddings, and ids come later."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from cairn.documents.chunking import ChunkSizes, chunk_runs
from cairn.documents.parsed import (
    Block,
    BlockKind,
    ChunkPart,
    DocumentTree,
    ParsedDocument,
    SectionPart,
)
from cairn.documents.pieces import Piece, pieces
from cairn.kernel.text.hashes import content_hash

SECTION_LEVEL = 2
"""Headings down to this level open a section; deeper ones only a chunk."""

_DEFAULT_SIZES = ChunkSizes()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leaf:
    """The blocks between two headings. `section` counts the headings that open a section."""

    section: int
    headings: tuple[str, ...]
    section_headings: tuple[str, ...]
    heading: Block | None
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A chunk before it knows its ordinal."""

    leaf: _Leaf
    text: str
    tokens: int
    pieces: tuple[Piece, ...]


def split(
    parsed: ParsedDocument,
    count_tokens: Callable[[str], int],
    *,
    sizes: ChunkSizes = _DEFAULT_SIZES,
) -> DocumentTree:
    """Return the document as sections of chunks.

    Every heading starts a new chunk and those of level 1 and 2 a new section; long text is cut
    where its topic changes. No chunk is over `sizes.cap` tokens of `count_tokens`, except a piece
    of code that is longer by itself. Chunks of a PDF stay on a page unless a heading's text goes
    on.
    A heading without text of its own is kept in the path of what is below it; when there is nothing
    below, it becomes a chunk. `count_tokens` must be a pure function of one text.
    """
    drafts = [
        draft for leaf in _leaves(parsed.blocks) for draft in _drafts(leaf, count_tokens, sizes)
    ]
    sections = tuple(_sections(drafts))
    hashes = [section.content_hash for section in sections]
    return DocumentTree(
        title=parsed.title,
        content_hash=content_hash("\n".join([parsed.title, *hashes])),
        sections=sections,
    )


def _leaves(blocks: Iterable[Block]) -> Iterator[_Leaf]:
    """Yield the runs between headings that have text, or a heading with nothing below it."""
    path: list[tuple[int, str]] = []
    heading: Block | None = None
    run: list[Block] = []
    section = 0
    for block in blocks:
        if block.kind is not BlockKind.HEADING:
            run.append(block)
            continue
        has_child = block.level > heading.level if heading else True
        if run or not has_child:
            yield _leaf(section, path, heading, run)
        while path and path[-1][0] >= block.level:
            path.pop()
        path.append((block.level, block.text))
        heading, run = block, []
        section += block.level <= SECTION_LEVEL
    if run or heading:
        yield _leaf(section, path, heading, run)


def _leaf(
    section: int, path: Sequence[tuple[int, str]], heading: Block | None, run: Sequence[Block]
) -> _Leaf:
    headings = tuple(text for _, text in path)
    blocks = tuple(run) or ((heading,) if heading else ())
    return _Leaf(
        section=section,
        headings=headings,
        section_headings=tuple(text for level, text in path if level <= SECTION_LEVEL),
        heading=heading,
        blocks=blocks,
    )


def _drafts(leaf: _Leaf, count_tokens: Callable[[str], int], sizes: ChunkSizes) -> Iterator[_Draft]:
    for blocks in _page_runs(leaf):
        results = list(
            pieces(
                blocks,
                count_tokens,
                soft=sizes.soft,
                cap=sizes.cap,
                whole_cap=sizes.whole_cap,
            )
        )
        for run in chunk_runs(results, sizes):
            yield from _fitting(leaf, run, count_tokens, sizes.cap)


def _page_runs(leaf: _Leaf) -> Iterator[tuple[Block, ...]]:
    """Yield the leaf's blocks, a page at a time when no heading holds the pages together."""
    if leaf.headings:
        yield leaf.blocks
        return
    run: list[Block] = []
    for block in leaf.blocks:
        if run and run[-1].page != block.page:
            yield tuple(run)
            run = []
        run.append(block)
    if run:
        yield tuple(run)


def _fitting(
    leaf: _Leaf, run: Sequence[Piece], count_tokens: Callable[[str], int], cap: int
) -> Iterator[_Draft]:
    """Yield one draft, or two halves when the joints pushed the sum over the cap."""
    text = joined(run)
    tokens = count_tokens(text)
    if tokens > cap and len(run) > 1:
        half = len(run) // 2
        yield from _fitting(leaf, run[:half], count_tokens, cap)
        yield from _fitting(leaf, run[half:], count_tokens, cap)
    else:
        yield _Draft(leaf=leaf, text=text, tokens=tokens, pieces=tuple(run))


def joined(run: Sequence[Piece]) -> str:
    """Return the text of a chunk made of `run`."""
    rest = "".join(piece.joint + piece.text for piece in run[1:])
    return run[0].lead + run[0].text + rest


def _sections(drafts: Sequence[_Draft]) -> Iterator[SectionPart]:
    start = 0
    ordinal = 0
    for end in range(1, len(drafts) + 1):
        if end < len(drafts) and drafts[end].leaf.section == drafts[start].leaf.section:
            continue
        chunks = tuple(_chunk(start + n, draft) for n, draft in enumerate(drafts[start:end]))
        yield _section(ordinal, drafts[start].leaf, chunks)
        ordinal += 1
        start = end


def _section(ordinal: int, leaf: _Leaf, chunks: tuple[ChunkPart, ...]) -> SectionPart:
    heading_line = leaf.heading.line_from if leaf.heading else None
    hashes = [chunk.content_hash for chunk in chunks]
    return SectionPart(
        ordinal=ordinal,
        headings=leaf.section_headings,
        line_from=_least([heading_line, *(chunk.line_from for chunk in chunks)]),
        line_to=_most(chunk.line_to for chunk in chunks),
        page_from=_least(chunk.page_from for chunk in chunks),
        page_to=_most(chunk.page_to for chunk in chunks),
        content_hash=content_hash("\n".join([*leaf.section_headings, "", *hashes])),
        chunks=chunks,
    )


def _chunk(ordinal: int, draft: _Draft) -> ChunkPart:
    results = draft.pieces
    return ChunkPart(
        ordinal=ordinal,
        text=draft.text,
        headings=draft.leaf.headings,
        line_from=_least(piece.line_from for piece in results),
        line_to=_most(piece.line_to for piece in results),
        page_from=_least(piece.page for piece in results),
        page_to=_most(piece.page for piece in results),
        content_hash=content_hash(draft.text),
        token_count=draft.tokens,
    )


def _least(values: Iterable[int | None]) -> int | None:
    return min((value for value in values if value is not None), default=None)


def _most(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)
