"""What the public MCP suite's own example server offers, behind our `/mcp`. For tests only.

Cairn has tools alone; the suite asks for resources, prompts and tools of certain names. With these
in the place of ours the same endpoint, keys and limits answer it.
"""

# pyright: basic

from __future__ import annotations

from functools import cached_property
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from cairn.api.mcp.serving import McpEndpoint

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
SOUND = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="
TEXT, PNG, JSON = "text/plain", "image/png", "application/json"


def said(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def image() -> types.ImageContent:
    return types.ImageContent(type="image", data=PIXEL, mime_type=PNG)


def embedded(uri: str, mime_type: str, text: str) -> types.EmbeddedResource:
    resource = types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return types.EmbeddedResource(type="resource", resource=resource)


TOOLS: dict[str, list[Any]] = {
    "test_simple_text": [said("This is a simple text response for testing.")],
    "test_image_content": [image()],
    "test_audio_content": [types.AudioContent(type="audio", data=SOUND, mime_type="audio/wav")],
    "test_embedded_resource": [
        embedded("test://embedded-resource", TEXT, "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        said("Multiple content types test:"),
        image(),
        embedded("test://mixed-content-resource", JSON, '{"test":"data","value":123}'),
    ],
    "test_error_handling": [said("This tool intentionally returns an error for testing")],
}
PROMPTS: dict[str, tuple[str, ...]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
}


async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    tools = [types.Tool(name=name, description=name, input_schema=schema) for name in TOOLS]
    return types.ListToolsResult(tools=tools)


async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    if params.name not in TOOLS:
        raise MCPError(types.INVALID_PARAMS, "There is no such tool.")
    fails = params.name == "test_error_handling"
    return types.CallToolResult(content=TOOLS[params.name], is_error=fails)


async def list_resources(context: Any, params: Any) -> types.ListResourcesResult:
    named = (("text", TEXT), ("binary", PNG))
    return types.ListResourcesResult(
        resources=[
            types.Resource(
                uri=f"test://static-{name}", name=name, description=name, mime_type=mime_type
            )
            for name, mime_type in named
        ]
    )


async def list_templates(context: Any, params: Any) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(
        uri_template="test://template/{id}/data", name="data", description="data", mime_type=JSON
    )
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(
    context: Any, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    uri = str(params.uri)
    if uri == "test://static-binary":
        blob = types.BlobResourceContents(uri=uri, mime_type=PNG, blob=PIXEL)
        return types.ReadResourceResult(contents=[blob])
    text, mime_type = "This is the content of the static text resource.", TEXT
    if uri.startswith("test://template/"):
        mime_type, text = JSON, f'{{"id":"{uri.split("/")[3]}","templateTest":true}}'
    content = types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return types.ReadResourceResult(contents=[content])


async def list_prompts(context: Any, params: Any) -> types.ListPromptsResult:
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=name,
                description=name,
                arguments=[types.PromptArgument(name=each, required=True) for each in arguments],
            )
            for name, arguments in PROMPTS.items()
        ]
    )


async def get_prompt(context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    given = params.arguments or {}
    contents: dict[str, list[Any]] = {
        "test_simple_prompt": [said("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [
            said(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'")
        ],
        "test_prompt_with_embedded_resource": [
            embedded(given.get("resourceUri", ""), TEXT, "Embedded resource content for testing."),
            said("Please process the embedded resource above."),
        ],
        "test_prompt_with_image": [image(), said("Please analyze the image above.")],
    }
    messages = [types.PromptMessage(role="user", content=each) for each in contents[params.name]]
    return types.GetPromptResult(messages=messages)


async def complete(context: Any, params: Any) -> types.CompleteResult:
    return types.CompleteResult(completion=types.Completion(values=["paris", "park"]))


async def nothing(context: Any, params: Any) -> types.EmptyResult:
    return types.EmptyResult()


class ExampleEndpoint(McpEndpoint):
    """Our endpoint with the example server's offer."""

    @cached_property
    def server(self) -> Server[Any]:
        return Server(
            "example",
            version="1",
            on_list_tools=list_tools,
            on_call_tool=call_tool,
            on_list_resources=list_resources,
            on_list_resource_templates=list_templates,
            on_read_resource=read_resource,
            on_subscribe_resource=nothing,
            on_unsubscribe_resource=nothing,
            on_list_prompts=list_prompts,
            on_get_prompt=get_prompt,
            on_completion=complete,
            on_set_logging_level=nothing,
        )
