"""A host of connectors over the in-memory stores, its clocks in the test's hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.lowlevel import Server
from tests.fakes.keys import InMemoryKeyStore
from tests.fakes.stores import InMemoryTransactions
from tests.support.platform import platform_of
from tests.support.remembering import NOON, admin_of

from cairn.adapters.http.webhooks import HttpWebhookSender
from cairn.connectors.connector import Connector, Launch, Transport
from cairn.connectors.directory import StoreDirectory
from cairn.connectors.host import Host
from cairn.connectors.manifest import tool_meta
from cairn.connectors.port import ToolCall, ToolResult
from cairn.connectors.registry import Connectors
from cairn.connectors.requests import AllowedCommand
from cairn.connectors.wires import InProcessWire
from cairn.kernel.errors import ValidationFailed
from cairn.kernel.ids import new_id
from cairn.ledger.keys import BodyCipher
from cairn.safety.tools import Lane
from cairn.writing.secrets import Secrets

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from uuid import UUID

    from cairn.connectors.connector import Registered, Wires
    from cairn.connectors.lifecycle import Health
    from cairn.connectors.requests import CheckCommand
    from cairn.connectors.wires import Wire
    from cairn.ledger.entry import Entry

WRITING = {
    "type": "object",
    "properties": {
        "user": {"type": "string", "minLength": 1},
        "idempotency_key": {"type": "string"},
        "dry_run": {"type": "boolean"},
    },
    "required": ["user"],
    "additionalProperties": False,
}
READING = {
    "type": "object",
    "properties": {"user": {"type": "string"}},
    "required": ["user"],
    "additionalProperties": False,
}


def said(text: str, *, failed: bool = False, **meta: Any) -> types.CallToolResult:
    """A tool's answer."""
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=text)]
    return types.CallToolResult(content=content, is_error=failed, _meta=meta or None)


def tool(
    name: str, *, writes: bool = False, schema: dict[str, Any] | None = None, **declared: Any
) -> types.Tool:
    """A tool that reads, or writes, as it declares itself."""
    lane = Lane.WRITE if writes else Lane.READ
    return types.Tool(
        name=name,
        description=f"The tool {name}.",
        input_schema=schema or (WRITING if writes else READING),
        _meta=tool_meta(lane, **declared),
    )


@dataclass
class Scripted:
    """A connector in this process whose tools and answers the test sets; it keeps its calls."""

    tools: Sequence[types.Tool] = ()
    version: str = "1.0.0"
    answers: dict[str, Any] = field(default_factory=dict[str, Any])
    calls: list[tuple[str, dict[str, Any], dict[str, Any]]] = field(
        default_factory=list[tuple[str, dict[str, Any], dict[str, Any]]]
    )
    starts: int = 0

    def server(self, launch: Launch) -> Server[Any]:
        """Return the server as it is now."""
        self.starts += 1

        async def on_list_tools(context: Any, params: Any) -> types.ListToolsResult:
            return types.ListToolsResult(tools=list(self.tools))

        async def on_call_tool(
            context: Any, params: types.CallToolRequestParams
        ) -> types.CallToolResult:
            given = params.arguments or {}
            meta = dict(params.meta or {})
            self.calls.append((params.name, given, meta))
            answer = self.answers.get(params.name, said("done"))
            if isinstance(answer, list):
                answer = answer.pop(0) if answer else said("done")  # pyright: ignore
            return await answer(given) if callable(answer) else answer

        return Server(
            launch.name,
            version=self.version,
            on_list_tools=on_list_tools,
            on_call_tool=on_call_tool,
        )


@dataclass
class Hosting:
    """A workspace with connectors, and the host that runs them. Close it."""

    wires: Wires | None = None
    workspace_id: UUID = field(default_factory=new_id)
    transactions: Any = None
    states: Any = None
    now: datetime = NOON
    seconds: float = 0.0
    pauses: list[float] = field(default_factory=list[float])
    scripted: dict[str, Scripted] = field(default_factory=dict[str, Scripted])
    told: list[tuple[str, dict[str, object]]] = field(
        default_factory=list[tuple[str, dict[str, object]]]
    )

    mended: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.principal = admin_of(self.workspace_id)
        if self.transactions is None:
            self.transactions = InMemoryTransactions()
            self.transactions.create_workspace(self.workspace_id)
        self.secrets = Secrets(keys=InMemoryKeyStore(), cipher=BodyCipher())
        self.directory = StoreDirectory(
            platform=platform_of(self.transactions, clock=lambda: self.now),
            states=self.states or self.transactions,
            secrets=self.secrets,
        )
        self.host = Host(
            directory=self.directory,
            wires=self.wires or self._in_process,
            clock=lambda: self.now,
            stopwatch=lambda: self.seconds,
            pause=self._pause,
            metrics=lambda metric, value=1, /, **labels: self.told.append((metric, labels)),
        )

    def add(self, name: str, *tools: types.Tool, **changes: Any) -> Scripted:
        """Register a connector in this process and return its script."""
        script = self.scripted.setdefault(name, Scripted(tools=tools))
        self.register(name, **changes)
        return script

    def register(self, name: str, *, secrets: dict[str, str] | None = None, **changes: Any) -> None:
        """Put a connector into the table."""
        fields = {"transport": Transport.IN_PROCESS, "builtin": "postgres"} | changes
        connector = Connector(
            id=new_id(), name=name, created_at=self.now, changed_at=self.now, **fields
        )
        sealed = self.secrets.sealed(self.workspace_id, connector.id, secrets or {})
        with self.transactions.writing(self.principal) as stores:
            assert stores.connectors.add(connector, sealed)

    def call(self, name: str, /, *, dry_run: bool = False, **arguments: Any) -> ToolResult:
        """Call `connector.tool`, with a new idempotency key unless `key` gives one."""
        key = arguments.pop("key", None) or new_id()
        seconds = arguments.pop("seconds", 30.0)
        decided_by = arguments.pop("manifest_hash", None)
        connector, _, called = name.partition(".")
        return self.host.call(
            self.workspace_id,
            ToolCall(
                connector=connector,
                tool=called,
                arguments=arguments,
                idempotency_key=key,
                dry_run=dry_run,
                seconds=seconds,
                traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                manifest_hash=decided_by,
            ),
        )

    def found(self, name: str) -> Registered:
        """How a connector stands in the table."""
        found = self.directory.find(self.workspace_id, name)
        assert found is not None
        return found

    def health(self, name: str) -> Health:
        """How a connector is."""
        return self.found(name).health

    def entries(self) -> list[Entry]:
        """The workspace's ledger."""
        if self.states is None:
            return self.transactions.workspaces[self.workspace_id].entries
        with self.transactions.reading(self.principal) as stores:
            return stores.ledger.page(after=0, limit=100)

    def later(self, seconds: float) -> None:
        """Let both clocks go on."""
        self.now += timedelta(seconds=seconds)
        self.seconds += seconds

    def put_back(self, workspace_id: UUID, waits_for: str) -> int:
        """What `helpdesk.requeue` would do."""
        self.mended.append(waits_for)
        return 1

    def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.later(seconds)

    def _in_process(self, launch: Launch) -> Wire:
        script = self.scripted[launch.name]
        return InProcessWire(lambda: script.server(launch))


def _allow(command: Sequence[str], variables: Collection[str]) -> AllowedCommand:
    return AllowedCommand(
        command=tuple(command), program=command[0], variables=tuple(sorted(variables))
    )


REFUSED_DSN = "postgresql://cairn_app:secret@db/cairn"


def registry_of(hosting: Hosting, *, commands: CheckCommand | None = None) -> Connectors:
    """The registry beside a host; it looks at addresses as on AWS, and knows one bad database."""

    def look(dsn: str) -> None:
        if dsn == REFUSED_DSN:
            raise ValidationFailed("secrets.dsn: ours", reason="connector-database")

    return Connectors(
        platform=platform_of(hosting.transactions, clock=lambda: hosting.now),
        secrets=hosting.secrets,
        host=hosting.host,
        address=HttpWebhookSender().check,
        database=look,
        mended=hosting.put_back,
        commands=commands or _allow,
    )
