"""`cairn tool-calls`: which tools agents called, with what, and what came of it."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Annotated, Any

import typer

from cairn.cli.deps import Deps
from cairn.cli.options import Json, deps_of, escape, moment, print_json, table

_STATES = {"applied": "green", "failed": "red", "denied": "red", "unknown": "red"}
SHOWN_CHARS = 120


def tool_calls(
    ctx: typer.Context,
    connector: Annotated[str | None, typer.Option(help="Its tools only.")] = None,
    investigation: Annotated[str | None, typer.Option(help="Those of this one only.")] = None,
    session: Annotated[str | None, typer.Option(help="Those of this session only.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 50,
    as_json: Json = False,
) -> None:
    """List tool calls, the newest first: owner, input, output, error, times."""
    deps = deps_of(ctx)
    pages = deps.client.pages(
        "/v1/tool-calls",
        connector=connector,
        investigation_id=investigation,
        session_id=session,
        limit=min(limit, 200),
    )
    found = list(islice(pages, limit))
    print_json(found) if as_json else show_calls(deps, found)


def show_calls(deps: Deps, calls: Iterable[Mapping[str, Any]]) -> None:
    """Print tool calls as a table; `--json` has them whole."""
    shown = table("asked", "tool", "state", "ms", "input", "output")
    for one in calls:
        state = f"[{_STATES.get(one['state'], 'yellow')}]{one['state']}[/]"
        state += " (dry run)" if one["dry_run"] else ""
        state += f"\n{escape(one['error'])}" if one["error"] else ""
        shown.add_row(
            moment(one["proposed_at"]),
            escape(one["tool"]),
            state,
            "" if one["ms"] is None else str(one["ms"]),
            escape(_short(one["input"], readable=one["readable"])),
            escape(_short(one["output"], readable=one["readable"])),
        )
    deps.out.print(shown if shown.row_count else "no tool was called")


def _short(text: str | None, *, readable: bool) -> str:
    if text is None:
        return "" if readable else "(forgotten)"
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARS else line[: SHOWN_CHARS - 1] + "…"
