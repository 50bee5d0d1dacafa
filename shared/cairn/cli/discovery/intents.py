"""`cairn intent`: what a member seeks and offers. `cairn member-profile`: who they say they are."""

from itertools import islice
from typing import Annotated, Any

import typer

from cairn.cli.options import (
    Client,
    Json,
    deps_of,
    escape,
    moment,
    print_done,
    print_json,
    table,
    without_none,
)

app = typer.Typer(help="Intents: what a member seeks and offers.", no_args_is_help=True)
profile_app = typer.Typer(help="A member's own profile and premises.", no_args_is_help=True)

Intent = Annotated[str, typer.Argument(help="The intent's id.")]
Until = Annotated[str | None, typer.Option("--until", help="Until when; left out: 90 days.")]
AsOf = Annotated[str | None, typer.Option("--as-of", help="As they were at this moment.")]
Words = Annotated[str | None, typer.Argument(help="What the member says of themselves.")]


@app.command("say")
def say(
    ctx: typer.Context,
    text: Annotated[str | None, typer.Argument(help="What the member says.")] = None,
    document: Annotated[str | None, typer.Option(help="A document of theirs instead.")] = None,
    conversation: Annotated[str | None, typer.Option(help="A conversation instead.")] = None,
    propose: Annotated[
        bool, typer.Option("--propose", help="Say what would be; write nothing.")
    ] = False,
    side: Annotated[
        str | None, typer.Option(help="seeking, offering or both: take the text as it is.")
    ] = None,
    network: Annotated[
        list[str] | None, typer.Option(help="A network it belongs to; repeat for several.")
    ] = None,
    until: Until = None,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Make, change and end intents as the words say."""
    deps = deps_of(ctx)
    body = {
        "text": text,
        "document_id": document,
        "conversation_id": conversation,
        "mode": "propose" if propose else "create",
        "infer": side is None,
        "side": side,
        "networks": network or None,
        "expires_at": until,
        "client_id": client,
    }
    done = deps.client.post("/v1/intents", without_none(body))
    if as_json:
        return print_json(done)
    for each in done["actions"]:
        what = f"{each['type']}  {each['id'] or ''}  {each['description'] or ''}"
        deps.out.print(escape(what), highlight=False)
    for question in done["questions"]:
        deps.out.print(f"[yellow]?[/] {escape(question)}", highlight=False)
    if not done["actions"]:
        deps.out.print("Nothing is sought, offered or changed by that.")
        deps.out.print("Where it is meant so, say which: --side seeking, offering or both.")


@app.command("list")
def list_intents(
    ctx: typer.Context,
    state: Annotated[str | None, typer.Option(help="active, paused, expired or archived.")] = None,
    as_of: AsOf = None,
    limit: Annotated[int, typer.Option(min=1, max=5_000)] = 50,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """List a member's intents, the newest first."""
    deps = deps_of(ctx)
    pages = deps.client.pages("/v1/intents", state=state, as_of=as_of, client_id=client)
    items = list(islice(pages, limit))
    if as_json:
        return print_json(items)
    shown = table("id", "side", "state", "until", "description", whole="id")
    for each in items:
        until = moment(each["expires_at"]) if each["expires_at"] else ""
        cells = each["id"], each["side"], each["state"], until, escape(each["description"])
        shown.add_row(*cells)
    deps.out.print(shown)


@app.command()
def show(ctx: typer.Context, intent: Intent, client: Client = None, as_json: Json = False) -> None:
    """Show an intent, and how far it was verified."""
    deps = deps_of(ctx)
    view = deps.client.get(f"/v1/intents/{intent}", client_id=client)
    _print(ctx, view, as_json=as_json)


@app.command()
def change(
    ctx: typer.Context,
    intent: Intent,
    text: Annotated[str | None, typer.Option("--text", help="What it is to say.")] = None,
    side: Annotated[str | None, typer.Option(help="seeking, offering or both.")] = None,
    until: Until = None,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Change an intent; another side or matter makes a new one in its place."""
    body = {"description": text, "side": side, "expires_at": until, "client_id": client}
    done = deps_of(ctx).client.patch(f"/v1/intents/{intent}", without_none(body))
    _print(ctx, done, as_json=as_json)


@app.command()
def pause(ctx: typer.Context, intent: Intent, client: Client = None, as_json: Json = False) -> None:
    """Keep an intent without looking for it."""
    _post(ctx, intent, "pause", {"client_id": client}, as_json=as_json)


@app.command()
def resume(
    ctx: typer.Context, intent: Intent, client: Client = None, as_json: Json = False
) -> None:
    """Look for a paused intent again."""
    _post(ctx, intent, "resume", {"client_id": client}, as_json=as_json)


@app.command()
def refresh(
    ctx: typer.Context,
    intent: Intent,
    until: Until = None,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Let an intent last anew."""
    body = {"expires_at": until, "client_id": client}
    _post(ctx, intent, "refresh", body, as_json=as_json)


@app.command("answer")
def settle(
    ctx: typer.Context,
    intent: Intent,
    decision: Annotated[str, typer.Argument(help="update: it is a change; create: it is new.")],
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Say whether an intent is a change of the open one that it is near to."""
    body = {"decision": decision, "client_id": client}
    _post(ctx, intent, "answer", body, as_json=as_json)


@app.command()
def remove(
    ctx: typer.Context, intent: Intent, client: Client = None, as_json: Json = False
) -> None:
    """Archive an intent; what was found for it and is open expires."""
    deps = deps_of(ctx)
    gone = deps.client.delete(f"/v1/intents/{intent}", client_id=client)
    print_done(deps, gone, f"[green]removed[/] {intent}", as_json=as_json)


@profile_app.command("show")
def show_profile(
    ctx: typer.Context, as_of: AsOf = None, client: Client = None, as_json: Json = False
) -> None:
    """Show a member's profile as shared networks show it."""
    view = deps_of(ctx).client.get("/v1/profiles/me", client_id=client, as_of=as_of)
    _print_profile(ctx, view, as_json=as_json)


@profile_app.command("set")
def set_profile(
    ctx: typer.Context,
    text: Words = None,
    name: Annotated[str | None, typer.Option(help="The name as it is shown.")] = None,
    bio: Annotated[str | None, typer.Option(help="Who it is, in a sentence or two.")] = None,
    location: Annotated[str | None, typer.Option(help="Where they are.")] = None,
    skill: Annotated[list[str] | None, typer.Option(help="What they can do; repeat.")] = None,
    interest: Annotated[list[str] | None, typer.Option(help="What they care for; repeat.")] = None,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Merge words into the profile, and set parts of it."""
    body = {
        "text": text,
        "name": name,
        "bio": bio,
        "location": location,
        "skills": skill or None,
        "interests": interest or None,
        "client_id": client,
    }
    view = deps_of(ctx).client.patch("/v1/profiles/me", without_none(body))
    _print_profile(ctx, view, as_json=as_json)


@profile_app.command("generate")
def generate_profile(
    ctx: typer.Context,
    text: Words = None,
    link: Annotated[list[str] | None, typer.Option(help="A page about them; repeat.")] = None,
    document: Annotated[list[str] | None, typer.Option(help="A document's id; repeat.")] = None,
    memories: Annotated[
        bool, typer.Option("--memories", help="Read what is remembered of them, too.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Merge into parts that are there.")
    ] = False,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Make the missing parts of a profile from sources."""
    body = {
        "text": text,
        "links": link or None,
        "document_ids": document or None,
        "memories": memories,
        "force": force,
        "client_id": client,
    }
    view = deps_of(ctx).client.post("/v1/profiles/me/generate", without_none(body))
    _print_profile(ctx, view, as_json=as_json)


@profile_app.command("premises")
def list_premises(
    ctx: typer.Context, as_of: AsOf = None, client: Client = None, as_json: Json = False
) -> None:
    """List what a member says of themselves, statement by statement."""
    deps = deps_of(ctx)
    items = deps.client.get("/v1/profiles/me/premises", client_id=client, as_of=as_of)["items"]
    if as_json:
        return print_json(items)
    shown = table("id", "premise", "until", whole="id")
    for each in items:
        until = moment(each["expires_at"]) if each["expires_at"] else ""
        shown.add_row(each["id"], escape(each["text"]), until)
    deps.out.print(shown)


@profile_app.command("state")
def state_premises(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(help="What the member says of themselves.")],
    until: Until = None,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Keep each statement of a self-description by itself."""
    body = without_none({"text": text, "expires_at": until, "client_id": client})
    deps = deps_of(ctx)
    items = deps.client.post("/v1/profiles/me/premises", body)["items"]
    print_done(deps, items, f"[green]{len(items)}[/] premises stand", as_json=as_json)


@profile_app.command("retract")
def retract_premise(
    ctx: typer.Context,
    premise: Annotated[str, typer.Argument(help="The premise's id.")],
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Take back a premise; the profile no longer says so either."""
    deps = deps_of(ctx)
    gone = deps.client.delete(f"/v1/profiles/me/premises/{premise}", client_id=client)
    print_done(deps, gone, f"[green]retracted[/] {premise}", as_json=as_json)


def _post(
    ctx: typer.Context, intent: str, deed: str, body: dict[str, Any], *, as_json: bool
) -> None:
    done = deps_of(ctx).client.post(f"/v1/intents/{intent}/{deed}", without_none(body))
    _print(ctx, done, as_json=as_json)


def _print(ctx: typer.Context, view: dict[str, Any], *, as_json: bool) -> None:
    deps = deps_of(ctx)
    text = f"[bold]{view['side']}[/] {view['state']}  {view['id']}\n  {escape(view['description'])}"
    if view["vague"]:
        text += "\n  vague: say who, what or where"
    print_done(deps, view, text, as_json=as_json)


def _print_profile(ctx: typer.Context, view: dict[str, Any], *, as_json: bool) -> None:
    deps = deps_of(ctx)
    text = escape(view["text"] or "Nothing is said yet.")
    if view["missing"]:
        text += f"\n  missing: {', '.join(view['missing'])}"
    print_done(deps, view, text, as_json=as_json)
