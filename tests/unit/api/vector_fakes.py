"""Nodes without vectors behind the fake API: three parts of them, queued one a request."""

from dataclasses import dataclass, field
from uuid import UUID

from cairn.kernel.access import Principal, Role
from cairn.reembedding.reindex import MissingVectors, Reindexed

MODEL = "bge-small-en-v1.5-int8"


@dataclass
class VectorWorld:
    """`parts` are how many nodes lack a vector in each part of the workspace."""

    parts: list[int] = field(default_factory=list[int])
    waiting: int = 0
    asked: list[UUID | None] = field(default_factory=list["UUID | None"])

    def count(self, principal: Principal) -> MissingVectors:
        principal.require(Role.ADMIN)
        return MissingVectors(model=MODEL, missing=sum(self.parts), waiting=self.waiting)

    def queue(self, principal: Principal, *, after: UUID | None = None) -> Reindexed:
        principal.require(Role.ADMIN)
        self.asked.append(after)
        at = after.int if after else 0
        missing = self.parts[at] if at < len(self.parts) else 0
        queued = max(missing - self.waiting, 0)
        more = at + 1 < len(self.parts)
        return Reindexed(
            model=MODEL,
            missing=missing,
            queued=queued,
            more=more,
            after=UUID(int=at + 1) if more else None,
        )
