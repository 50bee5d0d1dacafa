"""The audience of a node: who may see it, and whose data it is. Pure."""

from dataclasses import dataclass
from uuid import UUID

from cairn.kernel.access.principal import GLOBAL_CLIENT as GLOBAL_CLIENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """Who may see a memory and whose data it is. Memories of different audiences never mix:
    they are not duplicates, do not supersede each other and are not each other's neighbours."""

    scope: str
    agents: tuple[str, ...] | None
    data_subjects: tuple[UUID, ...]
