"""Connect an agent of the Claude Agent SDK to Cairn, and show what it may call."""

import asyncio
import sys
from pathlib import Path

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient

CONFIGURATION = Path(__file__).parents[1] / "mcp" / "mcp.json"
TOOLS = ("memory_recall", "memory_remember")


async def main() -> None:
    """Connect, wait for the server, and say how it is."""
    options = ClaudeAgentOptions(
        mcp_servers=CONFIGURATION,
        strict_mcp_config=True,
        allowed_tools=[f"mcp__cairn__{name}" for name in TOOLS],
    )
    async with asyncio.timeout(60), ClaudeSDKClient(options) as client:
        while True:
            (server,) = (await client.get_mcp_status())["mcpServers"]
            if server["status"] != "pending":
                break
            await asyncio.sleep(0.2)
    names = {each["name"] for each in server.get("tools", ())}
    shown = ", ".join(name for name in TOOLS if name in names)
    sys.stdout.write(f"{server['name']} is {server['status']}: {shown}\n")


if __name__ == "__main__":
    asyncio.run(main())
