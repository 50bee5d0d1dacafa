"""MCP on the real stack: the official client, the command, and the public conformance suite."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import anyio
import httpx
import httpx2
import mcp_types as types
import pytest
import uvicorn
from infra.local.layout import node_folder
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from tests.e2e.cli import COMMAND, environment
from tests.e2e.tenant import Tenant, open_workspace
from tests.plugins.cloud import first_port
from tests.plugins.waiting import eventually
from tests.unit.api.fakes import ADMIN_KEY, Lines, World

from cairn.api.app import create_app
from cairn.api.fields import Body
from cairn.api.mcp.serving import McpEndpoint
from cairn.api.mcp.tool import Tool, ToolAnswer
from cairn.api.options import ApiOptions
from cairn.kernel.errors import ValidationFailed

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

SUITE = Path(__file__).parent / "conformance"


@pytest.fixture(scope="module")
def tenant(laptop: "Laptop") -> Tenant:
    return open_workspace(laptop, "mcp")


def with_client(tenant: Tenant, key: str | None, ask: Any) -> Any:
    """Run `ask(client)` over HTTP with a key and return what it returns."""

    async def run() -> Any:
        headers = {"authorization": f"Bearer {key or tenant.key}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{tenant.base}/mcp", http_client=http)) as client,
        ):
            return await ask(client)

    return anyio.run(run)


def call(tenant: Tenant, name: str, *, holder: str | None = None, **arguments: Any) -> Any:
    """Call a tool with the admin's key, or another holder's."""
    return with_client(tenant, holder, lambda client: client.call_tool(name, arguments))


def text_of(result: types.CallToolResult) -> str:
    return "\n".join(each.text for each in result.content if isinstance(each, types.TextContent))


def test_what_one_agent_remembers_another_recalls(tenant: Tenant) -> None:
    told = call(tenant, "remember", text="The boiler is serviced every May.", key="boiler")
    assert told.structured_content["outcome"] == "created"
    found = call(tenant, "recall", query="when is the boiler serviced?")
    assert not found.is_error
    assert "serviced every May" in text_of(found)
    whole = call(tenant, "get", id=told.structured_content["id"])
    assert "boiler" in text_of(whole)


def test_through_the_gateway_three_calls_in_one_process_answer(tenant: Tenant) -> None:
    behind = tenant.through_gateway()
    for number in range(3):
        found = call(behind, "recall", query=f"boiler {number}")
        assert not found.is_error, text_of(found)


def test_a_public_key_reaches_nothing_of_the_admins_by_any_tool(tenant: Tenant) -> None:
    secret = call(tenant, "remember", text="The vault code word is heliotrope.")
    node_id = secret.structured_content["id"]
    key = tenant.new_key("public", agent_slug="visitor", scopes=["public"])
    listed = with_client(tenant, key, lambda client: client.list_tools())
    for tool in listed.tools:
        properties = tool.input_schema["properties"]
        given: dict[str, Any] = {"query": "heliotrope"} if "query" in properties else {}
        given |= {"id": node_id} if "id" in properties else {}
        given |= {"keyword": "heliotrope"} if "keyword" in properties else {}
        answered = call(tenant, tool.name, holder=key, **given)
        assert "heliotrope" not in text_of(answered), tool.name


def test_another_workspace_reaches_nothing_by_any_tool(tenant: Tenant, laptop: "Laptop") -> None:
    secret = call(tenant, "remember", text="The backup site is Wuppertal.")
    node_id = secret.structured_content["id"]
    other = open_workspace(laptop, "mcp stranger")
    listed = with_client(other, None, lambda client: client.list_tools())
    for tool in listed.tools:
        properties = tool.input_schema["properties"]
        given: dict[str, Any] = {"query": "Wuppertal"} if "query" in properties else {}
        given |= {"id": node_id} if "id" in properties else {}
        answered = call(other, tool.name, **given)
        assert "Wuppertal" not in text_of(answered), tool.name


def test_the_command_serves_the_same_tools_over_standard_input(tenant: Tenant) -> None:
    command = StdioServerParameters(command=COMMAND, args=["mcp"], env=environment(tenant))

    async def run() -> tuple[Any, Any, Any]:
        async with Client(command) as client:
            listed = await client.list_tools()
            called = await client.call_tool("recall", {"query": "boiler"})
            refused = await client.call_tool("recall", {"query": ""})
            return listed, called, refused

    listed, called, refused = anyio.run(run)
    direct = with_client(tenant, None, lambda client: client.list_tools())
    assert [tool.name for tool in listed.tools] == [tool.name for tool in direct.tools]
    assert listed.tools[0].meta == {"anthropic/alwaysLoad": True}
    assert not called.is_error
    assert refused.is_error


def test_the_command_says_when_there_is_no_such_key(tenant: Tenant) -> None:
    wrong = environment(tenant) | {"CAIRN_API_KEY": "cairn_no.such"}
    done = subprocess.run(
        [COMMAND, "mcp"],
        env=wrong,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "error: " in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


# the public suite


@pytest.fixture(scope="session")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite, installed from the package registry by the project's own node."""
    folder = tmp_path_factory.mktemp("conformance")
    (folder / "package.json").write_bytes((SUITE / "package.json").read_bytes())
    npm = node_folder().parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    command = [str(node_folder() / "node"), str(npm), "install", "--no-audit", "--no-fund"]
    subprocess.run([*command, "--no-package-lock"], cwd=folder, check=True, capture_output=True)
    package = folder / "node_modules" / "@modelcontextprotocol" / "conformance"
    return package / "dist" / "index.js"


def conforms(suite: Path, url: str, *arguments: str) -> None:
    """Run the suite and fail with what it printed unless it is satisfied."""
    command = [str(node_folder() / "node"), str(suite), "server", "--url", url, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


@contextmanager
def served(app: Any, port: int) -> Iterator[str]:
    """Serve an ASGI app on a port of this machine."""
    config = uvicorn.Config(app, port=port, log_level="warning", lifespan="off", ws="none")
    server = uvicorn.Server(config)
    thread = Thread(target=server.run)
    thread.start()
    try:
        eventually(lambda: server.started, seconds=20, what="the server")
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        thread.join(timeout=20)


def with_key(tenant: Tenant) -> Any:
    """An ASGI app that forwards to the stack with a key: the suite itself sends none."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message["body"], message.get("more_body", False)
        headers = [(name, value) for name, value in scope["headers"] if name != b"content-length"]
        headers.append((b"authorization", f"Bearer {tenant.key}".encode()))
        async with httpx.AsyncClient(timeout=60) as http:
            answer = await http.request(
                scope["method"], f"{tenant.base}{scope['path']}", content=body, headers=headers
            )
        kept = [(name.lower(), value) for name, value in answer.headers.raw]
        kept = [(name, value) for name, value in kept if name != b"transfer-encoding"]
        start = {"type": "http.response.start", "status": answer.status_code, "headers": kept}
        await send(start)
        await send({"type": "http.response.body", "body": answer.content})

    return app


def test_the_public_suite_finds_nothing_but_what_is_not_offered(
    tenant: Tenant, suite: Path
) -> None:
    with served(with_key(tenant), first_port() + 90) as url:
        conforms(suite, url, "--expected-failures", str(SUITE / "expected-failures.yml"))


class NoArguments(Body):
    """A tool that takes nothing."""


def _says(services: Any, principal: Any, arguments: Any) -> ToolAnswer:
    return ToolAnswer(text="This is a simple text response for testing.")


def _fails(services: Any, principal: Any, arguments: Any) -> ToolAnswer:
    raise ValidationFailed("This tool intentionally returns an error for testing")


@pytest.mark.parametrize("scenario", ["tools-list", "tools-call-simple-text", "tools-call-error"])
def test_the_endpoint_conforms_with_the_suites_own_tools(suite: Path, scenario: str) -> None:
    tools = [
        Tool(name=name, title=name, description=name, arguments=NoArguments, call=call)
        for name, call in (("test_simple_text", _says), ("test_error_handling", _fails))
    ]
    log, options = Lines([]), ApiOptions(mcp_hosts=("127.0.0.1:*",))
    app = create_app(World().services(), options, log=log)
    app.state.mcp = McpEndpoint(app.state.services, options, log, tools)

    async def signed(scope: Any, receive: Any, send: Any) -> None:
        key = (b"authorization", f"Bearer {ADMIN_KEY}".encode())
        await app({**scope, "headers": [*scope["headers"], key]}, receive, send)

    with served(signed, first_port() + 91) as url:
        conforms(suite, url, "--scenario", scenario)
