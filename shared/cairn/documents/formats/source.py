"""Source code to blocks: one a function or class, never cut inside. Not analysis of the code."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from cairn.documents.parsed import Block, BlockKind, ReadBlocks

if TYPE_CHECKING:
    from tree_sitter import Node

_GRAMMARS = {
    "text/x-python": ("tree_sitter_python", "language"),
    "text/javascript": ("tree_sitter_javascript", "language"),
    "text/x-typescript": ("tree_sitter_typescript", "language_typescript"),
    "text/x-tsx": ("tree_sitter_typescript", "language_tsx"),
    "text/x-go": ("tree_sitter_go", "language"),
    "text/x-java": ("tree_sitter_java", "language"),
    "text/x-rust": ("tree_sitter_rust", "language"),
}
_DEFINITION = re.compile(
    r"(?:function|class|method|interface|enum|struct|trait|impl|record|constructor|type|mod|module"
    r"|macro|annotation_type|compact_constructor|abstract_class|type_alias|generator_function)"
    r"(?:_signature)?_(?:definition|declaration|item)"
)
_WRAPPERS = frozenset({"decorated_definition", "export_statement"})
_BEFORE = re.compile(r"comment$|^attribute_item$|^line_comment$|^block_comment$")
_LARGE_CLASS_CHARS = 2_400  # about 800 tokens; a longer class becomes its members
_CLASS_LEVEL, _MEMBER_LEVEL = 1, 3
_NAME_CHARS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """Bytes [start, end) that stay together; `name` for a definition, None for other statements."""

    start: int
    end: int
    name: str | None
    level: int


def read_source(text: str, media_type: str) -> ReadBlocks:
    """Return each function and class with the comments and decorators above it, and the rest.

    A definition is a HEADING with its name and a CODE block; a class of more than 2,400 characters
    is one block a member. Languages without a grammar are cut at blank lines before unindented code
    outside braces. Code with syntax errors is accepted.
    """
    data = text.encode()
    grammar = _GRAMMARS.get(media_type)
    spans = _parsed_spans(data, *grammar) if grammar else _guessed_spans(text)
    return ReadBlocks(blocks=tuple(_blocks(data, spans)))


def _parsed_spans(data: bytes, module: str, function: str) -> list[_Span]:
    from tree_sitter import Language, Parser

    language: Callable[[], object] = getattr(import_module(module), function)
    root = Parser(Language(language())).parse(data).root_node
    return list(_spans(root.children, 0, len(data), None))


def _spans(nodes: Sequence["Node"], start: int, end: int, owner: str | None) -> Iterator[_Span]:
    """Yield spans that cover [start, end): definitions, and the runs of other nodes between."""
    position = start
    above: int | None = None  # where the comments begin that stand on the lines before a node
    row = 0
    level = _MEMBER_LEVEL if owner else _CLASS_LEVEL
    for node in nodes:
        if above is not None and node.start_point.row > row + 1:
            above = None
        row = node.end_point.row
        if _BEFORE.search(node.type):
            if above is None and not _ends_a_line(node):
                above = node.start_byte
            continue
        if (name := _name(node)) is not None:
            begin = node.start_byte if above is None else above
            if begin > position:
                yield _Span(start=position, end=begin, name=owner, level=_CLASS_LEVEL)
            yield from _definition(node, begin, name, level)
            position = node.end_byte
        above = None
    if end > position:
        yield _Span(start=position, end=end, name=owner, level=_CLASS_LEVEL)


def _ends_a_line(comment: "Node") -> bool:
    """Return whether the comment stands behind other code and belongs to that."""
    before = comment.prev_sibling
    return before is not None and before.end_point.row == comment.start_point.row


def _definition(node: "Node", begin: int, name: str, level: int) -> Iterator[_Span]:
    """Yield a definition whole, or a large class member by member."""
    body = _inner(node).child_by_field_name("body")
    whole = _Span(start=begin, end=node.end_byte, name=name, level=level)
    is_large = level == _CLASS_LEVEL and node.end_byte - begin > _LARGE_CLASS_CHARS
    if not is_large or body is None or not any(_name(child) for child in body.children):
        yield whole
        return
    yield from _spans(body.children, begin, node.end_byte, name)


def _inner(node: "Node") -> "Node":
    if node.type in _WRAPPERS:
        inner = node.child_by_field_name("definition") or node.child_by_field_name("declaration")
        return inner or node
    return node


def _name(node: "Node") -> str | None:
    """Return the name of a definition, None for any other node."""
    inner = _inner(node)
    if inner.type == "lexical_declaration":
        return _arrow_name(inner)
    if not _DEFINITION.fullmatch(inner.type):
        return None
    name_node = inner.child_by_field_name("name") or inner.child_by_field_name("type")
    if name_node is None or name_node.text is None:
        return inner.type.split("_", 1)[0]
    return name_node.text.decode(errors="replace")[:_NAME_CHARS]


def _arrow_name(node: "Node") -> str | None:
    """Return the name that a const gives to a function, None when it holds something else."""
    for declarator in node.named_children:
        value = declarator.child_by_field_name("value")
        name = declarator.child_by_field_name("name")
        if value and name and name.text and value.type in {"arrow_function", "function_expression"}:
            return name.text.decode(errors="replace")[:_NAME_CHARS]
    return None


def _guessed_spans(text: str) -> list[_Span]:
    """Return the runs between blank lines that are followed by unindented code outside braces."""
    spans: list[_Span] = []
    start = position = depth = 0
    blank = False
    for line in text.split("\n"):
        begins = line[:1] not in {"", " ", "\t", "}", ")", "]"}
        if blank and begins and depth <= 0 and position > start:
            spans.append(_Span(start=start, end=position, name=None, level=0))
            start = position
        depth = max(0, depth + line.count("{") - line.count("}"))
        blank = not line.strip()
        position += len(line.encode()) + 1
    spans.append(_Span(start=start, end=position, name=None, level=0))
    return spans


def _blocks(data: bytes, spans: Sequence[_Span]) -> Iterator[Block]:
    """Yield a heading before each named span, and the code of each span that has any."""
    line = 1
    counted = 0
    last_name: str | None = None
    for span in spans:
        raw = data[span.start : span.end]
        code = raw.strip(b"\n\r\t ;") and raw.strip(b"\n\r")
        if not code:
            continue
        start = span.start + raw.index(code)
        line += data.count(b"\n", counted, start)
        counted = start
        text = code.decode(errors="replace").rstrip()
        line_to = line + text.count("\n")
        if span.name is not None and span.name != last_name:
            yield Block(
                kind=BlockKind.HEADING,
                text=span.name,
                level=span.level,
                line_from=line,
                line_to=line,
            )
        last_name = span.name
        yield Block(kind=BlockKind.CODE, text=text, line_from=line, line_to=line_to)
