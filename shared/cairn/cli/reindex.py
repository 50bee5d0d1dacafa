"""`cairn reindex`: vectors of the present model for what has none, after the model changed."""

from typing import Annotated, Any

import typer

from cairn.cli.deps import Deps
from cairn.cli.failure import Failure
from cairn.cli.options import Json, deps_of, print_json

POLL_SECONDS = 2.0
STUCK_SECONDS = 600.0
"""After so long without any progress nobody is at work."""

Wait = Annotated[bool, typer.Option("--wait", help="Wait until nothing waits for its vector.")]


def reindex(ctx: typer.Context, wait: Wait = False, as_json: Json = False) -> None:
    """Queue every node of the workspace that has no vector of the present embedding model.

    May be stopped and repeated. With --wait the exit status is 1 when the work of some failed.
    """
    deps = deps_of(ctx)
    told = _queue(deps)
    state = _wait(deps) if wait else deps.client.get("/v1/status")
    told |= {name: state[name] for name in ("pending_embeddings", "failed_embeddings")}
    if as_json:
        print_json(told)
    else:
        _show(deps, told)
    if wait and told["failed_embeddings"]:
        raise typer.Exit(1)


def missing_vectors(deps: Deps) -> str | None:
    """Say how many nodes nobody embeds unless told to; empty when there are none.

    None when the key is no admin's: it may not ask.
    """
    if deps.client.get("/v1/whoami")["role"] != "admin":
        return None
    found = deps.client.get("/v1/reindex")
    left = found["missing"] - found["waiting"]
    if left <= 0:
        return ""
    nodes = "1 node has" if left == 1 else f"{left} nodes have"
    return f"{nodes} no vector of {found['model']}"


def advise_reindex(deps: Deps) -> None:
    """Print what to do about nodes without a vector, if there are any."""
    if missing := missing_vectors(deps):
        deps.out.print(f"[yellow]→ {missing}: cairn reindex --wait[/]")


def _queue(deps: Deps) -> dict[str, Any]:
    """Go through the whole workspace, a part a request; return the sums."""
    missing = queued = 0
    path, part = "/v1/reindex", dict[str, Any]()
    with deps.err.status("looking for nodes without a vector …") as line:
        while part.get("more", True):
            part = deps.client.post(path, {})
            missing, queued = missing + part["missing"], queued + part["queued"]
            line.update(f"{queued} nodes queued …")
            path = f"/v1/reindex?after={part['after']}"
    return {"model": part["model"], "missing": missing, "queued": queued}


def _wait(deps: Deps) -> dict[str, Any]:
    """Return the workspace's status once all that waits is done or failed.

    Failure when nothing moved for ten minutes.
    """
    state = deps.client.get("/v1/status")
    moved = deps.stopwatch()
    with deps.err.status("waiting …") as line:
        while state["pending_embeddings"] > state["failed_embeddings"]:
            left = state["pending_embeddings"]
            if deps.stopwatch() - moved > STUCK_SECONDS:
                raise Failure(
                    f"Gave up waiting: {left} nodes wait for their vector.",
                    advice="see what is wrong: cairn doctor",
                )
            line.update(f"{left} nodes wait for their vector …")
            deps.sleep(POLL_SECONDS)
            state = deps.client.get("/v1/status")
            if state["pending_embeddings"] != left:
                moved = deps.stopwatch()
    return state


def _show(deps: Deps, told: dict[str, Any]) -> None:
    deps.out.print(
        f"{told['missing']} nodes without a vector of {told['model']}, {told['queued']} of them "
        f"queued just now; {told['pending_embeddings']} wait, {told['failed_embeddings']} failed"
    )
    if told["failed_embeddings"]:
        deps.err.print("[yellow]→ send them again: cairn redrive; why: cairn logs aws[/]")
