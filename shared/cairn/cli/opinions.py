"""`cairn investigations rate`, `dispute` and `remember`: what people say and keep of one."""

from typing import Annotated

import typer

from cairn.cli.options import Json, deps_of, print_done, without_none

Id = Annotated[str, typer.Argument(help="The investigation's id.")]


def rate(
    ctx: typer.Context,
    investigation: Id,
    rating: Annotated[int, typer.Argument(min=1, max=5, help="1 to 5.")],
    comment: Annotated[str, typer.Option("--comment", "-c", help="Why.")] = "",
    as_json: Json = False,
) -> None:
    """Rate one that ended; 4 and 5 stage what may be learned of it."""
    deps = deps_of(ctx)
    body = {"rating": rating, "comment": comment}
    said = deps.client.post(f"/v1/investigations/{investigation}/rating", body)
    print_done(deps, said, f"[green]rated[/] {rating} of 5", as_json=as_json)


def dispute(
    ctx: typer.Context,
    investigation: Id,
    reason: Annotated[str, typer.Option("--reason", "-r", help="What was wrong.")],
    as_json: Json = False,
) -> None:
    """Say that one did not end well; nothing is learned of it."""
    deps = deps_of(ctx)
    said = deps.client.post(f"/v1/investigations/{investigation}/dispute", {"reason": reason})
    print_done(deps, said, f"[green]disputed[/] {investigation}", as_json=as_json)


def remember(
    ctx: typer.Context,
    investigation: Id,
    step: Annotated[int, typer.Argument(min=1, help="The step's number.")],
    label: Annotated[str, typer.Option("--as", help="fact, observation or resolution.")] = "fact",
    text: Annotated[str | None, typer.Option(help="What to keep instead of its words.")] = None,
    as_json: Json = False,
) -> None:
    """Make a step an active node of the memory graph."""
    deps = deps_of(ctx)
    body = without_none({"label": label, "text": text})
    path = f"/v1/investigations/{investigation}/steps/{step}/remember"
    made = deps.client.post(path, body)
    line = f"[green]remembered[/] {made['label']} {made['node_id']}"
    print_done(deps, made, line, as_json=as_json)
