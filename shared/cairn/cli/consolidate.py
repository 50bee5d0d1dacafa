"""`cairn consolidate`: merge what says the same, flag what contradicts, link; or only plan it."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cairn.cli.client import Failure
from cairn.cli.deps import Deps
from cairn.cli.options import Json, deps_of, escape, print_json, table

if TYPE_CHECKING:
    from rich.table import Table

POLL_SECONDS = 1.0
STUCK_SECONDS = 900.0
"""After so long without any progress nobody is at work."""

SHOWN = 20
"""Operations of a dry run that are printed; --json has them all."""

ENDED = ("finished", "failed")
_NAMES = {
    "memories": "memories looked at",
    "merged": "merged into one",
    "superseded": "superseded by a merge",
    "existing": "merges that existed already",
    "flagged": "contradictions flagged",
    "linked": "links",
    "recategorised": "given a category",
    "entities": "entities and aliases",
    "related": "relationships",
    "overtaken": "changed meanwhile, left",
    "forgotten": "forgotten meanwhile, left",
    "without_vector": "wait for their vector",
    "suspicious": "left out as suspicious",
    "failures": "parts that failed",
}

Client = Annotated[str | None, typer.Option("--client", help="This client's memories only.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Plan, show the plan, change nothing.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until the run has ended.")]
Scheduled = Annotated[
    bool, typer.Option("--scheduled", help="Start what the schedule starts: every workspace.")
]


def consolidate(
    ctx: typer.Context,
    client: Client = None,
    dry_run: DryRun = False,
    wait: Wait = False,
    scheduled: Scheduled = False,
    as_json: Json = False,
) -> None:
    """Consolidate the workspace's memories now; the machine does it every six hours anyway.

    With --wait the exit status is 1 when the run, or a part of it, failed.
    """
    deps = deps_of(ctx)
    if scheduled:
        if client or dry_run:
            raise typer.BadParameter("--scheduled takes every client and plans nothing only.")
        _scheduled(deps, wait=wait, as_json=as_json)
        return
    body = {"dry_run": dry_run} | ({"client_id": client} if client else {})
    answer = deps.client.post("/v1/consolidations", body)
    if dry_run:
        print_json(answer) if as_json else _show_plan(deps, answer)
        return
    run = wait_for_run(deps, answer["id"]) if wait else answer
    if as_json:
        print_json(run)
    elif wait:
        show_run(deps, run)
    else:
        deps.out.print(f"run {run['id']} is {run['state']}; follow it: cairn consolidate --wait")
    if run["state"] == "failed":
        raise typer.Exit(1)


def wait_for_run(deps: Deps, run_id: str) -> dict[str, Any]:
    """Return a run once it has ended; Failure when nothing moved for fifteen minutes."""
    run = deps.client.get(f"/v1/consolidations/{run_id}")
    moved = deps.stopwatch()
    with deps.err.status("consolidating …") as line:
        while run["state"] not in ENDED:
            if deps.stopwatch() - moved > STUCK_SECONDS:
                raise Failure(
                    f"Gave up waiting: the run is {run['state']}.",
                    advice="see what is wrong: cairn doctor",
                )
            line.update(f"{run['state']}: {run['counts'].get('memories', 0)} memories …")
            deps.sleep(POLL_SECONDS)
            before, run = run, deps.client.get(f"/v1/consolidations/{run_id}")
            if (run["state"], run["counts"]) != (before["state"], before["counts"]):
                moved = deps.stopwatch()
    return run


def run_scheduled(deps: Deps, *, wait: bool) -> dict[str, Any]:
    """Start the schedule's own target with the input its rule sends, and return the execution.

    Failure when the machine or its rule is not known or cannot be reached.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    machine = deps.settings.consolidation_machine_arn
    if not machine:
        raise Failure(
            "The consolidation machine is not known here.",
            advice="set CAIRN_CONSOLIDATION_MACHINE_ARN",
        )
    steps = deps.aws("stepfunctions")
    try:
        targets = deps.aws("events").list_targets_by_rule(Rule=machine.rpartition(":")[2])
        [target] = targets["Targets"]
        arn = steps.start_execution(stateMachineArn=target["Arn"], input=target["Input"])[
            "executionArn"
        ]
        value = steps.describe_execution(executionArn=arn)
        with deps.err.status("consolidating every workspace …"):
            while wait and value["status"] == "RUNNING":
                deps.sleep(POLL_SECONDS)
                value = steps.describe_execution(executionArn=arn)
    except (ClientError, BotoCoreError) as exc:
        raise Failure(
            f"The schedule's target cannot be started: {exc}", advice="start the stack: cairn up"
        ) from exc
    return {"execution": arn, "input": target["Input"], "status": value["status"]}


def last_run(deps: Deps) -> dict[str, Any] | None:
    """Return the newest run that was no dry run; None without one, or when the key may not ask."""
    if deps.client.get("/v1/whoami")["role"] != "admin":
        return None
    runs = deps.client.get("/v1/consolidations", limit=20)["items"]
    return next((run for run in runs if not run["dry_run"]), None)


def run_line(run: dict[str, Any]) -> str:
    """Return a run in one line."""
    counts = run["counts"]
    by = "schedule" if run["trigger"] == "schedule" else "request"
    return (
        f"consolidation by {by}, {run['created_at'][:16].replace('T', ' ')}: {run['state']}, "
        f"{counts.get('memories', 0)} memories, {counts.get('merged', 0)} merged, "
        f"{counts.get('flagged', 0)} flagged"
    )


def show_run(deps: Deps, run: dict[str, Any]) -> None:
    """Print what a run did, what it cost and what it left undone."""
    deps.out.print(f"run {run['id']} [bold]{run['state']}[/], planned by {_planner(run)}")
    deps.out.print(_counts(run["counts"]))
    _print_rest(deps, run)


def _scheduled(deps: Deps, *, wait: bool, as_json: bool) -> None:
    done = run_scheduled(deps, wait=wait)
    if as_json:
        print_json(done)
    else:
        deps.out.print(f"{done['status'].lower()}: {done['execution']}")
        deps.out.print(f"[dim]see its steps: cairn trace {done['execution']}[/]")
    if done["status"] not in ("RUNNING", "SUCCEEDED"):
        raise typer.Exit(1)


def _show_plan(deps: Deps, plan: dict[str, Any]) -> None:
    operations = plan["operations"]
    shown = table("would", "memories", "into, or why")
    for operation in operations[:SHOWN]:
        texts = "\n".join(f"• {memory['text']}" for memory in operation["memories"])
        shown.add_row(operation["operation"], texts, _what(operation))
    if operations:
        deps.out.print(shown)
    if len(operations) > SHOWN:
        deps.out.print(f"[dim]… and {len(operations) - SHOWN} more: --json has them[/]")
    run = plan["run"]
    deps.out.print(f"planned by {_planner(run)}; nothing was changed")
    deps.out.print(_counts(run["counts"]))
    _print_rest(deps, run)
    if plan["more"]:
        deps.out.print("[yellow]→ more memories wait; a dry run plans for some seconds only[/]")


def _what(item: dict[str, Any]) -> str:
    kind = item["operation"]
    if kind == "merge":
        return str(item["text"])
    if kind == "recategorise":
        return str(item["category"])
    if kind == "relate":
        return f"{item['source']} {item['relation']} {item['target']}"
    if kind == "entity":
        return ", ".join([item["name"], *item["aliases"]])
    return str(item["why"])


def _counts(counts: dict[str, int]) -> "Table":
    shown = table("what", "how many")
    for name, label in _NAMES.items():
        if counts.get(name):
            shown.add_row(label, str(counts[name]))
    for name, number in sorted(counts.items()):
        if number and name not in _NAMES and name not in ("batches", "dropped"):
            shown.add_row(name.replace("_", " "), str(number))
    return shown


def _planner(run: dict[str, Any]) -> str:
    if not run["provider"]:
        return "nobody: nothing was to do"
    return f"{run['provider']} ({run['model']})"


def _print_rest(deps: Deps, run: dict[str, Any]) -> None:
    cost = run["cost_usd"]
    deps.out.print(f"cost: {'not known' if cost is None else f'{cost:.4f} USD'}")
    for item in run["undone"]:
        deps.out.print(f"[yellow]left undone:[/] {item}")
    if run["error"]:
        why = run["error"].get("detail") or run["error"]["reason"]
        deps.out.print(f"[red]{escape(why)}[/]")
