"""`cairn conversations`: what was said."""

from itertools import islice
from typing import Annotated, Any

import typer

from cairn.cli.deps import Deps
from cairn.cli.memories import snippet
from cairn.cli.options import Client, Json, Scope, deps_of, escape, print_json, table, without_none

app = typer.Typer(help="Conversations: messages, recorded and searched.", no_args_is_help=True)

_COLOURS = {"user": "cyan", "assistant": "green", "tool": "yellow", "system": "magenta"}
Limit = Annotated[int, typer.Option(min=1, max=1000)]


@app.command("list")
def list_conversations(
    ctx: typer.Context,
    channel: Annotated[str | None, typer.Option(help="webchat, whatsapp, slack ...")] = None,
    session: Annotated[str | None, typer.Option(help="The channel's session id.")] = None,
    client: Client = None,
    agent: Annotated[str | None, typer.Option(help="It recorded them, or finds them.")] = None,
    sender: Annotated[str | None, typer.Option(help="Who said something in them.")] = None,
    opened_from: Annotated[str | None, typer.Option("--from", help="Opened from a time.")] = None,
    opened_to: Annotated[str | None, typer.Option("--to", help="Opened before a time.")] = None,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List conversations, newest first."""
    deps = deps_of(ctx)
    where = {
        "channel": channel,
        "session_id": session,
        "client_id": client,
        "agent": agent,
        "sender": sender,
        "opened_from": opened_from,
        "opened_to": opened_to,
    }
    pages = list(islice(deps.client.pages("/v1/conversations", **where), limit))
    if as_json:
        return print_json({"items": pages})
    shown = table("id", "channel", "session", "messages", "last")
    for each in pages:
        last = _minute(each["last_message_at"] or each["opened_at"])
        session_ = escape(each["session_id"])
        shown.add_row(each["id"], each["channel"], session_, str(each["messages"]), last)
    deps.out.print(shown)


@app.command()
def show(
    ctx: typer.Context,
    conversation_id: Annotated[str, typer.Argument(help="The conversation's id.")],
    limit: Limit = 200,
    as_json: Json = False,
) -> None:
    """Show the messages of a conversation, oldest first."""
    deps = deps_of(ctx)
    path = f"/v1/conversations/{conversation_id}"
    conversation = deps.client.get(path, limit=1)["conversation"]
    messages = list(islice(deps.client.pages(path), limit))
    if as_json:
        return print_json({"conversation": conversation, "items": messages})
    deps.out.print(f"[dim]{conversation['channel']}[/] {escape(conversation['session_id'])}")
    for each in messages:
        deps.out.print(_line(each, escape(each["content"])))


@app.command()
def search(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="Words or a subject to look for.")],
    within: Annotated[str | None, typer.Option("--in", help="One conversation's id.")] = None,
    role: Annotated[str | None, typer.Option(help="user, assistant, system, tool.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=50)] = 10,
    as_json: Json = False,
) -> None:
    """Find messages by meaning and by words."""
    deps = deps_of(ctx)
    body = without_none({"query": query, "conversation_id": within, "role": role, "limit": limit})
    answer = deps.client.post("/v1/conversations/search", body)
    if as_json:
        return print_json(answer)
    shown = table("score", "when", "role", "message", "conversation")
    for each in answer["messages"]:
        shown.add_row(
            f"{each['relevance_score']:.3f}",
            _minute(each["timestamp"]),
            each["role"],
            escape(snippet(each["content"], query)),
            each["conversation_id"],
        )
    deps.out.print(shown)
    _note_degraded(deps, answer["meta"]["degraded"])


@app.command()
def say(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(help="The message.")],
    session: Annotated[str, typer.Option(help="The channel's session id.")],
    channel: Annotated[str, typer.Option(help="webchat waits for a second message.")] = "api",
    role: Annotated[str, typer.Option(help="user, assistant, system, tool.")] = "user",
    sender: Annotated[str | None, typer.Option(help="Who wrote it.")] = None,
    scope: Scope = None,
    agent: Annotated[list[str] | None, typer.Option(help="Repeat for several.")] = None,
    client: Client = None,
    infer: Annotated[
        bool, typer.Option("--infer/--no-infer", help="Whether memories are drawn from it.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Record one message."""
    deps = deps_of(ctx)
    body = without_none(
        {
            "text": text,
            "session_id": session,
            "channel": channel,
            "role": role,
            "sender": sender,
            "scope": scope,
            "agents": agent or [],
            "client_id": client,
            "infer": None if infer else False,
        }
    )
    done = deps.client.post("/v1/conversations/messages", body)
    if as_json:
        print_json(done)
    elif done["persisted"]:
        deps.out.print(f"[green]recorded[/] {done['conversation_id']}")
    else:
        deps.out.print(
            f"[yellow]waits[/] {done['conversation_id']}  [dim]until {done['expires_at']}[/]"
        )


@app.command("set")
def set_(
    ctx: typer.Context,
    conversation_id: Annotated[str, typer.Argument(help="The conversation's id.")],
    infer: Annotated[
        bool, typer.Option("--infer/--no-infer", help="Whether memories are drawn from it.")
    ],
    as_json: Json = False,
) -> None:
    """Let memories be drawn from what is said in a conversation from now on, or not."""
    deps = deps_of(ctx)
    done = deps.client.patch(f"/v1/conversations/{conversation_id}", {"infer": infer})
    if as_json:
        print_json(done)
    else:
        deps.out.print(f"[green]set[/] infer {str(infer).lower()}")


@app.command()
def bind(
    ctx: typer.Context,
    conversation_id: Annotated[str, typer.Argument(help="The conversation's id.")],
    key_id: Annotated[str, typer.Argument(help="A public key's id: cairn keys list.")],
    as_json: Json = False,
) -> None:
    """Let a public key see this conversation, and no other, for good."""
    deps = deps_of(ctx)
    done = deps.client.put(f"/v1/conversations/{conversation_id}/keys/{key_id}")
    if as_json:
        print_json(done)
    else:
        deps.out.print(f"[green]bound[/] {key_id}")


def _line(message: dict[str, Any], text: str) -> str:
    role = message["role"]
    gated = "" if message["accepted"] else f" [red]{message['gated']}[/]"
    line = f"[{_COLOURS.get(role, 'white')}]{role}[/]{gated}"
    return f"[dim]{_minute(message['timestamp'])}[/] {line} {text}"


def _minute(timestamp: str) -> str:
    return timestamp[:16].replace("T", " ")


def _note_degraded(deps: Deps, degraded: list[str]) -> None:
    for each in degraded:
        deps.err.print(f"[yellow]note:[/] {each}")
