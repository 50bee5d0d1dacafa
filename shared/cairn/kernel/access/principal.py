"""Principals, roles and scopes. Pure values; the database enforces them (row level security)."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal
from uuid import UUID

from cairn.kernel.errors import Denied


class Role(StrEnum):
    """What a key may do."""

    ADMIN = "admin"  # everything in its workspace, keys included
    AGENT = "agent"  # write and recall within its scopes
    PUBLIC = "public"  # recall only, within its scopes, nodes tagged for its agent


class PersonRole(StrEnum):
    """What a person who signs in may do; the database holds each to it (`person_may`)."""

    OWNER = "owner"  # everything, other owners included
    ADMIN = "admin"  # everything but owners and new keys
    OPERATOR = "operator"  # works: changes and deletes what agents know, decides, answers
    REVIEWER = "reviewer"  # reads, corrects and marks memories
    READER = "reader"  # reads


class Scope(StrEnum):
    """Who a node is meant for. Unless told, the narrowest that the writer has."""

    PUBLIC = "public"
    SHARED = "shared"  # by explicit grant
    ADMIN = "admin"


GLOBAL_CLIENT = "global"
"""The client of what is nobody's."""

ALL_SCOPES = frozenset(Scope)
NARROWEST_FIRST = (Scope.ADMIN, Scope.SHARED, Scope.PUBLIC)


Barred = Literal["unregistered", "disabled", "edition"]
"""Why a key may not work as an agent: nobody registered it, an admin or the check of its tools
disabled its agent, or that is of another edition than the deployment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """An authenticated caller inside one workspace.

    `agent_slug` narrows searches to nodes tagged for that agent (public keys always carry one).
    Without one an admin finds everything, every other key only what is tagged for nobody.
    `tools` is the allow-list of MCP tool names, None for no restriction. One with a `client_id` is
    confined to that client and to shared knowledge; the database holds it to that.

    `agent` is the registered agent that calls, whose scopes, tools and rate narrow the key's;
    `barred` says why it may do nothing, or, when nobody registered it, little over MCP. `left_out`
    are the tools that the deployment's edition does not offer. Without `live_memory` it searches
    nothing: its agent has its snapshot. `person` is set for somebody who
    signed in, without a key; the role is then what the use cases ask for.
    """

    workspace_id: UUID
    principal_id: UUID
    role: Role
    allowed_scopes: frozenset[Scope]
    agent_slug: str | None = None
    tools: frozenset[str] | None = None
    key_id: UUID | None = None
    name: str = ""
    client_id: str | None = None
    agent: str | None = None
    agent_tools: frozenset[str] | None = None
    barred: Barred | None = None
    left_out: frozenset[str] = frozenset()
    live_memory: bool = True
    person: PersonRole | None = None

    @property
    def has_listed_tools(self) -> bool:
        """Return whether the key or its agent is for a list of tools alone."""
        lists = self.tools is not None or self.agent_tools is not None
        return lists or not self.live_memory

    def finds(self, agents: Collection[str] | None) -> bool:
        """Return whether a search of this principal may find what is tagged for `agents`."""
        if self.agent_slug is not None:
            return self.agent_slug in (agents or ())
        return self.role is Role.ADMIN or self.person is not None or agents is None

    def require(self, *roles: Role) -> None:
        """Raise Denied unless the principal has one of `roles`."""
        if self.role not in roles:
            if self.person is not None:
                raise Denied(
                    f"This is for owners and admins; your role is {self.person}.", reason="role"
                )
            raise Denied(
                f"This needs a key with the role {' or '.join(roles)}; this key has {self.role}.",
                reason="role",
            )

    @property
    def operates(self) -> bool:
        """Return whether this is an admin, or somebody who signed in to do the daily work."""
        return self.role is Role.ADMIN or self.person is PersonRole.OPERATOR

    def require_operator(self) -> None:
        """Raise Denied unless the principal decides and works: an admin, or an operator."""
        if self.person is not None and not self.operates:
            raise Denied(
                f"This needs the role operator; yours is {self.person}. Ask an owner for it.",
                reason="role",
            )
        if not self.operates:
            self.require(Role.ADMIN)

    def require_person(self) -> None:
        """Raise Denied for keys of agents: only an admin and who signed in may read this."""
        if self.person is None:
            self.require(Role.ADMIN)

    def writing_client(self, client_id: str) -> str:
        """Return whose what is written is: `client_id`, or the client the principal is bound to.

        Raises Denied for another client's. `GLOBAL_CLIENT` is what a writer says who names none.
        """
        if self.client_id is None:
            return client_id
        if client_id not in (GLOBAL_CLIENT, self.client_id):
            raise Denied("This key is bound to another client.", reason="client")
        return self.client_id

    def require_client(self, client_id: str) -> None:
        """Raise Denied when the principal is bound to another client than whose this is."""
        if self.client_id not in (None, client_id):
            raise Denied(
                "This is shared knowledge; a key bound to a client only reads it.", reason="client"
            )

    def writing_scope(self, requested: Scope | None) -> Scope:
        """Return the scope of what is written: `requested`, or the narrowest the principal has.

        Raises Denied when the principal may not write `given`.
        """
        allowed = (scope for scope in NARROWEST_FIRST if scope in self.allowed_scopes)
        scope = requested or next(allowed, Scope.ADMIN)
        self.require_scope(scope)
        return scope

    def require_scope(self, scope: Scope) -> None:
        """Raise Denied when the principal may not write or read `scope`."""
        if scope not in self.allowed_scopes:
            raise Denied(f"This key has no access to the scope {scope}.", reason="scope")
