"""What a parsed document is: a title and its blocks in reading order. Not the tree of chunks."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum


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

    `input_bytes` counts the file as sent; `text_chars` the text that comes out, so that a small
    file that unpacks into a large one is refused; `stream_bytes` one unpacked stream of a PDF.
    """

    input_bytes: int = 20_000_000
    text_chars: int = 20_000_000
    pages: int = 2_000
    stream_bytes: int = 20_000_000
