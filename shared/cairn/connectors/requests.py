"""A connector as somebody asks for it, checked. Not its table, and not whether it answers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, cast
from urllib.parse import urlsplit

from cairn.connectors.connector import Transport
from cairn.connectors.launching import BUNDLED, VARIABLE, is_ours
from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.kernel.text.checks import clean_json, clean_text
from cairn.kernel.text.scrub import scrub_value
from cairn.oauth_client.client import SECRET as CLIENT_SECRET
from cairn.oauth_client.client import SETTING as OAUTH
from cairn.oauth_client.client import read_client
from cairn.safety.scope import parse_scopes
from cairn.safety.tools import Autonomy, Criticality

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

    from cairn.kernel.text.json_value import JsonValue


if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from cairn.kernel.text.json_value import JsonValue

    CheckCommand = Callable[[Sequence[str], Collection[str]], "AllowedCommand"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedCommand:
    """A whole command line, the file that its first word stands for, and variables it may be given.

    A variable can change what runs (`PATH`, `LD_PRELOAD`), so each is allowed by name.
    """

    command: tuple[str, ...]
    program: str
    variables: tuple[str, ...] = ()


def variables_of(config: Mapping[str, JsonValue], secrets: Iterable[str]) -> frozenset[str]:
    """Return the names of the variables that a command would be given."""
    variables = config.get("env")
    return frozenset([*(cast("dict[str, JsonValue]", variables or {})), *secrets])


def check_command(
    allowed: Iterable[AllowedCommand], command: Sequence[str], variables: Collection[str]
) -> AllowedCommand:
    """Return what was allowed; ValidationFailed for another command, or another variable."""
    for entry in allowed:
        if entry.command == tuple(command):
            missing = sorted(set(variables) - set(entry.variables))
            if missing:
                names = " ".join(f"--env {name}" for name in missing)
                refuse(
                    "config.env",
                    f"may not set {', '.join(missing)} for this command; the machine's owner "
                    f"allows it: cairn connectors allow {names} -- COMMAND",
                )
            return entry
    refuse(
        "command",
        "may not run here; the machine's owner allows it: cairn connectors allow -- COMMAND. "
        "Bundled connectors and addresses need no leave",
    )


MAX_CONFIG_BYTES, MAX_CONFIG_DEPTH = 16_000, 8
MAX_SECRETS, MAX_SECRET_CHARS = 20, 8_000
MAX_COMMAND, MAX_ARGUMENT_CHARS = 32, 1_000
MAX_URL_CHARS = 2_048

DSN = "dsn"
"""The secret of bundled connectors that says which database they sign in to."""

RESERVED_NAMES = frozenset({"health"})
"""Paths of the API that stand beside connectors' names."""

NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}")
_HEADERS_OF_MCP = ("host", "content-", "mcp-", "accept", "connection", "transfer-", "last-event")
_SETTING = re.compile(r"[a-z][a-z0-9_]{0,63}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

NOTHING: Mapping[str, JsonValue] = MappingProxyType({})
NO_SECRETS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class NewConnector:
    """A connector as the caller wants it. One of `builtin`, `command` and `url` says what runs."""

    name: str
    transport: Transport = Transport.STDIO
    builtin: str | None = None
    command: tuple[str, ...] = ()
    url: str | None = None
    config: Mapping[str, JsonValue] = field(default_factory=lambda: NOTHING)
    secrets: Mapping[str, str] = field(default_factory=lambda: NO_SECRETS, repr=False)
    scopes: str = ""
    autonomy: Autonomy = Autonomy.INVESTIGATE
    criticality: Criticality = Criticality.SKIP


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorChange:
    """What to change; None leaves it. A secret of None is removed, others stay."""

    command: tuple[str, ...] | None = None
    url: str | None = None
    config: Mapping[str, JsonValue] | None = None
    secrets: Mapping[str, str | None] | None = field(default=None, repr=False)
    scopes: str | None = None
    autonomy: Autonomy | None = None
    criticality: Criticality | None = None


def check_connector(new: NewConnector) -> NewConnector:
    """Return it, or raise ValidationFailed naming the field. Addresses are not looked at here."""
    if not NAME.fullmatch(new.name) or new.name in RESERVED_NAMES:
        refuse("name", "has small letters, digits and -, begins with a letter, and at most 40")
    _check_kind(new)
    _check_config(new)
    _check_secrets(new)
    parse_scopes(new.scopes, connector=new.name)
    return new


def _check_kind(new: NewConnector) -> None:
    sources = [bool(new.builtin), bool(new.command), bool(new.url)]
    if sum(sources) != 1:
        refuse("builtin", "or command or url is needed, one of them")
    if new.builtin is not None and new.builtin not in BUNDLED:
        refuse("builtin", f"is one of {', '.join(sorted(BUNDLED))}")
    if (new.transport is Transport.HTTP) != bool(new.url):
        refuse("transport", "is http for a url, and only then")
    if new.transport is Transport.IN_PROCESS and new.builtin is None:
        refuse("transport", "is in_process for bundled connectors only")
    if len(new.command) > MAX_COMMAND:
        refuse("command", f"has at most {MAX_COMMAND} parts")
    for number, part in enumerate(new.command):
        clean_text(part, field=f"command.{number}", max_chars=MAX_ARGUMENT_CHARS)
    if new.url is not None:
        _check_url(new.url)


def _check_url(value: str) -> None:
    url = clean_text(value, field="url", max_chars=MAX_URL_CHARS)
    try:
        parts = urlsplit(url)
        has_user = parts.username or parts.password
    except ValueError:
        refuse("url", "is no address")
    if has_user:
        refuse("url", "carries no name and no password; they go into secrets, as a header")


def _check_config(new: NewConnector) -> None:
    config = dict(new.config)
    clean_json(config, field="config", max_bytes=MAX_CONFIG_BYTES, max_depth=MAX_CONFIG_DEPTH)
    if DSN in config:
        refuse(f"config.{DSN}", "goes into secrets, where it is looked at")
    _, results = scrub_value(_without(cast("JsonValue", config), new.secrets.keys()))
    if results:
        refuse("config", f"holds what looks like a secret ({results[0]}); it goes into secrets")
    if new.builtin is not None:
        return
    allowed = "headers" if new.url else "env"
    if config.keys() - ({allowed, OAUTH} if new.url else {allowed}):
        refuse("config", f"has nothing but {allowed}{f' and {OAUTH}' if new.url else ''} here")
    if OAUTH in config:
        read_client(config[OAUTH], new.secrets)
        _refuse_authorization(config, new.secrets)
    values = config.get(allowed, {})
    if not isinstance(values, dict):
        refuse(f"config.{allowed}", "is a table of names and texts")
    for name, value in values.items():
        _check_named(new, f"config.{allowed}", name, value)


def _refuse_authorization(config: Mapping[str, JsonValue], secrets: Mapping[str, str]) -> None:
    """Refuse a header of its own where the token of a sign-in goes."""
    headers = config.get("headers")
    names = [*secrets, *(headers if isinstance(headers, dict) else ())]
    if any(name.lower() == "authorization" for name in names):
        refuse("config.oauth", "brings the header Authorization; leave the other one out")


def _without(value: JsonValue, names: Set[str]) -> JsonValue:
    """Return settings without the names of secrets: what names one is none."""
    if isinstance(value, dict):
        return {name: _without(each, names) for name, each in value.items()}
    if isinstance(value, list):
        return [_without(each, names) for each in value]
    return None if isinstance(value, str) and value in names else value


def _check_secrets(new: NewConnector) -> None:
    if len(new.secrets) > MAX_SECRETS:
        refuse("secrets", f"are at most {MAX_SECRETS}")
    for name, value in new.secrets.items():
        if name == CLIENT_SECRET and new.url and OAUTH in new.config:
            _check_value("secrets", name, value, strict=True)
        else:
            _check_named(new, "secrets", name, value)


def _check_named(new: NewConnector, place: str, name: str, value: Any) -> None:
    """Check a variable, header or setting; what it says is never repeated."""
    if new.builtin is not None:
        good = _SETTING.fullmatch(name) is not None
    elif new.url:
        good = _HEADER.fullmatch(name) and not name.lower().startswith(_HEADERS_OF_MCP)
    else:
        good = VARIABLE.fullmatch(name) and not is_ours(name)
    if not good:
        refuse(place, "has a name that may not be given")
    _check_value(place, name, value, strict=bool(new.url))


def _check_value(place: str, name: str, value: Any, *, strict: bool) -> None:
    if not isinstance(value, str) or not value or len(value) > MAX_SECRET_CHARS:
        refuse(f"{place}.{name}", f"is a text of 1 to {MAX_SECRET_CHARS} characters")
    if _CONTROL.search(value) and (strict or "\x00" in value):
        refuse(f"{place}.{name}", "has a control character")


def refuse(place: str, message: str) -> NoReturn:
    """Raise ValidationFailed for one field."""
    raise ValidationFailed(f"{place} {message}.", errors=[FieldError(place, message)])
