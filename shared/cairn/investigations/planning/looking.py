"""Which look comes next: the call of a tool, or the SQL, that shows what a use is after. Pure.

What was tried is read from the observations, so a planner needs no memory of its own. A tool or a
table that was refused or failed is not asked again: the next one that serves is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.investigations.planning import tables
from cairn.investigations.planning.records import records
from cairn.investigations.planning.uses import filled, serves, serving
from cairn.investigations.planning.verdicts import APPLIED, mended
from cairn.investigations.state import NextKind, Plan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cairn.investigations.planning.records import Record
    from cairn.investigations.planning.tables import Table
    from cairn.investigations.planning.uses import Use
    from cairn.investigations.ports import Question
    from cairn.investigations.state import Observation
    from cairn.kernel.text.json_value import JsonValue
    from cairn.safety.tools import ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Looker:
    """The catalogue and what was observed so far, seen through one investigation's slots."""

    question: Question
    slots: Mapping[str, str]

    def next(self, use: Use) -> Plan | None:
        """Return the call to make for `use`; None when it was made, or none can be."""
        if any(one.outcome == APPLIED for one in self.tries(use)):
            return None
        reason = f"Look at: {use.name}."
        for tool in serving(self.question.tools, use):
            given = filled(tool, use, self.slots, reason)
            if given is not None and not self._tried(tool):
                return act(tool, given, reason)
        return self._by_table(use, reason)

    def tries(self, use: Use) -> list[Observation]:
        """Return what was observed for `use`, refusals and failures too."""
        table = self._table(use)
        return [
            one
            for one in self.question.memory.observations
            if serves(one.connector, one.tool, use) or (table and tables.asked(one, table))
        ]

    def seen(self, use: Use) -> tuple[list[Record], str] | None:
        """Return the records of the last look that worked, and its citation; None without one."""
        worked = [one for one in self.tries(use) if mended(one)]
        if not worked:
            return None
        return list(records(worked[-1])), f"[tool:{worked[-1].action_id}]"

    def _by_table(self, use: Use, reason: str) -> Plan | None:
        by = tables.querier(self.question.tools)
        if by is None or not use.columns:
            return None
        if not self._listings():
            return act(by.tool, tables.listing(by), f"Find the table of: {use.name}.")
        table = self._table(use)
        if table is None or self.tries(use):
            return None
        mark = self.question.investigation_id
        given = tables.question(by, table, use, self.slots, mark)
        return act(by.tool, given, reason) if given is not None else None

    def _listings(self) -> list[Observation]:
        """Return the listings of tables that were asked for: a verdict is given no catalogue."""
        return [one for one in self.question.memory.observations if tables.lists(one)]

    def _table(self, use: Use) -> Table | None:
        known = [table for one in self._listings() for table in tables.tables(one)]
        return tables.table_for(known, use, self.slots)

    def _tried(self, tool: ToolSpec) -> bool:
        return any(_same(one, tool) for one in self.question.memory.observations)


def act(
    tool: ToolSpec,
    arguments: Mapping[str, JsonValue],
    reason: str,
    evidence: Sequence[str] = (),
) -> Plan:
    """Return the plan to call a tool."""
    return Plan(
        kind=NextKind.ACT,
        reason=reason,
        connector=tool.connector,
        tool=tool.name,
        arguments=arguments,
        evidence=tuple(dict.fromkeys(evidence)),
    )


def _same(one: Observation, tool: ToolSpec) -> bool:
    return (one.connector, one.tool) == (tool.connector, tool.name)
