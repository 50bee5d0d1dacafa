"""Registered agents: who registers them, what they may reach, how they change. Not their tools.

An agent never has more than the key it calls with: its scopes, tools and rate narrow the key's.
Every change is a ledger entry, its names sealed under the key of its owner.
"""

from __future__ import annotations

import os
import re
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NoReturn

from cairn.accounts.keys import add_key, check_new_key
from cairn.kernel.access import Role, Scope
from cairn.kernel.access.keys import make_key
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import (
    Conflict,
    Denied,
    FieldError,
    NotFound,
    RateLimited,
    ValidationFailed,
)
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.scrub import scrub
from cairn.reading.views import NewKey
from cairn.writing.append import principal_actor
from cairn.writing.checks import clean_name
from cairn.writing.subjects import resolve
from cairn.writing.writer import Work, Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.reading.views import KeyView
    from cairn.writing.platform import Platform
    from cairn.writing.writer import Write

SLUG = re.compile(r"[a-z0-9][a-z0-9._\-]{0,63}")
EDITION = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
DEFAULT_PERSONA = "default"
MAX_AGENTS = 1_000
MAX_SPECIALISTS = 20
MAX_DESCRIPTION_CHARS = 2_000
JOINED_PER_HOUR = 20
"""How many agents a workspace lets register themselves in an hour."""
JOINED_REQUESTS = 600
"""Requests a minute of one that registered itself, until an admin says otherwise."""
MAX_REQUESTS = 6_000

BY_ADMIN, TOOL_DRIFT = "by-admin", "tool-drift"
"""Why an agent is disabled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDraft:
    """What is said of an agent. `tools` None is all that its key has; `edition` "" is any.

    `specialists` are other registered agents that it may hand work to. Without `live_memory` it
    knows what its snapshot says, and searches nothing.
    """

    name: str
    scopes: tuple[Scope, ...] = ()
    owner: str | None = None
    description: str = ""
    specialists: tuple[str, ...] = ()
    persona: str = DEFAULT_PERSONA
    edition: str = ""
    tools: tuple[str, ...] | None = None
    requests_a_minute: int | None = None
    live_memory: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent(AgentDraft):
    """A registered agent. `disabled` says why it may do nothing; None when it may.

    `joined` ones registered themselves. The owner is a data subject, and is None once forgotten.
    """

    slug: str
    id: UUID
    version: int = 1
    owner_subject: UUID | None = None
    disabled: str | None = None
    joined: bool = False
    registered_at: datetime
    changed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentKey:
    """The key to be made with an agent; with `own_memory` it finds only what is tagged for it."""

    role: Role = Role.AGENT
    own_memory: bool = False
    client_id: str | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRegistered:
    """A new agent; with the key that was made for it, whose secret is shown this once."""

    agent: Agent
    key: KeyView | None = None
    secret: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agents:
    """Registers and changes agents. An admin any; an agent's key that belongs to none, one: itself.

    So an agent registers no other, and what registers itself gains nothing that its key had not.
    """

    platform: Platform
    random_bytes: Callable[[int], bytes] = os.urandom

    def register(
        self, principal: Principal, slug: str, draft: AgentDraft, key: AgentKey | None = None
    ) -> AgentRegistered:
        """Register an agent and, for an admin who wants one, make its key.

        Raises Conflict when the slug is taken or the caller's key belongs to an agent, Denied for
        more than the caller has, RateLimited when too many registered themselves lately.
        """
        principal.require(Role.ADMIN, Role.AGENT)
        joins = principal.role is not Role.ADMIN
        if joins:
            _require_unbound(principal, key)
        checked = _checked(principal, slug, draft, joins=joins)
        _require_scopes(principal, checked.scopes)
        new = None if key is None else self._new_key(principal, slug, checked, key)

        def do(write: Write) -> AgentRegistered:
            return self._registered(write, principal, slug, checked, new, joins=joins)

        return self._write(principal, checked.owner, do)

    def change(
        self,
        principal: Principal,
        slug: str,
        changes: Mapping[str, Any],
        *,
        disabled: bool | None = None,
        reason: str = BY_ADMIN,
    ) -> Agent:
        """Change what is said of an agent, disable it or let it work again; the same is no change.

        NotFound without it. Of two changes at once both hold, but for a field that both change.
        """
        principal.require(Role.ADMIN)
        _require_scopes(principal, changes.get("scopes", ()))
        draft = _draft(self.get(principal, slug))
        owner = _checked(principal, slug, replace(draft, **changes), joins=False).owner

        def do(write: Write) -> AgentRegistered:
            before = write.stores.agents.find(slug)
            if before is None:
                raise _no_such(slug)
            checked = _checked(principal, slug, replace(_draft(before), **changes), joins=False)
            stops = before.disabled if disabled is None else (reason if disabled else None)
            after = replace(
                before,
                **_values(checked),
                owner_subject=_owner_id(write, checked.owner),
                disabled=stops,
            )
            return AgentRegistered(agent=_write_changed_agent(write, before, after))

        return self._write(principal, owner, do).agent

    def disable_drifted(
        self, workspace_id: UUID, missing: Callable[[Collection[str] | None], Sequence[str]]
    ) -> Sequence[Agent]:
        """Disable agents whose list of tools names what is `missing`; return them."""
        cairn = system_principal(workspace_id)
        return [
            self.change(cairn, agent.slug, {}, disabled=True, reason=TOOL_DRIFT)
            for agent in self.all(cairn)
            if agent.disabled is None and missing(agent.tools)
        ]

    def get(self, principal: Principal, slug: str) -> Agent:
        """Return one; NotFound without it, and to an agent for any but itself."""
        principal.require(Role.ADMIN, Role.AGENT)
        with self.platform.transactions.reading(principal) as stores:
            agent = stores.agents.find(slug)
        if agent is None or (principal.role is not Role.ADMIN and principal.agent != slug):
            raise _no_such(slug)
        return agent

    def all(self, principal: Principal) -> Sequence[Agent]:
        """Return every one, by slug."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            return stores.agents.all()

    def _new_key(self, principal: Principal, slug: str, agent: AgentDraft, key: AgentKey) -> NewKey:
        new = NewKey(
            name=agent.name,
            role=key.role,
            scopes=frozenset(agent.scopes),
            agent_slug=slug if key.own_memory or key.role is Role.PUBLIC else None,
            agent=slug,
            expires_at=key.expires_at,
            client_id=key.client_id,
        )
        return check_new_key(principal, new, self.platform.clock())

    def _registered(
        self,
        write: Write,
        principal: Principal,
        slug: str,
        draft: AgentDraft,
        new: NewKey | None,
        *,
        joins: bool,
    ) -> AgentRegistered:
        stores = write.stores
        if stores.agents.find(slug) is not None:
            raise Conflict(f"The slug {slug} is taken.", reason="agent-exists")
        _require_room(write, joins=joins)
        agent = Agent(
            slug=slug,
            id=self.platform.new_id(),
            owner_subject=_owner_id(write, draft.owner),
            joined=joins,
            registered_at=write.now,
            changed_at=write.now,
            **_values(draft),
        )
        _require_known(write, agent, persona=True)
        _keep(write, agent, "agent.registered")
        if joins and not stores.agents.join(principal.principal_id, slug):
            raise _bound_already()
        if new is None:
            return AgentRegistered(agent=agent)
        write.append()
        secret = make_key(self.random_bytes)
        view = add_key(
            stores,
            workspace_id=principal.workspace_id,
            actor=principal_actor(principal),
            new=new,
            secret=secret,
            now=write.now,
            new_id=self.platform.new_id,
        )
        return AgentRegistered(agent=agent, key=view, secret=secret.text)

    def _write(
        self, principal: Principal, owner: str | None, do: Callable[[Write], AgentRegistered]
    ) -> AgentRegistered:
        """Write once the owner is known as a data subject."""
        owners = [] if owner is None else [("person", owner)]

        def prepare() -> Work[AgentRegistered]:
            def begun(write: Write) -> AgentRegistered:
                write.register()
                return do(write)

            resolution = resolve(self.platform, principal, owners)
            return Work(resolution=resolution, do=begun, keep=_never_kept, read=_never_kept)

        return Writer(self.platform).write_once(principal, prepare, None)


def _never_kept(_: object) -> NoReturn:
    raise AssertionError("registrations are not repeated by a key: their slug is their identity")


def _require_unbound(principal: Principal, key: AgentKey | None) -> None:
    if key is not None:
        raise Denied("An agent that registers itself gets no further key.", reason="role")
    if principal.agent is not None or principal.agent_slug is not None:
        raise _bound_already()
    if principal.key_id is None:
        raise Denied("Only the holder of a key can register.", reason="role")


def _bound_already() -> Conflict:
    return Conflict(
        "This key belongs to a registered agent already; an agent registers no other.",
        reason="agent-registered",
    )


def _require_room(write: Write, *, joins: bool) -> None:
    there = write.stores.agents.count(write.now - timedelta(hours=1))
    if there.total >= MAX_AGENTS:
        _refuse("slug", f"is one too many: a workspace has at most {MAX_AGENTS} agents")
    if joins and there.joined >= JOINED_PER_HOUR:
        raise RateLimited(
            f"{JOINED_PER_HOUR} agents registered themselves here within an hour; an admin can "
            "register more.",
            retry_after=3_600,
            reason="agent-registrations",
        )


def _require_scopes(principal: Principal, scopes: Collection[Scope]) -> None:
    for scope in scopes:
        principal.require_scope(scope)


def _require_known(write: Write, agent: Agent, *, persona: bool, but: Collection[str] = ()) -> None:
    """Raise ValidationFailed for a persona or a specialist that is new to it and does not exist."""
    stores = write.stores
    is_known = not persona or agent.persona == DEFAULT_PERSONA
    if not is_known and stores.personas.find(agent.persona) is None:
        _refuse("persona", "is no persona of this workspace")
    for place, slug in enumerate(agent.specialists):
        if slug == agent.slug:
            _refuse(f"specialists.{place}", "is the agent itself")
        if slug not in but and stores.agents.find(slug) is None:
            _refuse(f"specialists.{place}", "is no registered agent")


def _checked(principal: Principal, slug: str, draft: AgentDraft, *, joins: bool) -> AgentDraft:
    """Return a draft as it is kept; ValidationFailed names the field, Denied what is too much."""
    if not SLUG.fullmatch(slug):
        _refuse("slug", "is 1 to 64 small letters, digits, dots, dashes and underscores")
    if not (draft.edition == "" or EDITION.fullmatch(draft.edition)):
        _refuse("edition", "is 1 to 64 small letters, digits, dashes and underscores")
    if len(draft.specialists) > MAX_SPECIALISTS:
        _refuse("specialists", f"has more than {MAX_SPECIALISTS} items")
    if draft.tools is not None and not draft.tools:
        _refuse("tools", "needs at least one tool")
    scopes = tuple(sorted(set(draft.scopes or principal.allowed_scopes)))
    rate = draft.requests_a_minute
    if rate is not None and not 1 <= rate <= MAX_REQUESTS:
        _refuse("requests_a_minute", f"is from 1 to {MAX_REQUESTS}")
    if joins:
        rate = min(rate or JOINED_REQUESTS, JOINED_REQUESTS)
    return replace(
        draft,
        name=clean_name(draft.name, "name") or "",
        owner=clean_name(draft.owner, "owner"),
        description=_description(draft.description),
        specialists=tuple(dict.fromkeys(draft.specialists)),
        tools=None if draft.tools is None else tuple(sorted(set(draft.tools))),
        scopes=scopes,
        requests_a_minute=rate,
    )


def _description(text: str) -> str:
    if not text:
        return ""
    return scrub(clean_text(text, field="description", max_chars=MAX_DESCRIPTION_CHARS)).text


def _owner_id(write: Write, owner: str | None) -> UUID | None:
    return None if owner is None else write.resolution.ids.get(("person", owner))


def _draft(agent: Agent) -> AgentDraft:
    return AgentDraft(**_values(agent))


def _values(draft: AgentDraft) -> dict[str, Any]:
    return {name: getattr(draft, name) for name in AgentDraft.__dataclass_fields__}


def _write_changed_agent(write: Write, before: Agent, after: Agent) -> Agent:
    """Keep what became of an agent, unless it is the same."""
    if after == before:
        return before
    changed = replace(after, version=before.version + 1, changed_at=write.now)
    _require_known(write, changed, persona=after.persona != before.persona, but=before.specialists)
    _keep(write, changed, "agent.changed")
    return changed


def _keep(write: Write, agent: Agent, type_: str) -> None:
    """Note an agent in the ledger, about its owner, and keep its row."""
    meta = {
        "agent_id": str(agent.id),
        "version": agent.version,
        "disabled": agent.disabled,
        "scopes": [scope.value for scope in agent.scopes],
        "tools": None if agent.tools is None else list(agent.tools),
        "joined": agent.joined,
        "live_memory": agent.live_memory,
    }
    body = {name: value for name, value in asdict(agent).items() if name in _SEALED}
    subjects = tuple(write.resolution.ids.values())
    if not subjects:
        del body["owner"]
    body["specialists"] = list(agent.specialists)
    write.entries.add(type_, meta, body, data_subjects=subjects, occurred_at=write.now)
    write.stores.agents.keep(agent)


_SEALED = ("slug", "name", "owner", "description", "persona", "edition", "requests_a_minute")


def _no_such(slug: str) -> NotFound:
    return NotFound("There is no such agent.", slug=slug)


def _refuse(field: str, message: str) -> NoReturn:
    raise ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])
