"""Opportunities of a member: made of picked people, listed, sent, accepted, rejected.

Everybody acts for themselves: a yes is the side's own, and an introducer has none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cairn.discovery.matching.discovery import Discovered, Discovery, DiscoveryRequest, Match
from cairn.discovery.matching.keeping import Keeping, keep
from cairn.discovery.matching.moving import keys_of, missing_opportunity, move
from cairn.discovery.matching.rows import (
    SENDABLE,
    OpportunityRow,
    OpportunityState,
    OpportunityTrigger,
    Party,
)
from cairn.discovery.matching.scoring import EXCLUDED, EXCLUDING, SHOULD_MEET
from cairn.discovery.matching.searching import profile_of
from cairn.discovery.matching.views import OpportunityView, opened, view_of
from cairn.discovery.networks.acting import acting, client_of
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError, Conflict, NotFound
from cairn.writing.checks import refuse
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from uuid import UUID

    from cairn.discovery.matching.rows import ChangeRow
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.writing.platform import Platform
    from cairn.writing.writer import Write

MOST_PICKED = 20
MOST_TRIED = 5
"""Wishes of somebody that an introducer's proposal is tried with."""
DRAFTS = 5
"""How many drafts a question makes, at the most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonLeftOut:
    """Somebody who was picked and is no match, and why."""

    member_id: UUID
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpportunitiesCreated:
    """Opportunities that are there now; `new` are those that were not before."""

    items: Sequence[OpportunityView]
    new: int
    already_accepted: Sequence[OpportunityView]
    left_out: Sequence[PersonLeftOut]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSearch:
    """A search whose matches are kept as opportunities; `me` is the member it is for."""

    me: Principal
    picked: tuple[UUID, ...] | None
    discovered: Discovered
    matches: Sequence[Match]
    keeping: Sequence[Keeping]

    @property
    def latent(self) -> list[UUID]:
        """Those that agents have not spoken about yet."""
        return self._in(OpportunityState.LATENT) if self.picked is None else []

    @property
    def negotiating(self) -> list[UUID]:
        """Those that go on where a window has passed."""
        return self._in(OpportunityState.NEGOTIATING)

    def _in(self, state: OpportunityState) -> list[UUID]:
        return [each.row.id for each in self.keeping if each.row.state is state]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opportunities:
    """What a member's opportunities are, and what they do with them.

    `negotiate` lets agents speak for the two of one; again, it goes on.
    """

    platform: Platform
    discovery: Discovery
    negotiate: Callable[[UUID, UUID, str], object]

    def create(self, principal: Principal, request: DiscoveryRequest) -> OpportunitiesCreated:
        """Keep drafts with the people picked, or let agents negotiate with those who fit best.

        Safe to repeat. Whoever is picked is kept however little speaks for them, unless they
        exclude themselves; who was met before is shown with what there is. Whose agents still
        speak stays `negotiating`.
        """
        search = self.search(principal, request)
        for opportunity_id in (*search.latent, *search.negotiating):
            self.negotiate_latent(search, opportunity_id)
        return self.created(search)

    def search(self, principal: Principal, request: DiscoveryRequest) -> KeptSearch:
        """Look for who fits and keep them: as drafts where they are picked, else as latent."""
        picked = request.members
        if picked is not None and not 1 <= len(picked) <= MOST_PICKED:
            refuse("members", f"needs 1 to {MOST_PICKED} people")
        search = replace(
            request,
            minimum=SHOULD_MEET if picked is None else 0,
            limit=DRAFTS if picked is None else MOST_PICKED,
        )
        me = acting(principal, request.client_id)
        discovered = self.discovery(principal, search)
        matches = [each for each in discovered.matches if not _excludes_itself(each)]
        negotiated = picked is None
        keeping = [
            keep(
                self.platform,
                me,
                discovered.look,
                match,
                trigger=(
                    OpportunityTrigger.ORCHESTRATOR if negotiated else OpportunityTrigger.CALLER
                ),
                state=OpportunityState.LATENT if negotiated else OpportunityState.DRAFT,
            )
            for match in matches
        ]
        return KeptSearch(
            me=me, picked=picked, discovered=discovered, matches=matches, keeping=keeping
        )

    def negotiate_latent(self, search: KeptSearch, opportunity_id: UUID) -> None:
        """Let agents speak for the two of one, each with a minute a turn where they are there.

        What fails stays latent, and the next scheduled run goes on with it.
        """
        kind = OpportunityTrigger.ORCHESTRATOR.value
        try:
            self.negotiate(search.me.workspace_id, opportunity_id, kind)
        except CairnError as error:
            fields = {"id": str(opportunity_id), "reason": error.reason}
            self.platform.warn("negotiations.not_begun", fields)

    def created(self, search: KeptSearch) -> OpportunitiesCreated:
        """Return how what a search keeps stands now."""
        me, discovered = search.me, search.discovered
        member_id = discovered.look.member_id
        rows = self._seen(me, [each.row.id for each in search.keeping])
        shown = {each.judgement.member_id for each in search.matches}
        met = [row for row in discovered.already_accepted if _other(row, member_id) not in shown]
        there = shown | {_other(row, member_id) for row in met}
        return OpportunitiesCreated(
            items=self._views(me, rows, member_id),
            new=sum(each.is_new for each in search.keeping),
            already_accepted=self._views(me, met, member_id),
            left_out=[
                PersonLeftOut(member_id=other, reason="no-match")
                for other in search.picked or ()
                if other not in there
            ],
        )

    def introduce(
        self, principal: Principal, first: UUID, second: UUID, client_id: str | None = None
    ) -> OpportunityView:
        """Propose two others to each other: both share a network with each other and the third.

        Raises NotFound for somebody who does not, ValidationFailed for oneself or the same twice,
        Conflict (`no-match`) where nothing of theirs fits.
        """
        me = acting(principal, client_id)
        with self.platform.transactions.reading(me) as stores:
            introducer = stores.members.of_client(client_of(me))
            shown = stores.networks.shown_members(
                {each: profile_of(each) for each in (first, second)}
            )
            if introducer is None or first not in shown or second not in shown:
                raise NotFound("There is no such member in a network of yours.")
        if introducer.id in (first, second) or first == second:
            refuse("members", "are two others, not oneself")
        with self.platform.transactions.reading(system_principal(me.workspace_id)) as stores:
            member = stores.members.find(first)
        if member is None:
            raise NotFound("There is no such member in a network of yours.")
        discovered, match = self._best(me, member.client_id, first, second)
        keeping = keep(
            self.platform,
            me,
            discovered.look,
            match,
            trigger=OpportunityTrigger.INTRODUCER,
            state=OpportunityState.DRAFT,
            introducer_id=introducer.id,
        )
        rows = self._seen(me, [keeping.row.id])
        if not rows:
            raise Conflict("These two were proposed to each other before.", reason="exists")
        return self._views(me, rows, introducer.id)[0]

    def _best(
        self, me: Principal, client_id: str, first: UUID, second: UUID
    ) -> tuple[Discovered, Match]:
        """Return what fits best of two others, of what both show the third."""
        with self.platform.transactions.reading(me) as stores:
            here = {hit.network_id: hit for hit in stores.matches.of([first], None)}
            intents = dict.fromkeys(hit.node_id for hit in stores.matches.of([first], None))
        request = DiscoveryRequest(
            members=(second,), minimum=EXCLUDED + 1, limit=1, networks=tuple(here) or None
        )
        as_first = replace(me, client_id=client_id)
        best: tuple[Discovered, Match] | None = None
        for intent_id in list(intents)[:MOST_TRIED]:
            discovered = self.discovery(as_first, replace(request, intent_id=intent_id))
            for match in discovered.matches:
                if best is None or match.judgement.score > best[1].judgement.score:
                    best = discovered, match
        if best is None:
            raise Conflict("Nothing that the two show fits.", reason="no-match")
        return best

    def page(
        self,
        principal: Principal,
        *,
        client_id: str | None = None,
        states: Collection[OpportunityState] | None = None,
        before: UUID | None = None,
        limit: int = 50,
        as_of: datetime | None = None,
    ) -> Sequence[OpportunityView]:
        """Return a member's opportunities, the newest first; as they stood at a moment."""
        me = acting(principal, client_id)
        with self.platform.transactions.reading(me) as stores:
            member = stores.members.of_client(client_of(me))
            if member is None:
                return []
            rows = stores.opportunities.of(
                member.id, states=None if as_of else states, before=before, limit=limit
            )
            if as_of is not None:
                rows = _then(stores, rows, as_of, states)
        return self._views(me, rows, member.id)

    def get(
        self,
        principal: Principal,
        opportunity_id: UUID,
        *,
        client_id: str | None = None,
        as_of: datetime | None = None,
    ) -> OpportunityView:
        """Return one that a member has a part in; NotFound without it."""
        me, member_id, row = self._own(principal, opportunity_id, client_id)
        if as_of is not None:
            with self.platform.transactions.reading(me) as stores:
                rows = _then(stores, [row], as_of, None)
            if not rows:
                raise missing_opportunity(opportunity_id)
            row = rows[0]
        return self._views(me, [row], member_id)[0]

    def timeline(self, principal: Principal, opportunity_id: UUID) -> Sequence[ChangeRow]:
        """Return the states that one had, in order; the other one's begin when it was sent."""
        me, member_id, row = self._own(principal, opportunity_id, None)
        with self.platform.transactions.reading(me) as stores:
            changes = stores.opportunities.changes(opportunity_id)
        if row.party_of(member_id) is not Party.TARGET:
            return changes
        sent = (each.seq for each in changes if each.state is OpportunityState.PENDING)
        first = next(sent, None)
        return [each for each in changes if first is not None and each.seq >= first]

    def send(
        self, principal: Principal, opportunity_id: UUID, *, client_id: str | None = None
    ) -> OpportunityView:
        """Show it to the other one; that is the sender's yes. An introducer's is nobody's.

        Raises Conflict (`not-allowed`) for what is past that, (`network-left`) where the two share
        the network no longer.
        """
        me, member_id, row = self._own(principal, opportunity_id, client_id)
        self._require_shared(me, row)
        if row.state is OpportunityState.PENDING and _said_yes(row, member_id):
            return self._views(me, [row], member_id)[0]
        if row.state not in SENDABLE:
            raise Conflict(f"An opportunity that is {row.state} is not sent.", reason="not-allowed")
        with self._open(me, row) as write:
            row = move(write, row, OpportunityState.PENDING, member_id)
            if row.party_of(member_id) is not Party.INTRODUCER:
                row = _agree(write, row, member_id)
        return self._views(me, [row], member_id)[0]

    def accept(
        self, principal: Principal, opportunity_id: UUID, *, client_id: str | None = None
    ) -> OpportunityView:
        """Say yes for oneself; it is accepted when both did. A second yes changes nothing."""
        me, member_id, row = self._own(principal, opportunity_id, client_id)
        if row.party_of(member_id) is Party.INTRODUCER:
            raise Conflict("The two say yes themselves.", reason="not-allowed")
        if row.state is OpportunityState.ACCEPTED or (
            row.state is OpportunityState.PENDING and _said_yes(row, member_id)
        ):
            return self._views(me, [row], member_id)[0]
        if row.state is not OpportunityState.PENDING:
            detail = f"An opportunity that is {row.state} is not accepted."
            raise Conflict(detail, reason="not-allowed")
        self._require_shared(me, row)
        with self._open(me, row) as write:
            row = _agree(write, row, member_id)
            if row.source_yes_at is not None and row.target_yes_at is not None:
                row = move(write, row, OpportunityState.ACCEPTED, member_id)
        return self._views(me, [row], member_id)[0]

    def reject(
        self, principal: Principal, opportunity_id: UUID, *, client_id: str | None = None
    ) -> OpportunityView:
        """Say no; nobody is proposed to the other again for these intents."""
        me, member_id, row = self._own(principal, opportunity_id, client_id)
        if row.state is OpportunityState.REJECTED:
            return self._views(me, [row], member_id)[0]
        with self._open(me, row) as write:
            row = move(write, row, OpportunityState.REJECTED, member_id)
        return self._views(me, [row], member_id)[0]

    def _own(
        self, principal: Principal, opportunity_id: UUID, client_id: str | None
    ) -> tuple[Principal, UUID, OpportunityRow]:
        me = acting(principal, client_id)
        with self.platform.transactions.reading(me) as stores:
            member = stores.members.of_client(client_of(me))
            row = stores.opportunities.find(opportunity_id)
        if member is None or row is None or row.party_of(member.id) is None:
            raise missing_opportunity(opportunity_id)
        return me, member.id, row

    def _open(self, me: Principal, row: OpportunityRow) -> AbstractContextManager[Write]:
        keys = keys_of(self.platform, me.workspace_id, row)
        return open_write(self.platform, me, keys=keys, data_subjects=row.data_subjects)

    def _require_shared(self, me: Principal, row: OpportunityRow) -> None:
        with self.platform.transactions.reading(me) as stores:
            places = [
                stores.networks.place(row.network_id, member_id)
                for member_id in (row.source_id, row.target_id)
            ]
        if None in places:
            detail = "One of the two is no longer in the network they shared."
            raise Conflict(detail, reason="network-left")

    def _seen(self, me: Principal, ids: Sequence[UUID]) -> list[OpportunityRow]:
        with self.platform.transactions.reading(me) as stores:
            rows = [stores.opportunities.find(each) for each in ids]
        return [row for row in rows if row is not None]

    def _views(
        self, me: Principal, rows: Sequence[OpportunityRow], member_id: UUID
    ) -> list[OpportunityView]:
        return [
            view_of(row, opened(self.platform, me.workspace_id, row), member_id) for row in rows
        ]


def _other(row: OpportunityRow, member_id: UUID) -> UUID:
    return row.target_id if row.source_id == member_id else row.source_id


def _said_yes(row: OpportunityRow, member_id: UUID) -> bool:
    yes = row.source_yes_at if row.source_id == member_id else row.target_yes_at
    return yes is not None


def _agree(write: Write, row: OpportunityRow, member_id: UUID) -> OpportunityRow:
    """Keep a side's yes, and return the opportunity as it is then."""
    if not write.stores.opportunities.say_yes(row.id, member_id, write.now):
        return row
    meta = {"opportunity_id": str(row.id), "member_id": str(member_id)}
    write.note("opportunity.agreed", meta, {})
    if member_id == row.source_id:
        return replace(row, source_yes_at=write.now)
    return replace(row, target_yes_at=write.now)


def _then(
    stores: Stores,
    rows: Sequence[OpportunityRow],
    moment: datetime,
    states: Collection[OpportunityState] | None,
) -> list[OpportunityRow]:
    """Return them in the states they had at a moment."""
    then = stores.opportunities.states_then([row.id for row in rows], moment)
    return [
        replace(row, state=then[row.id])
        for row in rows
        if row.id in then and (states is None or then[row.id] in states)
    ]


def _excludes_itself(match: Match) -> bool:
    """Return whether something stands against it that no score makes up for."""
    return bool(EXCLUDING & set(match.judgement.conflicts))
