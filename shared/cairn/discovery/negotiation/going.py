"""How negotiations go on by themselves: the advocate speaks, windows pass, things go away."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.discovery.matching.retries import Retried, RunDue, in_turn
from cairn.discovery.negotiation import rules, signing
from cairn.discovery.negotiation.advocate import Heard, Spoken, Table, speak
from cairn.discovery.negotiation.facts import private_facts, public_facts
from cairn.discovery.negotiation.moving import Mover, Signed, header_of
from cairn.discovery.negotiation.rows import NegotiationOutcome, NegotiationState, Voice
from cairn.discovery.negotiation.views import opened_turn, turn_of
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError, Conflict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.discovery.negotiation.moving import Opened
    from cairn.discovery.negotiation.rows import NegotiationRow
    from cairn.discovery.negotiation.speaking import AskAdvocate
    from cairn.discovery.negotiation.views import NegotiationTurn
    from cairn.writing.platform import Platform

MODEL_SECONDS = 8.0
"""How long models are waited for within one call; then rules speak."""

MOST_STEPS = 40
"""Of one call: more than any negotiation has that does not wait."""

MOST_DUE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance:
    """Goes on with a negotiation as far as it can without waiting for anybody."""

    platform: Platform
    advocate: AskAdvocate | None = None

    @property
    def mover(self) -> Mover:
        """What reads and moves negotiations."""
        return Mover(platform=self.platform)

    def __call__(self, workspace_id: UUID, negotiation_id: UUID) -> NegotiationRow:
        """Return it as it stands when it waits or has ended."""
        until = self.platform.stopwatch() + MODEL_SECONDS
        for _ in range(MOST_STEPS):
            opened = self.mover.read(workspace_id, negotiation_id)
            row = opened.row
            if row.state is NegotiationState.ENDED or row.deadline is None:
                return row
            if opened.holds and row.deadline > self.platform.clock():
                return row
            try:
                self._step(opened, until)
            except Conflict as error:
                if error.reason != "turn-passed":
                    raise
        return self.mover.read(workspace_id, negotiation_id).row

    def _step(self, opened: Opened, until: float) -> None:
        row, now = opened.row, self.platform.clock()
        if not opened.holds:
            self.mover.end(opened, NegotiationOutcome.EXPIRED)
        elif row.state is NegotiationState.WAITING:
            self.mover.end(opened, NegotiationOutcome.REJECTED_STALLED)
        elif rules.overdue(row, now) or not opened.takes_over(row.speaker):
            self.mover.end(opened, NegotiationOutcome.TIMED_OUT)
        else:
            self._speak(opened, until)

    def _speak(self, opened: Opened, until: float) -> None:
        """Let the advocate speak for the side whose turn it is; its key signs."""
        row, workspace_id = opened.row, opened.workspace_id
        table = self._table(opened)
        spoken = self._spoken(opened, table, until)
        key = self.advocate_key(workspace_id)
        public_key, salt = signing.public_bytes(key), os.urandom(signing.SALT_BYTES)
        private = [
            {"node_id": str(node_id), "salt": os.urandom(signing.SALT_BYTES).hex(), "text": text}
            for node_id, text in spoken.used
        ]
        for each in private:
            each["commitment"] = signing.commitment(bytes.fromhex(each["salt"]), each.pop("text"))
        header = header_of(
            row,
            spoken.utterance,
            salt=salt,
            voice=Voice.ADVOCATE,
            public_key=public_key,
            inputs=[each["commitment"] for each in private],
        )
        turn = Signed(
            utterance=spoken.utterance,
            salt=salt,
            header=header,
            signature=key.sign(header),
            public_key=public_key,
            by=spoken.by,
            private=private,
        )
        self.mover.take(opened, turn)

    def _spoken(self, opened: Opened, table: Table, until: float) -> Spoken:
        """Return a model's turn, or that of the rules; a model's that failed is counted as such."""
        left, workspace_id = until - self.platform.stopwatch(), opened.workspace_id
        if self.advocate is None or left < 1.0 or not self.advocate.may(workspace_id):
            return speak(table)
        try:
            return self.advocate(workspace_id, table, left)
        except CairnError as error:
            self.platform.warn("negotiations.model_failed", {"reason": error.reason})
            system = system_principal(workspace_id)
            with self.platform.transactions.preparing(system) as (stores, _):
                stores.negotiations.fail(opened.row.id, error.reason)
        return speak(table)

    def _table(self, opened: Opened) -> Table:
        row, workspace_id, side = opened.row, opened.workspace_id, opened.row.speaker
        own, other = opened.side(side), opened.side(side.other)
        return Table(
            side=side,
            own=public_facts(self.platform, workspace_id, row, side, own),
            other=public_facts(self.platform, workspace_id, row, side.other, other),
            private=private_facts(self.platform, workspace_id, row, own),
            turns=[
                Heard(speaker=turn.speaker, move=turn.action, message=turn.message)
                for turn in self.turns(workspace_id, row)
            ],
            roles=(row.source_role, row.candidate_role),
            score=row.score,
            decides=rules.stance(row) == "decide",
        )

    def turns(self, workspace_id: UUID, row: NegotiationRow) -> Sequence[NegotiationTurn]:
        """Return a negotiation's turns with their words."""
        return self.turns_of(workspace_id, [row.id]).get(row.id, [])

    def turns_of(
        self, workspace_id: UUID, ids: Sequence[UUID]
    ) -> dict[UUID, list[NegotiationTurn]]:
        """Return the turns of negotiations with their words; none of one without."""
        with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
            rows = stores.negotiations.turns(ids)
        subjects = {subject for row in rows for subject in row.data_subjects}
        held: Mapping[UUID, bytes] = {}
        if subjects:
            held = self.platform.keys.get(workspace_id, subjects)
        turns: dict[UUID, list[NegotiationTurn]] = {}
        for row in rows:
            body = opened_turn(self.platform, workspace_id, row, held)
            turns.setdefault(row.negotiation_id, []).append(turn_of(row, body))
        return turns

    def advocate_key(self, workspace_id: UUID) -> Any:
        """Return the key by which Cairn signs in a workspace; it is never in the database."""
        keys = self.platform.keys.get_or_create(workspace_id, (workspace_id,))
        return signing.advocate_key(keys[workspace_id])


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepNegotiations:
    """Goes on with what is due in every workspace, for some seconds.

    What fails leaves the others be, and waits longer before each further try.
    """

    workspaces: Callable[[], Sequence[UUID]]
    advance: Advance
    report: Callable[[str, dict[str, Any]], None]
    seconds: float = 120.0

    def __call__(self) -> dict[str, int]:
        """Return how many negotiations went on, and how many of them ended."""
        platform = self.advance.platform
        until, run = (
            platform.stopwatch() + self.seconds,
            RunDue(platform=platform, report=self.report),
        )
        advanced = ended = 0
        for workspace_id in in_turn(self.workspaces(), platform.clock()):

            def go_on(negotiation_id: UUID, workspace_id: UUID = workspace_id) -> None:
                nonlocal ended
                row = self.advance(workspace_id, negotiation_id)
                ended += row.state is NegotiationState.ENDED

            due, what = self._due(workspace_id), Retried.NEGOTIATION
            problem = "negotiations.not_swept"
            advanced += run(workspace_id, what, due, go_on, until=until, problem=problem)
        return {"negotiations_advanced": advanced, "negotiations_ended": ended}

    def _due(self, workspace_id: UUID) -> Sequence[UUID]:
        platform = self.advance.platform
        try:
            with platform.transactions.reading(system_principal(workspace_id)) as stores:
                rows = stores.negotiations.due(platform.clock(), MOST_DUE)
        except CairnError as error:
            about = {"workspace_id": str(workspace_id), "reason": error.reason}
            self.report("negotiations.not_swept", about)
            return ()
        return [row.id for row in rows]
