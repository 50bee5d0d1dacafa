"""`cairn workflow`: workflows, their runs, and a person's word on what waits."""

import json
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from cairn.cli.deps import Deps
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

app = typer.Typer(help="Workflows: steps that run by themselves.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The workflow's name.")]
Run = Annotated[str, typer.Argument(help="The run's id.")]
Comment = Annotated[str, typer.Option(help="Why; later steps may name it.")]
_COLOURS = {
    "running": "yellow",
    "waiting": "magenta",
    "done": "green",
    "failed": "red",
    "cancelled": "dim",
}
LOOK_SECONDS = 1.0


@app.command("list")
def list_workflows(ctx: typer.Context, as_json: Json = False) -> None:
    """List workflows."""
    deps = deps_of(ctx)
    items = deps.client.get("/v1/workflows")["items"]
    if as_json:
        return print_json(items)
    shown = table("name", "version", "steps", "inputs", "description")
    for each in items:
        steps = ", ".join(step["name"] for step in each["steps"])
        inputs = ", ".join(each["inputs"])
        row = each["name"], str(each["version"]), steps, inputs, each["description"]
        shown.add_row(*map(escape, row))
    deps.out.print(shown)


@app.command()
def show(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show a workflow, its steps in the order in which they run."""
    deps = deps_of(ctx)
    answer = deps.client.get(f"/v1/workflows/{name}")
    if as_json:
        return print_json(answer)
    deps.out.print(f"[bold]{answer['name']}[/]  version {answer['version']}", highlight=False)
    deps.out.print(escape(answer["description"]))
    if schedule := answer["schedule"]:
        days = " ".join(schedule["days"]) or "every day"
        when = f"{schedule['at']} {schedule['timezone']}, {days}; next {moment(answer['due_at'])}"
        deps.out.print(f"  runs by itself: {escape(when)}", highlight=False)
    for step in answer["steps"]:
        more = {key: value for key, value in step.items() if key not in ("name", "kind")}
        line = f"  {step['name']} ({step['kind']}) {json.dumps(more, ensure_ascii=False)}"
        deps.out.print(escape(line), highlight=False)


@app.command()
def history(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """List every version a workflow had."""
    deps = deps_of(ctx)
    items = deps.client.get(f"/v1/workflows/{name}/versions")["items"]
    if as_json:
        return print_json(items)
    shown = table("version", "changed", "by", "steps", "")
    for each in items:
        gone = "[red]removed[/]" if each["removed"] else ""
        steps = ", ".join(step["name"] for step in each["steps"])
        when, who = moment(each["changed_at"]), each["changed_by"]
        shown.add_row(str(each["version"]), when, who, escape(steps), gone)
    deps.out.print(shown)


@app.command("set")
def change(
    ctx: typer.Context,
    file: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="A JSON file: name, steps.")
    ],
    as_json: Json = False,
) -> None:
    """Make the workflow of a file, or change it into what the file says."""
    try:
        values: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        name = str(values["name"])
    except (ValueError, KeyError, TypeError) as wrong:
        raise typer.BadParameter(f"{file} is no JSON object with a name") from wrong
    deps = deps_of(ctx)
    names = {each["name"] for each in deps.client.get("/v1/workflows")["items"]}
    if name in names:
        body = {key: value for key, value in values.items() if key != "name"}
        done = deps.client.put(f"/v1/workflows/{name}", body)
    else:
        done = deps.client.post("/v1/workflows", values)
    print_done(deps, done, f"[green]set[/] {name}  version {done['version']}", as_json=as_json)


@app.command()
def remove(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Remove a workflow; runs under way go on."""
    deps = deps_of(ctx)
    gone = deps.client.delete(f"/v1/workflows/{name}")
    print_done(deps, gone, f"[green]removed[/] {name}", as_json=as_json)


@app.command()
def run(
    ctx: typer.Context,
    name: Name,
    values: Annotated[
        list[str] | None, typer.Option("--input", help="NAME=VALUE; repeat for several.")
    ] = None,
    client: Client = None,
    wait: Annotated[
        float, typer.Option(min=0, max=3600, help="Seconds to wait for it to end or ask.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Run a workflow."""
    deps = deps_of(ctx)
    body = without_none({"input": _inputs(values or []), "client_id": client})
    answer = deps.client.post(f"/v1/workflows/{name}/runs", body)
    looks = int(wait / LOOK_SECONDS)
    while answer["state"] == "running" and looks > 0:
        deps.sleep(LOOK_SECONDS)
        looks -= 1
        answer = deps.client.get(f"/v1/workflow-runs/{answer['id']}")
    print_json(answer) if as_json else _show(deps, answer)


@app.command()
def runs(
    ctx: typer.Context,
    workflow: Annotated[str | None, typer.Option(help="Only those of this one.")] = None,
    state: Annotated[
        str | None, typer.Option(help="running, waiting, done, failed or cancelled.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=200)] = 20,
    as_json: Json = False,
) -> None:
    """List runs, the newest first."""
    deps = deps_of(ctx)
    pages = deps.client.pages("/v1/workflow-runs", workflow=workflow, state=state)
    items = list(islice(pages, limit))
    if as_json:
        return print_json(items)
    shown = table("id", "workflow", "state", "next step", "began", "error")
    for each in items:
        how = f"[{_COLOURS[each['state']]}]{each['state']}[/]"
        step, error = each["next_step"] or "", each["error"] or ""
        began = moment(each["created_at"])
        shown.add_row(each["id"], escape(each["workflow"]), how, escape(step), began, escape(error))
    deps.out.print(shown)


@app.command("result")
def show_run(ctx: typer.Context, run: Run, as_json: Json = False) -> None:
    """Show a run: what came of its steps, and what it waits for."""
    deps = deps_of(ctx)
    answer = deps.client.get(f"/v1/workflow-runs/{run}")
    print_json(answer) if as_json else _show(deps, answer)


@app.command()
def approve(ctx: typer.Context, run: Run, comment: Comment = "", as_json: Json = False) -> None:
    """Let a run that waits go on."""
    _decide(ctx, run, "approve", comment, as_json=as_json)


@app.command()
def reject(ctx: typer.Context, run: Run, comment: Comment = "", as_json: Json = False) -> None:
    """End a run that waits."""
    _decide(ctx, run, "reject", comment, as_json=as_json)


@app.command()
def cancel(ctx: typer.Context, run: Run, as_json: Json = False) -> None:
    """End a run where it is; what was done stays done."""
    deps = deps_of(ctx)
    answer = deps.client.post(f"/v1/workflow-runs/{run}/cancel", {})
    print_json(answer) if as_json else _show(deps, answer)


@app.command()
def resume(ctx: typer.Context, run: Run, as_json: Json = False) -> None:
    """Try a run's failed step again."""
    deps = deps_of(ctx)
    answer = deps.client.post(f"/v1/workflow-runs/{run}/resume", {})
    print_json(answer) if as_json else _show(deps, answer)


def _decide(ctx: typer.Context, run: str, decision: str, comment: str, *, as_json: bool) -> None:
    deps = deps_of(ctx)
    body = {"decision": decision, "comment": comment}
    answer = deps.client.post(f"/v1/workflow-runs/{run}/decide", body)
    print_json(answer) if as_json else _show(deps, answer)


def _inputs(pairs: list[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for pair in pairs:
        name, mark, value = pair.partition("=")
        if not mark:
            raise typer.BadParameter(f"{pair} is not written as NAME=VALUE")
        values[name] = value
    return values


def _show(deps: Deps, run: dict[str, Any]) -> None:
    how = f"[{_COLOURS[run['state']]}]{run['state']}[/]"
    error = f"  {escape(run['error'])}" if run["error"] else ""
    deps.out.print(f"[bold]{escape(run['workflow'])}[/] {run['id']}  {how}{error}", highlight=False)
    for result in run["results"]:
        text = result["output"].get("text") or json.dumps(result["output"], ensure_ascii=False)
        colour = _COLOURS[result["state"]]
        head = f"[{colour}]{result['state']}[/] {escape(result['step'])} ({result['kind']})"
        deps.out.print(f"  {result['seq']}. {head}", highlight=False)
        deps.out.print(f"     {escape(text)}", highlight=False)
    if run["waiting"]:
        deps.out.print(f"  waits: {escape(run['waiting']['message'])}", highlight=False)
