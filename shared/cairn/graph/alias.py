"""Other names of entities, as rows. Looking a name up is `graph.entities`' and the storage's."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """One row of `entity_alias`: in this audience the alias means the entity of name and type.

    `alias` is a `name_key`. A later row for the same alias replaces an earlier one.
    """

    workspace_id: UUID
    scope: str
    agents: tuple[str, ...] | None
    alias: str
    canonical_name: str
    entity_type: str
    origin: str  # manual, merge or consolidation
    position: int

    @property
    def readers(self) -> str:
        """Return the audience's agents as the key of the row."""
        return readers_key(self.agents)


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasRemoval:
    """An alias means nothing more in its audience, unless it was set later."""

    workspace_id: UUID
    scope: str
    agents: tuple[str, ...] | None
    alias: str
    position: int

    @property
    def readers(self) -> str:
        """Return the audience's agents as the key of the row."""
        return readers_key(self.agents)


def readers_key(agents: tuple[str, ...] | None) -> str:
    """Return one text for a set of agents; `*` for everyone."""
    return "*" if agents is None else "\x1f".join(["", *sorted(set(agents))])
