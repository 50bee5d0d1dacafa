"""Connect as an MCP client does with the configuration file beside this, and use two tools."""

import json
import os
import sys
from pathlib import Path
from string import Template
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

FACT = "The boiler is serviced every May."


def configured() -> dict[str, Any]:
    """Return the server of the file; `${NAME}` is the environment's, as clients read it."""
    text = Path(__file__).with_name("mcp.json").read_text(encoding="utf-8")
    server: dict[str, Any] = json.loads(Template(text).substitute(os.environ))
    return server["mcpServers"]["cairn"]


async def main() -> None:
    """Remember and recall."""
    server = configured()
    async with (
        httpx2.AsyncClient(headers=server["headers"], timeout=60) as http,
        Client(streamable_http_client(server["url"], http_client=http)) as client,
    ):
        await client.call_tool("memory_remember", {"text": FACT, "key": "boiler"})
        answer = await client.call_tool("memory_recall", {"query": "When is the boiler serviced?"})
        told = " ".join(part.text for part in answer.content if part.type == "text")
        sys.stdout.write(f"Recalled: {FACT if FACT in told else told}\n")


if __name__ == "__main__":
    anyio.run(main)
