"""Who may fit a member's wish, as shared networks show them, in PostgreSQL. Loads numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.halfvec import halfvecs, knows_halfvec
from cairn.adapters.postgres.store import Store, record
from cairn.discovery.matching.found import Hit, HydeRow, OwnText, Placed, ShownText

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.embedding.port import Vectors


class PostgresMatches(Store):
    """What the member that the transaction is confined to may find of others."""

    def near(
        self,
        vector: Vectors,
        model_id: int,
        *,
        sides: Collection[str],
        networks: Collection[UUID] | None,
        minimum: float,
        limit: int,
    ) -> Sequence[Hit]:
        """Return active intents of others in shared networks, the nearest first."""
        knows_halfvec(self.connection)
        return self.all_of(
            record(Hit),
            "match.near",
            vector=halfvecs([vector])[0],
            model_id=model_id,
            sides=list(sides),
            networks=list(networks) if networks is not None else None,
            minimum=minimum,
            limit=limit,
        )

    def profiles_near(
        self,
        vector: Vectors,
        model_id: int,
        *,
        networks: Collection[UUID] | None,
        minimum: float,
        limit: int,
    ) -> Sequence[Hit]:
        """Return profiles of others in shared networks, the nearest first."""
        knows_halfvec(self.connection)
        return self.all_of(
            record(Hit),
            "match.profiles_near",
            vector=halfvecs([vector])[0],
            model_id=model_id,
            networks=list(networks) if networks is not None else None,
            minimum=minimum,
            limit=limit,
        )

    def of(self, member_ids: Collection[UUID], networks: Collection[UUID] | None) -> Sequence[Hit]:
        """Return active intents of some others in shared networks."""
        return self.all_of(
            record(Hit),
            "match.of",
            members=list(member_ids),
            networks=list(networks) if networks is not None else None,
        )

    def named_near(
        self,
        vector: Vectors,
        model_id: int,
        *,
        faces: Mapping[UUID, UUID],
        networks: Collection[UUID],
        sides: Collection[str] | None = None,
    ) -> Sequence[Hit]:
        """Return the active intents of the members of `faces`, else the profiles that these are.

        With `sides` those intents alone that are of one of them.
        """
        knows_halfvec(self.connection)
        return self.all_of(
            record(Hit),
            "match.named_near",
            vector=halfvecs([vector])[0],
            model_id=model_id,
            members=list(faces),
            faces=list(faces.values()),
            sides=list(sides) if sides is not None else None,
            networks=list(networks),
        )

    def shown(self, node_ids: Collection[UUID], model_id: int) -> Sequence[ShownText]:
        """Return what shared networks show of others' intents and profiles."""
        return self.all_of(record(ShownText), "match.shown", ids=list(node_ids), model_id=model_id)

    def own(self, node_ids: Collection[UUID]) -> Sequence[OwnText]:
        """Return the member's own intents and profile."""
        return self.all_of(record(OwnText), "match.own", ids=list(node_ids))

    def placed(self, intent_id: UUID) -> Sequence[Placed]:
        """Return the networks that an intent belongs to, and how far."""
        return self.all_of(record(Placed), "match.placed", id=intent_id)

    def client_of(self, intent_id: UUID) -> str | None:
        """Return the client whose active intent it is."""
        return self.value("match.client_of", id=intent_id)

    def discovered(self, intent_id: UUID, now: datetime) -> None:
        """Keep that an intent was looked for."""
        self.run("match.discovered", id=intent_id, now=now)

    def due(self, now: datetime, limit: int) -> Sequence[UUID]:
        """Return intents that were not looked for since they changed."""
        return self.values("match.due", now=now, limit=limit)

    def hyde(self, source_id: UUID) -> Sequence[HydeRow]:
        """Return the hypothetical documents of an intent or a profile, in order."""
        return self.all_of(record(HydeRow), "match.hyde", source_id=source_id)

    def keep_hyde(self, source_id: UUID, rows: Sequence[HydeRow]) -> None:
        """Put hypothetical documents in the place of those there were."""
        self.run("match.drop_hyde", source_id=source_id)
        for row in rows:
            self.write("match.keep_hyde", row)
