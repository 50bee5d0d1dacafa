"""The tool that searches what was said. Not the recording of messages, which channels do."""

from cairn.api.mcp.tool import Tool, ToolAnswer
from cairn.api.routes.conversations import ConversationSearchIn, MessageHit, found_messages
from cairn.bootstrap.api import ApiServices
from cairn.kernel.access import Principal
from cairn.kernel.text.canonical import format_timestamp


def _search(
    services: ApiServices, principal: Principal, arguments: ConversationSearchIn
) -> ToolAnswer:
    found = found_messages(services.search_conversations(principal, arguments.record()))
    lines = [_line(message) for message in found["messages"]]
    return ToolAnswer(text="\n".join(lines) or "No message was found.", structured=dict(found))


def _line(message: MessageHit) -> str:
    said = " ".join(str(message["content"]).split())
    when = format_timestamp(message["timestamp"])
    return f"[{message['role']}] {when} (score: {message['relevance_score']:.3f}) {said}"


SEARCH = Tool(
    name="conversation-search",
    title="Search conversations",
    description=(
        "Find earlier messages by meaning and by words, each with who said it and when. A public "
        "key finds its own conversation only."
    ),
    arguments=ConversationSearchIn,
    call=_search,
)
