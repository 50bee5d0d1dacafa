"""What a step needs a tool for, which tools of a catalogue serve, and with which arguments. Pure.

By the words of their names, not by a list of known ones: `accounts.find_user` and
`crm.getAccount` both find an account. A tool without a declared lane serves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.investigations.planning.arguments import misfit, required_of, takes
from cairn.investigations.planning.envelope import arguments_of
from cairn.investigations.planning.records import parts_of
from cairn.safety.tools import Lane

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cairn.kernel.text.json_value import JsonValue
    from cairn.safety.tools import ToolSpec

READS = frozenset(["get", "find", "show", "look", "lookup", "read", "search", "fetch", "list"])
REASON = frozenset(["reason", "note", "comment", "justification", "message"])
"""Arguments that ask why; they are told the step's reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A purpose: what it is called, and the words that the names of tools and tables have for it.

    A table serves when each of `columns` is met by a column: alternatives of name parts.
    `by` are the slots that say whose: one of them has to be known and taken by the tool.
    """

    name: str
    lane: Lane
    verbs: frozenset[str]
    nouns: frozenset[str]
    by: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...] = ()


Slots = dict[str, str]
"""What is known to fill arguments with: email, username, id, url, customer, reason."""

_SLOT_PARTS: tuple[tuple[str, frozenset[str]], ...] = (
    ("email", frozenset(["email"])),
    ("email", frozenset(["mail"])),
    ("email", frozenset(["upn"])),
    ("id", frozenset(["user", "id"])),
    ("id", frozenset(["account", "id"])),
    ("id", frozenset(["member", "id"])),
    ("id", frozenset(["person", "id"])),
    ("id", frozenset(["employee", "id"])),
    ("id", frozenset(["login", "id"])),
    ("username", frozenset(["username"])),
    ("username", frozenset(["login"])),
    ("who", frozenset(["user"])),
    ("who", frozenset(["account"])),
    ("who", frozenset(["identifier"])),
    ("url", frozenset(["url"])),
    ("url", frozenset(["uri"])),
    ("url", frozenset(["endpoint"])),
    ("customer", frozenset(["customer"])),
    ("customer", frozenset(["client"])),
)


def serving(tools: Sequence[ToolSpec], use: Use) -> list[ToolSpec]:
    """Return the tools that serve, those whose own names say more of it first, then by name."""
    found = [(_fit(tool, use), tool) for tool in tools if tool.lane is use.lane]
    return [tool for fit, tool in sorted(found, key=lambda one: (-one[0], one[1].key)) if fit]


def serves(connector: str, tool: str, use: Use) -> bool:
    """Return whether a tool's name has a verb and a noun of the use."""
    own, around = parts_of(tool), parts_of(connector)
    return bool(own & use.verbs) and bool((own | around) & use.nouns)


def filled(
    tool: ToolSpec, use: Use, slots: Mapping[str, str], reason: str
) -> Mapping[str, JsonValue] | None:
    """Return arguments from what is known; None when a needed one, or whose it is, is not."""
    given: dict[str, JsonValue] = {}
    used: set[str] = set()
    for name, schema in arguments_of(tool).items():
        slot = _slot(name)
        value = slots.get(slot) if slot else None
        if value is None and slot == "who":
            slot = next((one for one in ("email", "username", "id") if slots.get(one)), "who")
            value = slots.get(slot)
        if slot in use.by and value and takes(schema, "string"):
            given[name] = value
            used.add(slot)
        elif parts_of(name) & REASON and takes(schema, "string"):
            given[name] = reason
    if not used or misfit(tool, given) is not None:
        return None
    return _least(tool, given)


def _least(tool: ToolSpec, given: dict[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Return the needed arguments; one that says whose it is, where none is needed."""
    needed = required_of(tool)
    kept = {name: value for name, value in given.items() if name in needed}
    if any(_slot(name) for name in kept):
        return kept
    who = next(name for name in given if _slot(name))
    return {**kept, who: given[who]}


def _fit(tool: ToolSpec, use: Use) -> int:
    if not serves(tool.connector, tool.name, use):
        return 0
    return 1 + len(parts_of(tool.name) & use.nouns)


def _slot(name: str) -> str | None:
    """Return what fills an argument; an id that does not say whose may be anything's, but `id`."""
    parts = parts_of(name)
    if parts == {"id"}:
        return "id"
    return next((slot for slot, wanted in _SLOT_PARTS if wanted <= parts), None)


ACCOUNT = Use(
    name="account",
    lane=Lane.READ,
    verbs=READS,
    nouns=frozenset(["user", "account", "member", "login"]),
    by=("email", "username"),
    columns=(
        ("email", "mail", "username", "login"),
        ("lock", "locked", "status", "disabled", "enabled", "active"),
    ),
)
SIGN_INS = Use(
    name="sign-ins",
    lane=Lane.READ,
    verbs=READS | {"sign", "login", "event"},
    nouns=frozenset(["sign", "signin", "login", "attempt", "authentication", "auth"]),
    by=("email", "username", "id"),
    columns=(
        ("email", "mail", "username", "user id", "account id", "login"),
        ("at", "time", "timestamp", "created", "occurred", "date"),
        ("result", "outcome", "success", "succeeded", "error", "failure", "reason"),
    ),
)
UNLOCK = Use(
    name="unlock",
    lane=Lane.WRITE,
    verbs=frozenset(["unlock", "unblock"]),
    nouns=frozenset(["user", "account", "member", "login"]),
    by=("id", "email", "username"),
)
RESET_MFA = Use(
    name="reset-mfa",
    lane=Lane.WRITE,
    verbs=frozenset(["reset", "remove", "clear", "unenroll", "revoke"]),
    nouns=frozenset(["mfa", "2fa", "totp", "otp", "authenticator", "factor"]),
    by=("id", "email", "username"),
)
DELIVERIES = Use(
    name="deliveries",
    lane=Lane.READ,
    verbs=READS,
    nouns=frozenset(["delivery", "webhook", "callback", "hook"]),
    by=("customer", "email", "url"),
    columns=(
        ("url", "endpoint", "target"),
        ("status", "code", "response", "http"),
        ("at", "time", "timestamp", "created", "delivered", "attempted", "date"),
    ),
)
ENDPOINT = Use(
    name="endpoint",
    lane=Lane.READ,
    verbs=frozenset(["get", "fetch", "request", "check", "head", "probe"]),
    nouns=frozenset(["http", "url", "endpoint", "web"]),
    by=("url",),
)
INVOICES = Use(
    name="invoices",
    lane=Lane.READ,
    verbs=READS,
    nouns=frozenset(["invoice", "bill", "payment", "charge", "billing"]),
    by=("email", "customer"),
    columns=(
        ("email", "mail", "customer", "client"),
        ("amount", "total", "price", "gross"),
        ("status", "paid", "due", "number", "issued"),
    ),
)
