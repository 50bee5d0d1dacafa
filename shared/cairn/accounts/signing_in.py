"""Keys of clients that sign in: one that calls tools for some hours, and one to renew it with.

Both belong to one agent, of which an admin has said which scopes it sees. A key to renew with names
a tool that there is not, so that it opens nothing; it is good once. Not the flow that leads here.
"""

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from cairn.accounts.keys import add_key, check_new_key, record
from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.access.keys import make_key
from cairn.kernel.access.system import system_principal
from cairn.kernel.clock import Clock
from cairn.kernel.errors import Unauthenticated
from cairn.kernel.ids import IdSource
from cairn.kernel.stores import Stores
from cairn.kernel.transaction import Transactions
from cairn.ledger.entry import Actor
from cairn.reading.views import KeyView, NewKey
from cairn.writing.append import SYSTEM, principal_actor

ACCESS_LASTS, RENEWAL_LASTS = timedelta(hours=8), timedelta(days=30)
RENEWS = frozenset({"renew"})
"""What a key to renew with lists: no tool has a name without an underscore."""
MARK = "signed in"
_NAME = re.compile(rf"(?P<client>.*) \({MARK}: (?P<sign_in>[0-9a-f-]{{36}})\)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """Whom a client signs in as, and the tools that its key is for."""

    client: str
    slug: str
    scopes: frozenset[Scope]
    tools: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """The two keys as text, and the sign-in they belong to."""

    id: UUID
    workspace_id: UUID
    scopes: frozenset[Scope]
    access: str = field(repr=False)
    renewal: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIns:
    """Opens, renews and ends sign-ins."""

    transactions: Transactions[Stores]
    clock: Clock
    new_id: IdSource
    random_bytes: Callable[[int], bytes] = os.urandom

    def open(self, admin: Principal, agent: Agent) -> SignedIn:
        """Return the first keys; refused where the admin could not make such a key."""
        admin.require(Role.ADMIN)
        new_key = NewKey(
            name=agent.client, role=Role.AGENT, scopes=agent.scopes, agent_slug=agent.slug
        )
        check_new_key(admin, new_key, self.clock())
        with self.transactions.writing(admin) as stores:
            return self._issue(stores, self.new_id(), agent, admin, principal_actor(admin))

    def renew(self, holder: Principal, tools: frozenset[str]) -> SignedIn:
        """Return new keys in the place of those of a sign-in.

        Raises Unauthenticated for a key that renews nothing, or no longer: of two renewals at once
        the second finds the first's.
        """
        if holder.tools != RENEWS or holder.key_id is None or holder.agent_slug is None:
            raise Unauthenticated("This is no token to renew with.", reason="refresh-token")
        system = system_principal(holder.workspace_id)
        with self.transactions.writing(system) as stores:
            self._record_end(stores, holder.workspace_id, holder.key_id)  # holds the chain's lock
            every = stores.keys.all()
            key = next((each for each in every if each.id == holder.key_id), None)
            parts = _sign_in_of(key) if key is not None and key.revoked_at is None else None
            if key is None or parts is None:
                raise Unauthenticated("This token was renewed.", reason="refresh-token")
            sign_in, client = parts
            self._revoke(stores, holder.workspace_id, every, sign_in, recorded=key.id)
            agent = Agent(
                client=client,
                slug=holder.agent_slug,
                scopes=frozenset(holder.allowed_scopes),
                tools=tools,
            )
            return self._issue(stores, sign_in, agent, system, SYSTEM)

    def end(self, workspace_id: UUID, *, prefix: str = "", sign_in: UUID | None = None) -> None:
        """Revoke every key of a sign-in, named by its id or by the prefix of a renewed key.

        For a code or a token that is sent a second time: somebody else may have sent the first.
        """
        with self.transactions.writing(system_principal(workspace_id)) as stores:
            every = stores.keys.all()
            used = [key for key in every if key.prefix == prefix and key.revoked_at is not None]
            parts = _sign_in_of(used[0]) if used else None
            if parts is not None:
                sign_in = parts[0]
            if sign_in is not None:
                self._revoke(stores, workspace_id, every, sign_in)

    def _issue(
        self, stores: Stores, sign_in: UUID, agent: Agent, maker: Principal, actor: Actor
    ) -> SignedIn:
        now = self.clock()
        texts: list[str] = []
        for tools, lasts in ((agent.tools, ACCESS_LASTS), (RENEWS, RENEWAL_LASTS)):
            secret = make_key(self.random_bytes)
            add_key(
                stores,
                workspace_id=maker.workspace_id,
                actor=actor,
                new=NewKey(
                    name=f"{agent.client} ({MARK}: {sign_in})",
                    role=Role.AGENT,
                    scopes=agent.scopes,
                    agent_slug=agent.slug,
                    tools=tools,
                    expires_at=now + lasts,
                ),
                secret=secret,
                now=now,
                new_id=self.new_id,
            )
            texts.append(secret.text)
        return SignedIn(
            id=sign_in,
            workspace_id=maker.workspace_id,
            scopes=agent.scopes,
            access=texts[0],
            renewal=texts[1],
        )

    def _revoke(
        self,
        stores: Stores,
        workspace_id: UUID,
        every: Iterable[KeyView],
        sign_in: UUID,
        *,
        recorded: UUID | None = None,
    ) -> None:
        """Revoke what is left of a sign-in; the end of `recorded` is in the ledger already."""
        for key in every:
            if key.revoked_at is None and key.name.endswith(f"({MARK}: {sign_in})"):
                stores.keys.revoke(key.id, self.clock())
                if key.id != recorded:
                    self._record_end(stores, workspace_id, key.id)

    def _record_end(self, stores: Stores, workspace_id: UUID, key_id: UUID) -> None:
        record(
            stores,
            workspace_id=workspace_id,
            type_="key.revoked",
            meta={"key_id": str(key_id)},
            actor=SYSTEM,
            now=self.clock(),
            new_id=self.new_id,
        )


def _sign_in_of(key: KeyView) -> tuple[UUID, str] | None:
    """Return the sign-in that a key's name ends with, and the client it begins with."""
    match = _NAME.fullmatch(key.name)
    return (UUID(match["sign_in"]), match["client"]) if match else None
