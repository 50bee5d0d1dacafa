"""What waits for the person: proposed with a hash of its arguments, then done once or dropped."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from cairn.chat.rows import ActionRow, ChatActionState
from cairn.chat.tools import Result, hash_of
from cairn.chat.views import ActionView
from cairn.kernel.errors import Conflict, NotFound
from cairn.kernel.records import convert
from cairn.kernel.text.canonical import format_timestamp
from cairn.writing.sealing import Sealer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from cairn.chat.telling import Teller
    from cairn.chat.tools import Toolbox
    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform

LIFETIME = timedelta(minutes=15)
"""How long a person may take to say yes."""

NOT_ARGUMENTS = frozenset({"confirmation", "idempotency_key"})
"""What only the second call of a tool carries: nobody proposes it."""


@dataclass(slots=True, kw_only=True)
class Propose:
    """Keeps what a turn wants to change, and tells the person."""

    teller: Teller
    session: bytes
    made: list[UUID] = field(default_factory=list["UUID"])

    def __call__(self, tool: str, arguments: Mapping[str, Any]) -> Result:
        """Return what a model is told: it waits, and who decides."""
        teller, platform = self.teller, self.teller.platform
        own_arguments = {
            name: each for name, each in arguments.items() if name not in NOT_ARGUMENTS
        }
        now = platform.clock()
        action = ActionRow(
            id=platform.new_id(),
            turn_id=teller.turn_id,
            principal_id=teller.principal.principal_id,
            session=self.session,
            tool=tool,
            arguments=teller.sealer.seal(own_arguments),
            arguments_hash=hash_of(tool, own_arguments),
            data_subjects=teller.sealer.data_subjects,
            state=ChatActionState.PENDING,
            result=None,
            created_at=now,
            expires_at=now + LIFETIME,
            decided_at=None,
        )
        with platform.transactions.preparing(teller.principal) as (stores, _):
            stores.chats.propose(action)
        self.made.append(action.id)
        teller.tell(
            "tool_activity",
            {"arguments": own_arguments},
            tool=tool,
            phase="pending",
            action_id=str(action.id),
            arguments_hash=action.arguments_hash,
            expires_at=format_timestamp(action.expires_at),
        )
        text = f"{tool} waits for the person's yes, until {format_timestamp(action.expires_at)}."
        return Result(tool=tool, text=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Actions:
    """The person's word on what waits."""

    platform: Platform

    def get(self, principal: Principal, action_id: UUID) -> ActionView:
        """Return one; NotFound for another's."""
        return self.view(principal, self._row(principal, action_id))

    def waiting(self, principal: Principal, session: bytes) -> list[ActionView]:
        """Return what waits in a session, the newest first."""
        with self.platform.transactions.reading(principal) as stores:
            rows = stores.chats.waiting(session, self.platform.clock())
        return [self.view(principal, row) for row in rows]

    def decide(
        self,
        principal: Principal,
        action_id: UUID,
        toolbox: Toolbox,
        *,
        confirm: bool,
        arguments_hash: str | None = None,
    ) -> ActionView:
        """Do it, or drop it. Of two at once one does it, and both are told what came of it.

        `arguments_hash` is of what the person saw. Conflict when it is another's
        (`arguments-changed`), when the time is up (`action-expired`), when it was decided otherwise
        (`action-decided`), or when the key may not call the tool any more (`action-tool`).
        """
        row = self._row(principal, action_id)
        sealer = self._sealer(principal, row)
        arguments = sealer.open(row.arguments)
        same = arguments_hash in (None, row.arguments_hash)
        if confirm and not (same and hash_of(row.tool, arguments) == row.arguments_hash):
            raise Conflict(
                "These are not the arguments that the person saw.", reason="arguments-changed"
            )
        if confirm and row.tool not in toolbox.waits:
            raise Conflict("This key may not call that tool (any more).", reason="action-tool")
        state = ChatActionState.RUNNING if confirm else ChatActionState.CANCELLED
        with self.platform.transactions.preparing(principal) as (stores, _):
            taken = stores.chats.decide(action_id, state, self.platform.clock())
        if not taken:
            return self._decided(principal, action_id, confirm=confirm)
        if confirm:
            result = toolbox.call(row.tool, arguments)
            ended = ChatActionState.FAILED if result.error else ChatActionState.DONE
            with self.platform.transactions.preparing(principal) as (stores, _):
                stores.chats.done(action_id, ended, sealer.seal({"text": result.shown}))
        return self.get(principal, action_id)

    def _decided(self, principal: Principal, action_id: UUID, *, confirm: bool) -> ActionView:
        view = self.get(principal, action_id)
        if view.state is ChatActionState.EXPIRED:
            raise Conflict("The time to confirm it is up.", reason="action-expired")
        if confirm == (view.state is ChatActionState.CANCELLED):
            raise Conflict("It was decided otherwise before.", reason="action-decided")
        return view

    def view(self, principal: Principal, row: ActionRow) -> ActionView:
        """Return a row as its reader sees it."""
        sealer = self._sealer(principal, row)
        late = row.state is ChatActionState.PENDING and row.expires_at <= self.platform.clock()
        return convert(
            row,
            ActionView,
            arguments=sealer.open(row.arguments),
            state=ChatActionState.EXPIRED if late else row.state,
            result=sealer.open(row.result).get("text"),
        )

    def _row(self, principal: Principal, action_id: UUID) -> ActionRow:
        with self.platform.transactions.reading(principal) as stores:
            row = stores.chats.action(action_id)
        if row is None:
            raise NotFound("There is no such action.")
        return row

    def _sealer(self, principal: Principal, row: ActionRow) -> Sealer:
        return Sealer.of(
            self.platform, principal.workspace_id, row.turn_id, tuple(row.data_subjects)
        )
