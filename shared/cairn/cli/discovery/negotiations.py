"""`cairn negotiation`: what members' agents said, how it ended, and whether anybody changed it."""

import json
from itertools import islice
from pathlib import Path
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

app = typer.Typer(help="Negotiations of members' agents.", no_args_is_help=True)

Negotiation = Annotated[str, typer.Argument(help="The negotiation's id.")]
Keys = Annotated[
    list[str] | None, typer.Option("--key", help="The name of a key that you trust; repeatable.")
]


@app.command("list")
def list_negotiations(
    ctx: typer.Context, client: Client = None, limit: int = 50, as_json: Json = False
) -> None:
    """List negotiations, the newest first."""
    deps = deps_of(ctx)
    items = list(islice(deps.client.pages("/v1/negotiations", client_id=client), limit))
    if as_json:
        return print_json(items)
    shown = table("id", "begun", "state", "outcome", "turns")
    for each in items:
        outcome, turns = each["outcome"] or "", str(each["turn_count"])
        row = each["id"], moment(each["begun_at"]), each["state"], outcome, turns
        shown.add_row(*map(escape, row))
    deps.out.print(shown)


@app.command()
def show(
    ctx: typer.Context, negotiation: Negotiation, client: Client = None, as_json: Json = False
) -> None:
    """Show a negotiation and its turns."""
    deps = deps_of(ctx)
    answer = deps.client.get(f"/v1/negotiations/{negotiation}", client_id=client)
    if as_json:
        return print_json(answer)
    deps.out.print(f"{answer['state']}  {answer['outcome'] or ''}", highlight=False)
    for turn in answer["turns"]:
        words = turn["message"] if turn["message"] is not None else "(forgotten)"
        line = f"  {turn['seq']} {turn['speaker']} {turn['action']} ({turn['voice']}): {words}"
        deps.out.print(escape(line), highlight=False)
    if answer["question"]:
        deps.out.print(escape(f"asked of you: {answer['question']}"), highlight=False)


@app.command()
def answer(
    ctx: typer.Context,
    negotiation: Negotiation,
    text: str,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Answer the question that a stall left to one's own side."""
    deps = deps_of(ctx)
    body = without_none({"answer": text, "client_id": client})
    done = deps.client.post(f"/v1/negotiations/{negotiation}/answer", body)
    print_done(deps, done, f"{done['state']}  {done['outcome'] or ''}", as_json=as_json)


@app.command()
def export(
    ctx: typer.Context,
    negotiation: Negotiation,
    file: Path,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Write the signed turns to a file, which anyone can verify without the server."""
    deps = deps_of(ctx)
    exported = deps.client.get(f"/v1/negotiations/{negotiation}/export", client_id=client)
    file.write_text(json.dumps(exported, ensure_ascii=False), encoding="utf-8")
    print_done(deps, {"file": str(file)}, f"written: {escape(str(file))}", as_json=as_json)


@app.command()
def verify(
    ctx: typer.Context,
    negotiation: Annotated[str, typer.Argument(help="Its id, or the file of an export.")],
    key: Keys = None,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Check that neither side's words were changed; a file is checked without the server."""
    from cairn.discovery.negotiation.signing import verify as verified

    deps = deps_of(ctx)
    path = Path(negotiation)
    exported: Any = (
        json.loads(path.read_text(encoding="utf-8"))
        if path.is_file()
        else deps.client.get(f"/v1/negotiations/{negotiation}/export", client_id=client)
    )
    result = verified(exported, key or ())
    faults = [{"seq": fault.seq, "reason": fault.reason} for fault in result.faults]
    if as_json:
        print_json({"holds": result.holds, "turns": result.turns, "faults": faults})
    else:
        words = "holds" if result.holds else "does NOT hold"
        line = f"{words}: {result.turns} turns, {result.forgotten} of them forgotten"
        deps.out.print(line, highlight=False)
        for who, names in result.keys.items():
            deps.out.print(f"  {who}: {' '.join(names)}", highlight=False)
        for fault in result.faults:
            deps.out.print(f"  turn {fault.seq}: {fault.reason}", highlight=False)
    if not result.holds:
        raise typer.Exit(1)
