"""Which tools a model is told of: the eager ones, and those it searched for. Not what they do."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cairn.llm.port import Tool

if TYPE_CHECKING:
    from cairn.chat.tools import Toolbox

MOST_FOUND = 5
SEARCH = Tool(
    name="tool_search",
    description="Find more tools by what you want to do. Those it names can be called from then.",
    schema={
        "type": "object",
        "properties": {"words": {"type": "string", "description": "What you want to do"}},
        "required": ["words"],
        "additionalProperties": False,
    },
)
_WORD = re.compile(r"[a-z]{3,}")


@dataclass(slots=True, kw_only=True)
class Offer:
    """The tools that a model is told of in one turn, and how often it searched for others."""

    toolbox: Toolbox
    searches: int = 0
    found: set[str] = field(default_factory=set[str])

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Return what it is told of now, with the search while there is more."""
        hidden = self.toolbox.later - self.found
        offered = tuple(tool for tool in self.toolbox.tools if tool.name not in hidden)
        return (*offered, SEARCH) if hidden else offered

    def search(self, words: str) -> str:
        """Return the later tools that have most of the words, which are told from now on.

        A word counts the more, the fewer of them have it.
        """
        self.searches += 1
        later = [tool for tool in self.toolbox.tools if tool.name in self.toolbox.later]
        stems = {tool.name: _stems(f"{tool.name} {tool.description}") for tool in later}
        have = Counter(stem for each in stems.values() for stem in each)
        terms = _stems(words)

        def score(tool: Tool) -> float:
            return sum(1 / have[stem] for stem in sorted(terms & stems[tool.name]))

        fit = [tool for tool in sorted(later, key=score, reverse=True) if score(tool)][:MOST_FOUND]
        self.found |= {tool.name for tool in fit}
        if not fit:
            names = ", ".join(sorted(self.toolbox.later))
            return f"No tool has these words. There are: {names}."
        lines = "\n".join(f"{tool.name}: {tool.description}" for tool in fit)
        return f"You can call these now:\n{lines}"


def _stems(text: str) -> set[str]:
    """Return the beginnings of words: `tickets` and `ticket` are the same."""
    return {word[:5] for word in _WORD.findall(text.casefold().replace("_", " "))}
