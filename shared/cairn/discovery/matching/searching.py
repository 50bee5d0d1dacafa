"""Who may fit: what is looked for, in which networks, and those that come near, as batches.

Reads under the principal of the member who looks, so that the database decides whom they see.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.discovery.matching.evidence import BOTH, OFFERING, SEEKING, Asker, Candidate
from cairn.discovery.matching.lenses import side_of_query
from cairn.kernel.errors import NotFound
from cairn.kernel.ids import derived_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from uuid import UUID

    from cairn.discovery.matching.found import Hit, OwnText, ShownText
    from cairn.embedding.port import TokenStates, Vectors
    from cairn.kernel.stores import Stores

FLOOR = 0.20
"""The least likeness of what is judged at all."""
NEAREST = 75
"""Wishes that are read of each lens."""
JUDGED = 50
"""Wishes that are judged together, at the most."""

FITS = {
    SEEKING: (OFFERING, BOTH),
    OFFERING: (SEEKING, BOTH),
    BOTH: (SEEKING, OFFERING, BOTH),
}
"""The sides that may fit a side: who seeks is no help to who seeks the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking:
    """What is looked for, by whom and where. `networks` are the shared ones by their relevancy.

    `source_id` is the node that the text is of: an intent's or the profile's, a query's is None.
    """

    member_id: UUID
    name: str
    intent_id: UUID | None
    text: str
    side: str
    networks: Mapping[UUID, float]
    location: str = ""
    about: str = ""
    source_id: UUID | None = None

    def asker(self, tokens: TokenStates | None) -> Asker:
        """Return it as it is held against candidates."""
        return Asker(
            text=self.text,
            side=self.side,
            tokens=tokens,
            location=self.location,
            about=self.about,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What a search begins with: an intent, a query, or neither (the profile itself).

    `members` are those that it is about when they were named; `networks` limits where it looks.
    """

    intent_id: UUID | None = None
    query: str | None = None
    side: str | None = None
    members: tuple[UUID, ...] | None = None
    networks: tuple[UUID, ...] | None = None


def profile_of(member_id: UUID) -> UUID:
    """Return the id of the node of a member's profile."""
    return derived_id(member_id, "profile")


def looking(stores: Stores, member_id: UUID, ask: Ask) -> Looking:
    """Return what a member looks for; NotFound for an intent or a network that is not theirs."""
    ids = [profile_of(member_id), *([ask.intent_id] if ask.intent_id else [])]
    own = {row.id: row for row in stores.matches.own(ids)}
    profile = own.get(profile_of(member_id))
    intent = own.get(ask.intent_id) if ask.intent_id else None
    if ask.intent_id and (intent is None or intent.label != "Intent"):
        raise NotFound("There is no such active intent.", intent_id=str(ask.intent_id))
    text = intent.text if intent else ask.query or (profile.text if profile else "")
    fields: Mapping[str, Any] = profile.metadata if profile else {}
    side = intent.side if intent else ask.side
    return Looking(
        member_id=member_id,
        name=str(fields.get("name") or (profile.title if profile else "") or ""),
        intent_id=ask.intent_id,
        text=text,
        side=side or (side_of_query(text) if ask.query else BOTH),
        networks=_networks(stores, member_id, ask),
        location=str(fields.get("location") or ""),
        about=_about(profile),
        source_id=ask.intent_id or (None if ask.query else profile_of(member_id)),
    )


def _about(profile: OwnText | None) -> str:
    return profile.text if profile else ""


def _networks(stores: Stores, member_id: UUID, ask: Ask) -> Mapping[UUID, float]:
    """Return where is looked: where the intent belongs, else every membership."""
    here = {place.network_id for place in stores.networks.places_of(member_id)}
    for network_id in ask.networks or ():
        if network_id not in here:
            raise NotFound("You are in no such network.", network_id=str(network_id))
    allowed = here & set(ask.networks) if ask.networks is not None else here
    if ask.intent_id is None:
        return dict.fromkeys(allowed, 1.0)
    placed = stores.matches.placed(ask.intent_id)
    return {each.network_id: each.score for each in placed if each.network_id in allowed}


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Those who are judged together, and for each wish the best of the networks it is shared in."""

    candidates: tuple[Candidate, ...]
    network_of: Mapping[UUID, UUID]


def gather(
    stores: Stores,
    look: Looking,
    vectors: Sequence[Vectors],
    profile_vectors: Sequence[Vectors],
    model_id: int,
    members: Collection[UUID] | None = None,
) -> Batch:
    """Return who comes near to any of the vectors, or those named, whatever they are near to."""
    networks = list(look.networks)
    if not networks:
        return Batch(candidates=(), network_of={})
    hits, rivals = _hits(stores, look, vectors, profile_vectors, model_id, members)
    best: dict[UUID, Hit] = {}
    network_of: dict[UUID, tuple[float, UUID]] = {}
    for hit in hits:
        if hit.node_id not in best or hit.score > best[hit.node_id].score:
            best[hit.node_id] = hit
        relevancy = look.networks[hit.network_id] * hit.relevancy
        place = (relevancy, hit.network_id)
        network_of[hit.node_id] = max(network_of.get(hit.node_id, place), place)
    chosen = sorted(best.values(), key=lambda hit: (-hit.score, hit.node_id))[:JUDGED]
    texts = _texts(stores, chosen, model_id)
    candidates = (
        _candidate(hit, texts, look.side if hit.node_id in rivals else None) for hit in chosen
    )
    return Batch(
        candidates=tuple(each for each in candidates if each is not None),
        network_of={node_id: place[1] for node_id, place in network_of.items()},
    )


def _hits(
    stores: Stores,
    look: Looking,
    vectors: Sequence[Vectors],
    profile_vectors: Sequence[Vectors],
    model_id: int,
    members: Collection[UUID] | None,
) -> tuple[list[Hit], Collection[UUID]]:
    """Return who was hit, and which of the profiles are of people who want the same themselves.

    A profile speaks for its owner only where it comes nearer than what they say that they want.
    """
    networks = list(look.networks)
    if members is not None:
        near = stores.matches.named_near(
            vectors[0], model_id, faces=_faces(members), networks=networks
        )
        return list(near), ()
    hits = _wishes(stores, look, vectors, model_id, FITS[look.side])
    profiles: list[Hit] = []
    for vector in profile_vectors:
        profiles += stores.matches.profiles_near(
            vector, model_id, networks=networks, minimum=FLOOR, limit=NEAREST
        )
    fitting = _nearest(hits)
    profiles = [hit for hit in profiles if fitting.get(hit.member_id, -1.0) < hit.score]
    if look.side == BOTH or not profiles:
        return [*hits, *profiles], ()
    same = _nearest(
        stores.matches.named_near(
            vectors[0],
            model_id,
            faces=_faces(hit.member_id for hit in profiles),
            networks=networks,
            sides=(look.side,),
        )
    )
    rivals = {hit.node_id for hit in profiles if same.get(hit.member_id, -1.0) >= hit.score}
    return [*hits, *profiles], rivals


def _faces(members: Iterable[UUID]) -> dict[UUID, UUID]:
    return {member_id: profile_of(member_id) for member_id in members}


def _wishes(
    stores: Stores,
    look: Looking,
    vectors: Sequence[Vectors],
    model_id: int,
    sides: Collection[str],
) -> list[Hit]:
    return [
        hit
        for vector in vectors
        for hit in stores.matches.near(
            vector,
            model_id,
            sides=sides,
            networks=list(look.networks),
            minimum=FLOOR,
            limit=NEAREST,
        )
    ]


def _nearest(hits: Sequence[Hit]) -> dict[UUID, float]:
    """Return how near the nearest of each person is."""
    nearest: dict[UUID, float] = {}
    for hit in hits:
        nearest[hit.member_id] = max(hit.score, nearest.get(hit.member_id, -1.0))
    return nearest


def _texts(stores: Stores, hits: Sequence[Hit], model_id: int) -> dict[UUID, ShownText]:
    ids = {hit.node_id for hit in hits} | {profile_of(hit.member_id) for hit in hits}
    return {row.node_id: row for row in stores.matches.shown(sorted(ids), model_id)}


def _candidate(hit: Hit, texts: Mapping[UUID, ShownText], side: str | None) -> Candidate | None:
    """Return who was hit with what is shown of them; None where nothing is, by now.

    `side` is what the owner of a profile is known to want of what is looked for.
    """
    text, profile = texts.get(hit.node_id), texts.get(profile_of(hit.member_id))
    if text is None:
        return None
    is_wish = text.label == "Intent"
    fields: Mapping[str, Any] = profile.shown if profile else {}
    return Candidate(
        member_id=hit.member_id,
        shown_id=hit.node_id,
        node_id=hit.node_id if is_wish else None,
        side=text.side if is_wish else side,
        text=text.text,
        tokens=text.tokens,
        cosine=hit.score,
        name=str(fields.get("name") or (profile.title if profile else "") or ""),
        location=str(fields.get("location") or ""),
        about=profile.text if profile and is_wish else "",
    )
