"""What a split document is: sections holding chunks. Not nodes: ids are given by the caller."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkPart:
    """A passage that is found and cited whole.

    `ordinal` counts from 0 through the whole document: neighbours are ordinal - 1 and + 1, there is
    no overlap. `headings` is the path from the outermost heading; the text does not repeat it.
    Lines and pages count from 1, include both ends, and are None where the format has none.
    `content_hash` covers the text only; `token_count` is exact for the counter given to `split`.
    """

    ordinal: int
    text: str
    headings: tuple[str, ...]
    line_from: int | None
    line_to: int | None
    page_from: int | None
    page_to: int | None
    content_hash: str
    token_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionPart:
    """The chunks under one first- or second-level heading (or before the first), at least one.

    `content_hash` covers the headings and the hashes of the chunks in order.
    """

    ordinal: int
    headings: tuple[str, ...]
    line_from: int | None
    line_to: int | None
    page_from: int | None
    page_to: int | None
    content_hash: str
    chunks: tuple[ChunkPart, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentTree:
    """A document's sections in order. `content_hash` covers the title and the sections' hashes."""

    title: str
    content_hash: str
    sections: tuple[SectionPart, ...]

    @property
    def chunks(self) -> tuple[ChunkPart, ...]:
        """Return every chunk in reading order; `chunks[n].ordinal == n`."""
        return tuple(chunk for section in self.sections for chunk in section.chunks)
