"""`cairn profile`: what is known of a client, and from what. Over the API."""

from typing import Annotated, Literal

import typer

from cairn.cli.options import Json, deps_of, escape, print_json, table

About = Literal["who_is", "how_does", "personalize"]


def profile(
    ctx: typer.Context,
    client: Annotated[str, typer.Argument(help="The client, as memories name it.")],
    about: Annotated[About | None, typer.Option(help="Parts only; by default all.")] = None,
    as_json: Json = False,
) -> None:
    """Show what is known of a client: facts, preferences, skills, interests and patterns."""
    deps = deps_of(ctx)
    items = deps.client.get("/v1/profile", client_id=client, about=about)
    if as_json:
        return print_json(items)
    shown = table("what", "id", "known")
    for part, name in (("facts", "fact"), ("preferences", "preference"), ("skills", "skill")):
        for each in items[part]:
            shown.add_row(name, each["id"], escape(each["text"]))
    for each in items["interests"]:
        shown.add_row("interest", each["evidence"][0], f"{escape(each['name'])} ({each['score']})")
    for each in items["patterns"]:
        done = each["text"] or " ".join(filter(None, (each["type"], each["tool_name"])))
        shown.add_row("pattern", each["evidence"][0], f"{escape(done)}, {each['times']} times")
    deps.out.print(shown)
    if items["truncated"]:
        deps.out.print("[dim]There are older memories or events that were not looked at.[/]")
