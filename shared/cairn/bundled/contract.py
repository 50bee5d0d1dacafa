"""What every connector promises, asked of a running one. Not what it does: only how it behaves.

Nothing is written unless `Samples` say how: tools that write are otherwise called with `dry_run`
only, and not at all when they have none. Who runs the questions: `examination`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cairn.connectors.manifest import (
    DRY_RUN,
    HEALTHCHECK,
    IDEMPOTENCY_KEY,
    META_KEY,
    ManifestRefused,
    read_manifest,
)
from cairn.connectors.port import MAX_RESULT_BYTES
from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.safety.tools import Lane

if TYPE_CHECKING:
    from mcp import Client

    from cairn.kernel.ids import IdSource
    from cairn.safety.tools import Manifest, ToolSpec


class _Call(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)

    def made(self) -> Call:
        return Call(tool=self.tool, arguments=self.arguments)


class _Write(BaseModel):
    model_config = ConfigDict(extra="forbid")

    write: _Call
    shown_by: _Call


class _Samples(BaseModel):
    model_config = ConfigDict(extra="forbid")

    arguments: dict[str, dict[str, Any]] = Field(default_factory=dict)
    large: _Call | None = None
    writes: list[_Write] = Field(default_factory=list[_Write])


def read_samples(text: str | bytes) -> Samples:
    """Return the samples of a JSON text; ValidationFailed names what is wrong with it."""
    try:
        samples = _Samples.model_validate_json(text)
    except ValidationError as error:
        places = [
            FieldError(".".join(str(part) for part in item["loc"]) or "$", item["msg"])
            for item in error.errors(include_url=False, include_input=False)
        ]
        line = "; ".join(f"{place.location}: {place.message}" for place in places)
        raise ValidationFailed(f"The samples cannot be read: {line}.", errors=places) from None
    return Samples(
        arguments=samples.arguments,
        large=samples.large.made() if samples.large else None,
        writes=[
            WriteSample(write=write.write.made(), shown_by=write.shown_by.made())
            for write in samples.writes
        ],
    )


MAX_DEPTH = 6


def mapping(value: object) -> Mapping[str, Any]:
    """Return a JSON object as one, and {} for everything else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def arguments_for(schema: Mapping[str, Any], *, text: str) -> dict[str, Any]:
    """Return a value for every property, `text` wherever a text may stand."""
    value = _example_of(schema, schema, text, MAX_DEPTH)
    return dict(mapping(value))


def _example_of(part: Mapping[str, Any], whole: Mapping[str, Any], text: str, depth: int) -> Any:
    part = _chosen(part, whole, depth)
    if depth == 0:
        return text
    if "const" in part:
        return part["const"]
    if part.get("enum"):
        return part["enum"][0]
    kind = _kind(part)
    if kind == "object":
        properties = mapping(part.get("properties"))
        return {
            name: _example_of(mapping(value), whole, text, depth - 1)
            for name, value in properties.items()
        }
    if kind == "array":
        return [_example_of(mapping(part.get("items")), whole, text, depth - 1)]
    if kind in {"integer", "number"}:
        return part.get("default") or part.get("minimum") or 1
    return {"boolean": False, "null": None}.get(kind, text)


def _kind(part: Mapping[str, Any]) -> str:
    """Return the type, the first where there are several; a text where there is none."""
    kind: object = part.get("type", "object" if "properties" in part else "string")
    several = cast("list[object]", kind) if isinstance(kind, list) else [kind]
    return str(several[0]) if several else "string"


def _chosen(part: Mapping[str, Any], whole: Mapping[str, Any], depth: int) -> Mapping[str, Any]:
    """Return the schema itself, what it refers to, or the first of its choices."""
    for _ in range(depth):
        options = part.get("anyOf") or part.get("oneOf")
        if options:
            part = mapping(options[0])
        elif str(part.get("$ref", "")).startswith("#/"):
            record = whole
            for name in str(part["$ref"])[2:].split("/"):
                record = mapping(record.get(name))
            part = record
    return part


CALL_SECONDS = 20.0
MARKER = re.compile(
    r'\[truncated|"truncated":\s*true|"next_?(?:page|start|cursor)":\s*+(?!null|""|false)',
    re.IGNORECASE,
)
"""What in a large result tells the reader that it is a part."""

DESTRUCTIVE = frozenset(
    {"delete", "destroy", "drop", "erase", "purge", "wipe", "truncate", "terminate", "revoke"}
)
"""Words in the name of a tool that does harm nobody can undo."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a tool."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteSample:
    """A write that may really be done, and a read that shows what it has done."""

    write: Call
    shown_by: Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """What cannot be made up: arguments by tool, a call with a large result, writes to repeat."""

    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Any])
    large: Call | None = None
    writes: Sequence[WriteSample] = ()


class Broken(Exception):
    """A promise that was not kept; the text says what was seen."""


class NotAsked(Exception):
    """A check that needs samples which were not given; the text says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedConnector:
    """A connector that is being asked."""

    client: Client
    samples: Samples
    ids: IdSource
    tools: Sequence[Mapping[str, Any]]
    version: str
    manifest: Manifest | None

    def specs(self) -> Sequence[ToolSpec]:
        """Return the tools as Cairn reads them; Broken when they cannot be read."""
        if self.manifest is None:
            raise Broken("the tools cannot be read: see manifest_version and tools_list")
        return self.manifest.tools

    def accepts(self, tool: str, argument: str) -> bool:
        """Return whether a tool's schema has an argument."""
        return argument in mapping(self.schema(tool).get("properties"))

    def schema(self, tool: str) -> Mapping[str, Any]:
        """Return the JSON Schema of a tool's arguments."""
        listed = next(item for item in self.tools if item["name"] == tool)
        return mapping(listed.get("inputSchema"))

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        """Call a tool; return its text and whether it is an error, of the protocol too."""
        try:
            with anyio.fail_after(CALL_SECONDS):
                result = await self.client.call_tool(tool, dict(arguments))
        except MCPError as error:
            return str(error), True
        except TimeoutError:
            raise Broken(f"{tool} did not answer within {CALL_SECONDS:.0f} s") from None
        blocks = [item.text for item in result.content if isinstance(item, types.TextContent)]
        extra = [] if result.structured_content is None else [json.dumps(result.structured_content)]
        return "\n".join(blocks or extra), bool(result.is_error)


Question = Callable[[ExaminedConnector], Awaitable[str]]


async def manifest_version(tested: ExaminedConnector) -> str:
    """serverInfo.version is a semantic version"""
    try:
        read_manifest("tested", tested.version, [])
    except ManifestRefused as refused:
        raise Broken(f"{refused.detail} This one says {tested.version!r}.") from None
    return tested.version


async def tools_list(tested: ExaminedConnector) -> str:
    """every tool has a name of its own, a scope and a description"""
    if not tested.tools:
        raise Broken("it lists no tools")
    try:
        manifest = read_manifest("tested", "0.0.0", tested.tools)
    except ManifestRefused as refused:
        raise Broken(refused.detail) from None
    bare = [tool.name for tool in manifest.tools if not tool.description]
    _none("has no description", bare)
    _none(f"has no scope under {META_KEY!r} of its _meta", _without_scope(tested.tools))
    return f"{len(tested.tools)} tools"


async def tool_scopes_wellformed(tested: ExaminedConnector) -> str:
    """every declaration can be read, and every schema is closed"""
    unread = [spec.name for spec in tested.specs() if spec.lane is None]
    _none("has a declaration that Cairn does not read", unread)
    is_open = [
        str(tool["name"])
        for tool in tested.tools
        if mapping(tool.get("inputSchema")).get("additionalProperties") is not False
    ]
    _none("takes arguments it does not name (additionalProperties is not false)", is_open)
    lanes = [spec.lane for spec in tested.specs()]
    return f"{lanes.count(Lane.READ)} read, {lanes.count(Lane.WRITE)} write"


async def dangerous_flagged(tested: ExaminedConnector) -> str:
    """every destructive tool says dangerous: true"""
    hinted = {
        str(tool["name"])
        for tool in tested.tools
        if mapping(tool.get("annotations")).get("destructiveHint") is True
    }
    missing = [
        spec.name
        for spec in tested.specs()
        if not spec.dangerous and (spec.name in hinted or words_of(spec.name) & DESTRUCTIVE)
    ]
    _none("is destructive and does not say so", missing)
    return ", ".join(spec.name for spec in tested.specs() if spec.dangerous) or "none is dangerous"


async def dry_run_supported(tested: ExaminedConnector) -> str:
    """every tool that writes takes dry_run and declares it"""
    writes = [spec for spec in tested.specs() if spec.lane is Lane.WRITE]
    missing = [
        write.name
        for write in writes
        if not write.supports_dry_run or not tested.accepts(write.name, DRY_RUN)
    ]
    _none("has no dry run", missing)
    return f"{len(writes)} of {len(writes)}"


async def idempotency_key_accepted(tested: ExaminedConnector) -> str:
    """every tool that writes takes idempotency_key"""
    writes = [spec for spec in tested.specs() if spec.lane is Lane.WRITE]
    missing = [write.name for write in writes if not tested.accepts(write.name, IDEMPOTENCY_KEY)]
    _none("takes no idempotency_key", missing)
    honest = [write.name for write in writes if not write.deduplicates]
    return f"does not deduplicate, and says so: {', '.join(honest)}" if honest else "all"


async def healthcheck(tested: ExaminedConnector) -> str:
    """the tool healthcheck answers, without arguments and without an error"""
    if not any(tool["name"] == HEALTHCHECK for tool in tested.tools):
        raise Broken("there is no tool healthcheck")
    text, failed = await tested.call(HEALTHCHECK, {})
    if failed:
        raise Broken(f"it answers with an error: {text[:200]}")
    return text[:200]


async def bad_input_refused(tested: ExaminedConnector) -> str:
    """wrong arguments and unknown tools are errors, and the connector goes on"""
    nonsense = {"cairn_made_this_up": [1, {"a": None}]}
    accepted: list[str] = []
    for spec in tested.specs():
        _, failed = await tested.call(spec.name, nonsense)
        if not failed:
            accepted.append(spec.name)
    _none("takes arguments it does not know", accepted)
    _, failed = await tested.call("cairn_made_this_up", {})
    if not failed:
        raise Broken("a tool that is not there answers")
    return f"{len(tested.specs())} tools"


async def redaction_noleak(tested: ExaminedConnector) -> str:
    """no result holds a secret that was in the arguments"""
    secret = f"ghp_{tested.ids().hex}Cd9Q"
    called: list[str] = []
    for spec in tested.specs():
        arguments = _harmless(tested, spec, secret)
        if arguments is None:
            continue
        text, _ = await tested.call(spec.name, arguments)
        if secret in text:
            raise Broken(f"{spec.name} echoes a secret it was given")
        called.append(spec.name)
    return f"{len(called)} tools were given one"


async def large_result_truncated(tested: ExaminedConnector) -> str:
    """a result over 100 KB is cut or paged, and says so"""
    sample = tested.samples.large
    if sample is None:
        raise NotAsked("give a call with a large result as `large` of the samples")
    text, failed = await tested.call(sample.tool, sample.arguments)
    if failed:
        raise Broken(f"{sample.tool} answers with an error: {text[:200]}")
    size = len(text.encode())
    if size > MAX_RESULT_BYTES:
        raise Broken(f"{sample.tool} answers with {size} bytes")
    if not MARKER.search(text):
        raise Broken(f"{sample.tool} leaves out something and does not say so")
    return f"{sample.tool}: {size} bytes"


async def idempotency(tested: ExaminedConnector) -> str:
    """a write repeated under one key happens once"""
    if not tested.samples.writes:
        raise NotAsked("give writes that may be done as `writes` of the samples")
    for sample in tested.samples.writes:
        await _repeated(tested, sample)
    return ", ".join(write.write.tool for write in tested.samples.writes)


async def _repeated(tested: ExaminedConnector, sample: WriteSample) -> None:
    tool, key = sample.write.tool, str(tested.ids())
    arguments = {**sample.write.arguments, IDEMPOTENCY_KEY: key}
    before, _ = await tested.call(sample.shown_by.tool, sample.shown_by.arguments)
    seen: list[str] = []
    for _ in range(2):
        text, failed = await tested.call(tool, arguments)
        if failed:
            raise Broken(f"{tool} answers with an error: {text[:200]}")
        shown, _ = await tested.call(sample.shown_by.tool, sample.shown_by.arguments)
        seen.append(shown)
    if seen[0] == before:
        raise Broken(f"{sample.shown_by.tool} does not show what {tool} did; choose another")
    if seen[0] != seen[1]:
        raise Broken(f"{tool} under the same key happened twice")


QUESTIONS: Sequence[Question] = (
    manifest_version,
    tools_list,
    tool_scopes_wellformed,
    dangerous_flagged,
    dry_run_supported,
    idempotency_key_accepted,
    healthcheck,
    bad_input_refused,
    redaction_noleak,
    large_result_truncated,
    idempotency,
)


def _none(fault: str, names: Sequence[str]) -> None:
    if names:
        raise Broken("; ".join(f"{name} {fault}" for name in names))


def _without_scope(tools: Sequence[Mapping[str, Any]]) -> list[str]:
    def scope(tool: Mapping[str, Any]) -> object:
        return mapping(mapping(tool.get("_meta")).get(META_KEY)).get("scope")

    return [str(tool["name"]) for tool in tools if scope(tool) not in frozenset(Lane)]


def words_of(name: str) -> set[str]:
    """Return the words of a tool's name: snake_case, kebab-case and camelCase."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return set(re.split(r"[_\-]+", apart.casefold()))


def _harmless(tested: ExaminedConnector, spec: ToolSpec, secret: str) -> dict[str, Any] | None:
    """Return arguments with the secret in every text, None for a tool that would really write."""
    if spec.lane is not Lane.READ and not tested.accepts(spec.name, DRY_RUN):
        return None
    arguments = arguments_for(tested.schema(spec.name), text=secret)
    arguments |= dict(tested.samples.arguments.get(spec.name, {}))
    if spec.lane is not Lane.READ:
        arguments[DRY_RUN] = True
    return arguments
