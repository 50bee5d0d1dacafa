"""How an answer names its sources, so that a person or a program finds them again. Pure.

`[doc:uri#headings#L12-L30]` is a part of a document, `[memory:id]` any other node.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cairn.graph.node import Label

if TYPE_CHECKING:
    from cairn.recall.records import FoundNode

_OF_DOCUMENTS = frozenset({Label.DOCUMENT, Label.SECTION, Label.CHUNK})
_RESERVED = re.compile(r"[\[\]#\s]+")
HEADINGS = " > "


def citation_of(node: FoundNode) -> str:
    """Return the citation token of a node.

    Brackets, number signs and breaks inside a name become spaces: they would end the token.
    """
    if node.label not in _OF_DOCUMENTS or not node.source_uri:
        return f"[memory:{node.id}]"
    parts = [plain(node.source_uri)]
    if node.headings:
        parts.append(HEADINGS.join(plain(heading) for heading in node.headings))
    if node.line_from is not None:
        parts.append(f"L{node.line_from}-L{node.line_to or node.line_from}")
    elif node.page_from is not None:
        parts.append(f"p{node.page_from}-p{node.page_to or node.page_from}")
    return f"[doc:{'#'.join(parts)}]"


def plain(text: str) -> str:
    """Return a name as citations write it."""
    return _RESERVED.sub(" ", text).strip()
