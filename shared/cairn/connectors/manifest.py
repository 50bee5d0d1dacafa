"""What a connector says of its tools, read with suspicion. Not how it is asked.

A tool declares itself under one key of its `_meta`:

    "_meta": {"cairn/tool": {
        "scope": "write",                                  # or "read"; without it a tool is unsafe
        "dangerous": true,
        "requires_approval_above_autonomy": "propose",     # off, investigate, propose, act
        "forbidden_in_autonomy": ["investigate"],
        "supports_dry_run": true,                          # takes the argument `dry_run`
        "idempotent": true,                                # one `idempotency_key`, one effect
        "resource": "users/{user_id}/reset_password",      # a path over the arguments
        "rollback": "undo_reset"                           # the tool that undoes this one
    }}

A declaration with a mistake in it counts as none. Descriptions are data: cleaned and cut.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, cast

from cairn.connectors.port import described, plain
from cairn.kernel.errors import ValidationFailed
from cairn.safety.normalise import fold
from cairn.safety.tools import Autonomy, Criticality, Lane, Manifest, ToolSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from enum import StrEnum

META_KEY = "cairn/tool"
ERROR_KEY = "cairn/error"
"""In the `_meta` of a result that is an error: a code. `unauthorized` asks for a new sign-in."""
UNAUTHORIZED = "unauthorized"
OUTCOME_UNKNOWN = "outcome-unknown"
"""The code of a write that may have happened: the service behind the connector gave no answer."""
KEY_META = "cairn/idempotency-key"
"""In the `_meta` of a call of the write lane, beside the argument."""

IDEMPOTENCY_KEY, DRY_RUN = "idempotency_key", "dry_run"
RESERVED = frozenset({IDEMPOTENCY_KEY, DRY_RUN})
"""Arguments that are the host's to give; agents neither see nor set them."""

HEALTHCHECK = "healthcheck"
"""The tool, without arguments, that says whether a connector reaches what it connects to."""

MAX_TOOLS = 200
MAX_LISTING_BYTES = 1_000_000
MAX_SCHEMA_BYTES = 64_000
MAX_SCHEMA_DEPTH = 24

_TOOL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_VERSION = re.compile(
    r"(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})(?:[-+][0-9A-Za-z.+-]{1,60})?"
)
_RESOURCE = re.compile(
    r"(?:[A-Za-z0-9_-]+|\{[A-Za-z_][A-Za-z0-9_]*\})(?:/(?:[A-Za-z0-9_-]+|"
    r"\{[A-Za-z_][A-Za-z0-9_]*\}))*"
)
_FIELDS = frozenset(
    {
        "scope",
        "dangerous",
        "requires_approval_above_autonomy",
        "forbidden_in_autonomy",
        "supports_dry_run",
        "idempotent",
        "resource",
        "rollback",
    }
)
_LOOKALIKES = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", "-": None, "_": None})


class ManifestRefused(ValidationFailed):
    """A connector lists its tools in a way no one may rely on; `reason` says which."""

    code = "manifest-refused"


def tool_meta(
    scope: Lane,
    *,
    dangerous: bool = False,
    requires_approval_above_autonomy: Autonomy | None = None,
    forbidden_in_autonomy: Iterable[Autonomy] = (),
    supports_dry_run: bool = False,
    idempotent: bool = False,
    resource: str | None = None,
    rollback: str | None = None,
) -> dict[str, Any]:
    """Return the `_meta` of a tool, for servers written in Python."""
    above = requires_approval_above_autonomy
    fields = {
        "scope": scope.value,
        "dangerous": dangerous,
        "requires_approval_above_autonomy": above.value if above else None,
        "forbidden_in_autonomy": [autonomy.value for autonomy in forbidden_in_autonomy] or None,
        "supports_dry_run": supports_dry_run,
        "idempotent": idempotent,
        "resource": resource,
        "rollback": rollback,
    }
    return {META_KEY: {key: value for key, value in fields.items() if value is not None}}


def looks_like(name: str) -> str:
    """Return what a name is taken for at a glance: two names alike here are one to a reader."""
    return fold(name).translate(_LOOKALIKES)


def listing_hash(version: str, tools: Sequence[Mapping[str, Any]]) -> str:
    """Return SHA-256 (hex) of a listing: JSON with sorted keys, no spaces, tools by name."""
    ordered = sorted(tools, key=lambda tool: str(tool.get("name")))
    dumps = json.dumps([version, ordered], sort_keys=True, separators=(",", ":"), allow_nan=False)
    if len(dumps) > MAX_LISTING_BYTES:
        _refuse("tools", f"A connector's tools are described in at most {MAX_LISTING_BYTES} bytes.")
    return hashlib.sha256(dumps.encode()).hexdigest()


def read_manifest(
    connector: str,
    version: str,
    tools: Sequence[Mapping[str, Any]],
    *,
    criticality: Criticality = Criticality.SKIP,
) -> Manifest:
    """Read a listing: `tools` as `tools/list` gives them (`name`, `description`, `inputSchema`,
    `annotations`, `_meta`).

    Raises ManifestRefused for a version that is no semantic version, names with anything but ASCII
    letters, digits, `_` and `-`, names that are or look alike, more than 200 tools, and schemas
    that are none, too large or too deep.
    """
    if not _VERSION.fullmatch(version):
        _refuse("version", "The version of a connector is a semantic one, such as 1.4.0.")
    if len(tools) > MAX_TOOLS:
        _refuse("tools", f"A connector has at most {MAX_TOOLS} tools.")
    _check_names([tool.get("name") for tool in tools])
    try:
        digest = listing_hash(version, tools)
    except (ValueError, TypeError, RecursionError) as exc:
        raise ManifestRefused("The tools cannot be read.", reason="manifest-json") from exc
    specs = tuple(_checked_rollback(item, tools) for item in (_spec(connector, t) for t in tools))
    return Manifest(
        connector=connector,
        version=version,
        hash=digest,
        tools=specs,
        safe=all(spec.lane is not None for spec in specs),
        criticality=criticality,
    )


def _check_names(names: Sequence[object]) -> None:
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str) or not _TOOL_NAME.fullmatch(name):
            _refuse(
                "tool-name",
                "A tool's name has ASCII letters, digits, _ and - only, and at most 64 of them: "
                "a dot would make it another connector's.",
            )
        if looks_like(name) in seen:
            _refuse("tool-name", "Two tools of a connector have names that are or look the same.")
        seen.add(looks_like(name))


def _spec(connector: str, tool: Mapping[str, Any]) -> ToolSpec:
    schema = _schema(tool.get("inputSchema"))
    properties = schema.get("properties")
    accepted = frozenset(cast("dict[str, Any]", properties) if isinstance(properties, dict) else ())
    spec = ToolSpec(
        connector=connector,
        name=tool["name"],
        description=described(tool.get("description")),
        schema=_for_agents(schema),
    )
    fields = _declared(tool)
    if fields is None or not _well_formed(fields, accepted):
        return spec
    above = fields.get("requires_approval_above_autonomy")
    lane = Lane(fields["scope"])
    return replace(
        spec,
        lane=lane,
        dangerous=fields.get("dangerous", False),
        requires_approval_above_autonomy=None if above is None else Autonomy(above),
        forbidden_in_autonomy=frozenset(map(Autonomy, fields.get("forbidden_in_autonomy", ()))),
        supports_dry_run=fields.get("supports_dry_run", False) and DRY_RUN in accepted,
        deduplicates=fields.get("idempotent", False)
        and lane is Lane.WRITE
        and IDEMPOTENCY_KEY in accepted,
        resource=fields.get("resource"),
        rollback=fields.get("rollback"),
    )


def _declared(tool: Mapping[str, Any]) -> dict[str, Any] | None:
    meta = tool.get("_meta")
    declared = cast("dict[str, Any]", meta).get(META_KEY) if isinstance(meta, dict) else None
    if not isinstance(declared, dict):
        return None
    declaration = cast("dict[str, Any]", declared)
    return None if _denied(tool, declaration) else declaration


def _denied(tool: Mapping[str, Any], fields: Mapping[str, Any]) -> bool:
    hints = tool.get("annotations")
    if not isinstance(hints, dict) or fields.get("scope") != Lane.READ:
        return False
    values = cast("dict[str, Any]", hints)
    return values.get("readOnlyHint") is False or values.get("destructiveHint") is True


def _well_formed(fields: Mapping[str, Any], accepted: frozenset[str]) -> bool:
    above = fields.get("requires_approval_above_autonomy")
    forbidden = fields.get("forbidden_in_autonomy", [])
    return (
        fields.keys() <= _FIELDS
        and _is_one_of(fields.get("scope"), Lane)
        and all(
            isinstance(fields.get(key, False), bool)
            for key in ("dangerous", "supports_dry_run", "idempotent")
        )
        and (above is None or _is_one_of(above, Autonomy))
        and isinstance(forbidden, list)
        and all(_is_one_of(item, Autonomy) for item in cast("list[Any]", forbidden))
        and _is_resource(fields.get("resource"), accepted)
        and isinstance(fields.get("rollback"), str | None)
    )


def _is_one_of(value: object, kind: type[StrEnum]) -> bool:
    return isinstance(value, str) and value in frozenset(kind)


def _is_resource(path: object, accepted: frozenset[str]) -> bool:
    if path is None:
        return True
    if not isinstance(path, str) or len(path) > 200 or not _RESOURCE.fullmatch(path):
        return False
    return set(re.findall(r"\{(\w+)\}", path)) <= accepted


def _checked_rollback(spec: ToolSpec, tools: Sequence[Mapping[str, Any]]) -> ToolSpec:
    is_listed = spec.rollback is None or any(tool["name"] == spec.rollback for tool in tools)
    return spec if is_listed else replace(spec, rollback=None)


def _schema(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        _refuse("schema", "A tool's arguments need a JSON Schema.")
    schema = cast("dict[str, Any]", _cleaned(cast("object", value), MAX_SCHEMA_DEPTH))
    if schema.get("type") != "object":
        _refuse("schema", "A tool's arguments are an object.")
    if len(json.dumps(schema).encode()) > MAX_SCHEMA_BYTES:
        _refuse("schema", f"A tool's schema has at most {MAX_SCHEMA_BYTES} bytes.")
    return schema


def _cleaned(value: object, depth: int) -> object:
    if depth == 0:
        _refuse("schema", f"A tool's schema is nested at most {MAX_SCHEMA_DEPTH} levels deep.")
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, list):
        return [_cleaned(item, depth - 1) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    return {
        key: described(item)
        if key in {"description", "title"} and isinstance(item, str)
        else _cleaned(item, depth - 1)
        for key, item in fields.items()
    }


def _for_agents(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without the arguments that are the host's to give."""
    properties, required = schema.get("properties"), schema.get("required")
    shown = dict(schema)
    if isinstance(properties, dict):
        fields = cast("dict[str, Any]", properties)
        shown["properties"] = {key: fields[key] for key in fields if key not in RESERVED}
    if isinstance(required, list):
        shown["required"] = [item for item in cast("list[Any]", required) if item not in RESERVED]
    return shown


def _refuse(what: str, message: str) -> NoReturn:
    raise ManifestRefused(message, reason=f"manifest-{what}")
