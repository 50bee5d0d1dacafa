"""`cairn chats`: customers who wait for a person, and answering them. Over the API."""

from typing import Annotated, Any

import typer

from cairn.cli.deps import Deps
from cairn.cli.options import Json, deps_of, escape, moment, print_done, print_json, table

app = typer.Typer(help="Chats that go to people.", no_args_is_help=True)
PATH = "/v1/chats"
Id = Annotated[str, typer.Argument(help="The chat's id.")]
Name = Annotated[str | None, typer.Option(help="By which name the customer knows you.")]


@app.command("list")
def list_chats(
    ctx: typer.Context,
    state: Annotated[
        str, typer.Option(help="pending, active, returned, closed, ticket, or all.")
    ] = "pending",
    limit: Annotated[int, typer.Option(min=1, max=200)] = 50,
    as_json: Json = False,
) -> None:
    """List chats; those that wait for a person by default."""
    deps = deps_of(ctx)
    items = deps.client.get(PATH, state=None if state == "all" else state, limit=limit)["items"]
    if as_json:
        return print_json(items)
    shown = table("id", "state", "since", "operator", "why", whole="id")
    for item in items:
        since = moment(item["waits_since"] or item["requested_at"])
        row = (item["id"], item["state"], since, item["operator"] or "", item["why"] or "")
        shown.add_row(*map(escape, row))
    deps.out.print(shown if items else "nobody waits for a person")


@app.command()
def live(ctx: typer.Context, as_json: Json = False) -> None:
    """List chats that the agent answers; `take` takes one over by its turn."""
    deps = deps_of(ctx)
    items = deps.client.get(f"{PATH}/live")["items"]
    if as_json:
        return print_json(items)
    shown = table("turn", "channel", "at", "question", whole="turn")
    for item in items:
        at = moment(item["at"])
        shown.add_row(item["turn_id"], item["channel"], at, escape(item["question"] or ""))
    deps.out.print(shown if items else "nobody chats")


@app.command()
def numbers(ctx: typer.Context, as_json: Json = False) -> None:
    """Show how many wait, and how long customers waited in the last seven days."""
    deps = deps_of(ctx)
    answer = deps.client.get(f"{PATH}/numbers")
    if as_json:
        return print_json(answer)
    for name, value in answer.items():
        deps.out.print(f"{name.replace('_', ' ')}: {'none' if value is None else round(value, 1)}")


@app.command()
def show(ctx: typer.Context, chat: Id, as_json: Json = False) -> None:
    """Show a chat with all that whoever takes it over needs."""
    deps = deps_of(ctx)
    bundle = deps.client.get(f"{PATH}/{chat}")
    if as_json:
        return print_json(bundle)
    deps.out.print(f"[bold]{bundle['state']}[/]  {escape(bundle['why'] or '(forgotten)')}")
    for each in bundle["transcript"]:
        if each["text"]:
            who = escape(each["name"] or each["by"])
            deps.out.print(f"[dim]{moment(each['at'])}[/] [cyan]{who}[/]: {escape(each['text'])}")
    for call in bundle["tool_calls"]:
        deps.out.print(f"called {escape(call['tool'])}: {escape(call['error'] or 'done')}")
    for citation in bundle["citations"]:
        deps.out.print(escape(citation))


@app.command()
def accept(
    ctx: typer.Context,
    chat: Id,
    name: Name = None,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Also from another operator.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Answer a chat from now on."""
    body = {"name": name, "take_over": take_over}
    _done(deps_of(ctx), f"{chat}/accept", body, "you answer", as_json=as_json)


@app.command()
def take(
    ctx: typer.Context,
    turn: Annotated[str, typer.Argument(help="A turn of the chat: see `live`.")],
    name: Name = None,
    as_json: Json = False,
) -> None:
    """Take a chat over that the agent answers."""
    deps = deps_of(ctx)
    chat = deps.client.post(PATH, {"turn_id": turn, "name": name})
    print_done(deps, chat, f"[green]you answer[/] {chat['id']}", as_json=as_json)


@app.command()
def say(
    ctx: typer.Context,
    chat: Id,
    text: Annotated[str, typer.Argument(help="What the customer is told.")],
    as_json: Json = False,
) -> None:
    """Say something to the customer of a chat that you have accepted."""
    deps = deps_of(ctx)
    line = deps.client.post(f"{PATH}/{chat}/say", {"text": text})
    print_done(deps, line, f"[green]said[/] as {escape(line['name'] or '')}", as_json=as_json)


@app.command()
def release(ctx: typer.Context, chat: Id, as_json: Json = False) -> None:
    """Leave a chat to another operator."""
    _done(deps_of(ctx), f"{chat}/release", None, "it waits for somebody else", as_json=as_json)


@app.command("return")
def give_back(ctx: typer.Context, chat: Id, as_json: Json = False) -> None:
    """Give a chat back to the agent."""
    _done(deps_of(ctx), f"{chat}/return", None, "the agent answers again", as_json=as_json)


@app.command()
def close(
    ctx: typer.Context,
    chat: Id,
    resolution: Annotated[str, typer.Option("--resolution", "-r", help="How it was solved.")],
    as_json: Json = False,
) -> None:
    """Close a chat that you have solved."""
    body = {"resolution": resolution}
    _done(deps_of(ctx), f"{chat}/close", body, "closed", as_json=as_json)


@app.command()
def ticket(ctx: typer.Context, chat: Id, as_json: Json = False) -> None:
    """Make a ticket of a chat with all that was said."""
    deps = deps_of(ctx)
    answer = deps.client.post(f"{PATH}/{chat}/ticket", {})
    line = f"[green]the ticket[/] {answer['ticket_id']}"
    print_done(deps, answer, line, as_json=as_json)


def _done(deps: Deps, path: str, body: dict[str, Any] | None, line: str, *, as_json: bool) -> None:
    answer = deps.client.post(f"{PATH}/{path}", body or {})
    print_done(deps, answer, f"[green]{line}[/]", as_json=as_json)
