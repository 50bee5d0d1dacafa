"""A parsed document (a title, blocks in reading order), its tree of parts, and refusals."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from cairn.documents.media import LARGEST, LARGEST_PDF
from cairn.kernel.errors import TooLarge, ValidationFailed


def empty() -> ValidationFailed:
    """Return the error for a document without any content."""
    return ValidationFailed("The document is empty.", reason="empty-document")


def malformed(detail: str) -> ValidationFailed:
    """Return the error for bytes that are not what their media type promises."""
    return ValidationFailed(detail, reason="malformed-document")


def too_much_text(limit: int) -> TooLarge:
    """Return the error for a document whose text, once unpacked, is over `limit` characters."""
    return TooLarge(
        f"The document holds more than {limit} characters of text.",
        reason="too-much-text",
        limit=limit,
    )


class BlockKind(StrEnum):
    """What a block is; only CODE is never cut."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    QUOTE = "quote"
    CODE = "code"
    FRONT_MATTER = "front_matter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One heading, paragraph, list, table, quotation or piece of code, with where it stands.

    `level` is 1..6 for headings and 0 otherwise. Lines count from 1 and include both ends; they are
    None where the format has no lines (PDF). `page` counts from 1 and is None without pages.
    `continues` says that the block is the rest of a paragraph which the page before has begun.
    """

    kind: BlockKind
    text: str
    level: int = 0
    line_from: int | None = None
    line_to: int | None = None
    page: int | None = None
    continues: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBlocks:
    """What a reader of one format found: blocks in reading order, and a title if there is one."""

    blocks: tuple[Block, ...]
    title: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedDocument:
    """A document with at least one block; `media_type` is normalised, without parameters."""

    title: str
    media_type: str
    blocks: tuple[Block, ...]

    def with_text(self, change: Callable[[str], str]) -> "ParsedDocument":
        """Return the document with `change` applied to the title and to each block's text.

        For scrubbing between `parse` and `split`; places stay those of the source.
        """
        blocks = tuple(replace(block, text=change(block.text)) for block in self.blocks)
        return replace(self, title=change(self.title), blocks=blocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseLimits:
    """The most a document may cost; above it `parse` raises TooLarge.

    `input_bytes` and `pdf_bytes` count the file as sent; `text_chars` the text that comes out, so
    that a small file that unpacks into a large one is refused; `stream_bytes` one unpacked stream
    of a PDF.
    """

    input_bytes: int = LARGEST
    pdf_bytes: int = LARGEST_PDF
    text_chars: int = 20_000_000
    pages: int = 2_000
    stream_bytes: int = 20_000_000


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
