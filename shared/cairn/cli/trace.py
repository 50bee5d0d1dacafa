"""`cairn trace`: draw one execution of a state machine as a tree, with times."""

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cairn.cli.deps import Deps
from cairn.cli.failure import Failure
from cairn.cli.options import Json, deps_of, escape, print_json
from cairn.cli.trace_tree import CAUGHT, FAILED, RUNNING, SUCCEEDED, Span, build
from cairn.kernel.clock import utc_now

if TYPE_CHECKING:
    from rich.tree import Tree

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_MARKS = {
    SUCCEEDED: "[green]✔[/]",
    CAUGHT: "[yellow]↯[/]",
    FAILED: "[red]✘[/]",
    RUNNING: "[cyan]…[/]",
}


def trace(
    ctx: typer.Context,
    execution: Annotated[str, typer.Argument(help="An execution's ARN, or an ingestion's id.")],
    as_json: Json = False,
) -> None:
    """Draw an execution's history as a tree with the time each state took."""
    deps = deps_of(ctx)
    root = fetch(deps, execution_arn(deps, execution))
    now = utc_now()
    if as_json:
        print_json(_plain(root, now))
    else:
        deps.out.print(draw(root, now))


def execution_arn(deps: Deps, execution: str) -> str:
    """Return the ARN of an execution given as such or as an ingestion's id, which names it."""
    if execution.startswith("arn:"):
        return execution
    if not _UUID.fullmatch(execution):
        raise typer.BadParameter("Give an execution's ARN or an ingestion's id.")
    machine = deps.settings.ingestion_machine_arn
    if not machine:
        raise Failure(
            "The ingestion machine is not known here.", advice="set CAIRN_INGESTION_MACHINE_ARN"
        )
    return f"{machine.replace(':stateMachine:', ':execution:')}:{execution.lower()}"


def fetch(deps: Deps, arn: str) -> Span:
    """Read an execution's whole history and return its tree."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        pages = deps.aws("stepfunctions").get_paginator("get_execution_history")
        asked = pages.paginate(executionArn=arn, includeExecutionData=False)
        events: list[dict[str, Any]] = [event for page in asked for event in page["events"]]
        return build(sorted(events, key=lambda each: each["id"]), name=arn.rpartition(":")[2])
    except ClientError as exc:
        message = exc.response.get("Error", {}).get("Message", "unknown error")
        raise Failure(f"The execution cannot be read: {message}.") from exc
    except BotoCoreError as exc:
        raise Failure(
            f"Step Functions cannot be reached: {exc}", advice="start the stack: cairn up"
        ) from exc
    except ValueError as exc:
        raise Failure(f"There is nothing to draw: {exc}.") from exc


def draw(root: Span, now: datetime) -> "Tree":
    """Return the tree to print; times are seconds from the beginning and seconds taken."""
    from rich.tree import Tree

    tree = Tree(_label(root, root, now))
    stack = [(tree, child) for child in reversed(root.children)]
    while stack:
        branch, span = stack.pop()
        grown = branch.add(_label(span, root, now))
        stack.extend((grown, child) for child in reversed(span.children))
    return tree


def _label(span: Span, root: Span, now: datetime) -> str:
    offset = (span.started - root.started).total_seconds()
    tries = f" [yellow]{span.attempts} attempts[/]" if span.attempts > 1 else ""
    error = f"\n[red]{escape(span.error)}[/]" if span.error else ""
    kind = "" if span.kind in ("Task", "Call", "Iteration") else f" [dim]{span.kind}[/]"
    start = "" if span is root else f"  [dim]+{offset:.2f} s[/]"
    taken = f"[bold]{span.seconds(now):.2f} s[/]"
    return f"{_MARKS[span.status]} {escape(span.name)}{kind}  {taken}{start}{tries}{error}"


def _plain(span: Span, now: datetime) -> dict[str, Any]:
    return {
        "name": span.name,
        "kind": span.kind,
        "status": span.status,
        "started": span.started.astimezone(UTC).isoformat(),
        "seconds": round(span.seconds(now), 3),
        "attempts": span.attempts,
        "error": span.error,
        "children": [_plain(child, now) for child in span.children],
    }
