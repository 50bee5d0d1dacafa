"""Results of tools read as records: the objects in their JSON, each with its citation. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from cairn.investigations import citations
from cairn.investigations.planning.envelope import arguments_of
from cairn.safety.tools import Lane

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence, Set

    from cairn.investigations.state import Observation
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
    results = [(_fit(tool, use), tool) for tool in tools if tool.lane is use.lane]
    return [tool for fit, tool in sorted(results, key=lambda item: (-item[0], item[1].key)) if fit]


def serves(connector: str, tool: str, use: Use) -> bool:
    """Return whether a tool's name has a verb and a noun of the use."""
    own, around = parts_of(tool), parts_of(connector)
    return bool(own & use.verbs) and bool((own | around) & use.nouns)


def filled(
    tool: ToolSpec, use: Use, slots: Mapping[str, str], reason: str
) -> Mapping[str, JsonValue] | None:
    """Return arguments from what is known; None when a needed one, or whose it is, is not."""
    arguments: dict[str, JsonValue] = {}
    used: set[str] = set()
    for name, schema in arguments_of(tool).items():
        slot = _slot(name)
        value = slots.get(slot) if slot else None
        if value is None and slot == "who":
            slot = next((item for item in ("email", "username", "id") if slots.get(item)), "who")
            value = slots.get(slot)
        if slot in use.by and value and takes(schema, "string"):
            arguments[name] = value
            used.add(slot)
        elif parts_of(name) & REASON and takes(schema, "string"):
            arguments[name] = reason
    if not used or misfit(tool, arguments) is not None:
        return None
    return _least(tool, arguments)


def _least(tool: ToolSpec, arguments: dict[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Return the needed arguments; one that says whose it is, where none is needed."""
    needed = required_of(tool)
    needed_arguments = {name: value for name, value in arguments.items() if name in needed}
    if any(_slot(name) for name in needed_arguments):
        return needed_arguments
    who = next(name for name in arguments if _slot(name))
    return {**needed_arguments, who: arguments[who]}


def _fit(tool: ToolSpec, use: Use) -> int:
    if not serves(tool.connector, tool.name, use):
        return 0
    return 1 + len(parts_of(tool.name) & use.nouns)


def _slot(name: str) -> str | None:
    """Return what fills an argument; an id that does not say whose may be anything's, but `id`."""
    parts = parts_of(name)
    if parts == {"id"}:
        return "id"
    return next((slot for slot, slot_words in _SLOT_PARTS if slot_words <= parts), None)


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


_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def required_of(tool: ToolSpec) -> frozenset[str]:
    """Return the names of the arguments a tool cannot do without."""
    schema = tool.schema.get("required")
    names = cast("list[object]", schema) if isinstance(schema, list) else []
    return frozenset(item for item in names if isinstance(item, str))


def misfit(tool: ToolSpec, arguments: Mapping[str, object]) -> str | None:
    """Return what is wrong with `arguments` in a few words; None when they may be sent.

    Names and types of the first level are looked at; the host checks the whole schema.
    """
    schemas = arguments_of(tool)
    if missing := sorted(required_of(tool) - arguments.keys()):
        return f"{tool.key} needs the argument {missing[0]!r}"
    if unknown := sorted(arguments.keys() - schemas.keys()):
        return f"{tool.key} has no argument {unknown[0]!r}" if schemas else None
    for name, value in arguments.items():
        if not _is(schemas[name], value):
            return f"the argument {name!r} of {tool.key} is of another type"
    return None


def takes(schema: Mapping[str, Any], kind: str) -> bool:
    """Return whether an argument's schema takes a JSON type; one that names none takes all."""
    kinds = _kinds(schema)
    return not kinds or kind in kinds


def _is(schema: Mapping[str, Any], value: object) -> bool:
    kinds = _kinds(schema)
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in cast("list[object]", choices):
        return False
    if isinstance(value, bool):
        return not kinds or "boolean" in kinds
    return not kinds or any(isinstance(value, _TYPES.get(kind, (object,))) for kind in kinds)


def _kinds(schema: Mapping[str, Any]) -> list[str]:
    """Return the JSON types a schema names, those of its alternatives included."""
    type_ = schema.get("type")
    types = cast("list[object]", type_) if isinstance(type_, list) else [type_]
    kinds = [item for item in types if isinstance(item, str)]
    for alternative in cast("list[object]", schema.get("anyOf") or []):
        if isinstance(alternative, dict):
            kinds += _kinds(cast("dict[str, Any]", alternative))
    return kinds


MOST = 200
DEPTH = 6
_TRUE = frozenset(["true", "t", "yes", "y", "1", "on"])
_FALSE = frozenset(["false", "f", "no", "n", "0", "off", "null", "none", ""])
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One object of a result: plain values by name, and the citation of the call."""

    fields: Mapping[str, object]
    citation: str

    def value(self, *names: str) -> object:
        """Return the first field whose name has all the parts of one of `names`; None without.

        Parts are separated by spaces: "user id" is met by `user_id` and `userId`.
        """
        for want in names:
            parts = set(want.split())
            for name, value in self.fields.items():
                if parts <= parts_of(name):
                    return value
        return None

    def text(self, *names: str) -> str:
        """Return the same as text in one line, "" for none."""
        value = self.value(*names)
        return "" if value is None else " ".join(str(value).split())

    def has(self, *names: str) -> bool:
        """Return whether one of the fields is there, whatever its value."""
        return any(set(want.split()) <= parts_of(name) for want in names for name in self.fields)


def records(observation: Observation) -> tuple[Record, ...]:
    """Return the objects in the result of a tool, `MOST` at most; none when it is no JSON."""
    try:
        document = cast("object", json.loads(observation.text))
    except (ValueError, RecursionError):
        return ()
    citation = citations.tool(observation.action_id)
    results = (Record(fields=fields, citation=citation) for fields in _objects(document, DEPTH))
    return tuple(record for record, _ in zip(results, range(MOST), strict=False))


def parts_of(name: str) -> Set[str]:
    """Return the words a name is made of, lower case and singular: `failedAttempts`, `sign_ins`."""
    return frozenset(singular(part.lower()) for part in _PARTS.findall(name))


def singular(word: str) -> str:
    """Return an English word without its plural s."""
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def truth(value: object) -> bool | None:
    """Return what a field says yes or no to; None when it says neither."""
    if isinstance(value, bool):
        return value
    text = "" if value is None else str(value).strip().lower()
    if text in _TRUE:
        return True
    return False if text in _FALSE else None


def _objects(value: object, depth: int) -> Iterator[Mapping[str, object]]:
    """Yield objects with plain values, outer ones first; tables as columns and rows too."""
    if depth == 0:
        return
    if isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _objects(item, depth - 1)
    if not isinstance(value, dict):
        return
    fields = cast("dict[str, object]", value)
    if (rows := _table(fields)) is not None:
        yield from rows
        return
    plain = {name: field for name, field in fields.items() if not _is_nested(field)}
    inner = [field for field in fields.values() if _is_nested(field)]
    if plain and (not inner or _names_something(plain)):
        yield plain
    for item in inner:
        yield from _objects(item, depth - 1)


def _is_nested(value: object) -> bool:
    return isinstance(value, dict | list)


def _names_something(plain: Mapping[str, object]) -> bool:
    """Return whether an object around others is a thing of its own, not a page of them."""
    return any(parts_of(name) & {"id", "email", "username", "url"} for name in plain)


def _table(fields: Mapping[str, object]) -> list[Mapping[str, object]] | None:
    columns, rows = fields.get("columns"), fields.get("rows")
    if not isinstance(columns, list) or not isinstance(rows, list):
        return None
    names = [_name(item) for item in cast("list[object]", columns)]
    listed = cast("list[object]", rows)
    if all(isinstance(row, list) for row in listed):
        return [dict(zip(names, cast("list[object]", row), strict=False)) for row in listed]
    return [cast("dict[str, object]", row) for row in listed if isinstance(row, dict)]


def _name(column: object) -> str:
    if isinstance(column, dict):
        return str(cast("dict[str, object]", column).get("name", ""))
    return str(column)
