"""Conversations whose messages the embed stage works off, over PostgreSQL."""

from typing import Any

from tests.support.talking import PostgresTalking
from tests.support.world import World

from cairn.adapters.postgres.database import bound
from cairn.conversations.messages import Channel
from cairn.conversations.record import MessageRecorded
from cairn.enrichment.enrich import Enrich
from cairn.kernel.access import Principal


class Conversing:
    """Says something, lets the embed stage work it off, and shows what is remembered."""

    def __init__(self, world: World, talk: PostgresTalking, enrich: Enrich) -> None:
        self.world, self.talk, self.enrich = world, talk, enrich

    def say(self, *texts: str, **changes: Any) -> list[MessageRecorded]:
        """Say texts and embed each before the next."""
        said: list[MessageRecorded] = []
        for text in texts:
            self.talk.later(minutes=1)
            said.append(self.talk.say(text, None, **{"channel": Channel.API, **changes}))
            self.embed()
        return said

    def embed(self) -> None:
        while self.talk.sent.rows:
            rows = [row.id for row in self.talk.sent.rows]
            self.talk.sent.rows.clear()
            self.enrich.rows(self.world.workspace_id, rows)

    def rows(self, statement: str, *given: str, principal: Principal | None = None) -> list[Any]:
        with bound(self.world.pool, principal or self.world.admin) as connection:
            return connection.execute(statement.encode(), given).fetchall()

    def remembered(self, principal: Principal | None = None, state: str = "active") -> list[str]:
        found = self.rows(
            "SELECT text FROM node WHERE label = 'Memory' AND state = %s ORDER BY created_position",
            state,
            principal=principal,
        )
        return [text for (text,) in found]
