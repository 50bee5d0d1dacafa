"""`cairn reembed` and `cairn reindex`: another embedding model, and nodes without a vector."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from cairn.cli.client import Failure
from cairn.cli.deps import Deps, Reembedding
from cairn.cli.options import Json, deps_of, print_json, table

if TYPE_CHECKING:
    from collections.abc import Callable

    from cairn.embedding.port import EmbeddingModel


ACCEPTED_LOSS = 0.02
"""Recall among ten may fall by so much; a sample of 200 moves by about as much by chance."""

To = Annotated[str, typer.Option("--to", help="A model by name, or NAME?dimensions=N.")]
ModelDir = Annotated[
    Path | None, typer.Option("--model-dir", help="A local model's folder; its name counts.")
]
BaseUrl = Annotated[
    str | None, typer.Option("--base-url", help="A server of OpenAI's format that has the model.")
]
Workspace = Annotated[UUID | None, typer.Option("--workspace", help="By default all.")]
Sample = Annotated[int, typer.Option("--sample", min=1, max=10_000, help="Questions to compare.")]
AcceptLoss = Annotated[
    float, typer.Option("--accept-loss", min=0, max=1, help="By how much recall@10 may fall.")
]
Switch = Annotated[
    bool, typer.Option("--switch", help="Then let the laptop's functions use the model.")
]
DropOld = Annotated[
    bool, typer.Option("--drop-old", help="Remove the other models' vectors; no way back.")
]


def reembed(
    ctx: typer.Context,
    to: To,
    model_dir: ModelDir = None,
    base_url: BaseUrl = None,
    workspace: Workspace = None,
    sample: Sample = 200,
    accept_loss: AcceptLoss = ACCEPTED_LOSS,
    switch: Switch = False,
    drop_old: DropOld = False,
    as_json: Json = False,
) -> None:
    """Give every node vectors of another model, and compare what the two find.

    Searches go on with the present model. May be stopped and repeated. Exit status 1 when --switch
    was asked for and a workspace would find less than is accepted.
    """
    deps = deps_of(ctx)
    if switch and (workspace or drop_old):
        raise Failure(
            "A deployment has one model for all its workspaces, and a way back after a switch.",
            advice="--switch goes without --workspace and --drop-old",
        )
    if switch and deps.deployment().stage != "local":
        raise Failure(
            "Only the laptop is switched by a command.",
            advice="deploy with the other model, repeat without --switch: docs/operate/models.md",
        )
    model_dir = model_dir.resolve() if model_dir else None
    change = deps.load_operator().reembedding(
        deps.deployment(), to, model_dir=model_dir, base_url=base_url, register=_registering(deps)
    )
    chosen = [workspace] if workspace else list(change.workspaces())
    reports = [
        _change_workspace(deps, change, item, sample=sample, drop_old=drop_old) for item in chosen
    ]
    worse = any(item["comparison"] and item["comparison"]["loss"] > accept_loss for item in reports)
    switched = switch and not worse and not _unfinished(reports)
    if switched:
        _switch(deps, to, model_dir, base_url)
        for item in reports:  # what the functions wrote with the former model until they ended
            item["after_switch"] = _fill(deps, change, UUID(item["workspace_id"]))
    _show(deps, reports, as_json=as_json, switched=switched)
    if switch and not switched:
        raise typer.Exit(1)


def _registering(deps: Deps) -> "Callable[[EmbeddingModel], None] | None":
    """Return what lets the database know a model, where its owner's URL is known."""
    from cairn.bootstrap.owner import register

    return partial(register, deps.owner_url) if deps.owner_url else None


def _change_workspace(
    deps: Deps, change: Reembedding, workspace_id: UUID, *, sample: int, drop_old: bool
) -> dict[str, Any]:
    filled = _fill(deps, change, workspace_id)
    with deps.err.status("comparing …"):
        comparison = change.compare(workspace_id, sample=sample)
    dropped = change.drop_others(workspace_id) if drop_old else 0
    return {
        "workspace_id": str(workspace_id),
        "filled": filled,
        "comparison": comparison,
        "dropped": dropped,
    }


def _fill(deps: Deps, change: Reembedding, workspace_id: UUID) -> dict[str, Any]:
    from rich.progress import Progress

    with Progress(console=deps.err, transient=True) as bar:
        task = bar.add_task(f"embedding {workspace_id}", total=None)
        return change.fill(
            workspace_id, lambda done, total: bar.update(task, completed=done, total=total)
        )


def _unfinished(reports: list[dict[str, Any]]) -> bool:
    return any(item["filled"]["left"] for item in reports)


def _switch(deps: Deps, to: str, model_dir: Path | None, base_url: str | None) -> None:
    """Keep the model in the laptop's state and start its functions and API with it."""
    values = {"CAIRN_EMBEDDER": "openai", "CAIRN_OPENAI_EMBEDDING_MODEL": to}
    if base_url:
        values["CAIRN_OPENAI_BASE_URL"] = base_url
    elif model_dir:
        values = {
            "CAIRN_EMBEDDER": "onnx",
            "CAIRN_MODEL_DIR": str(model_dir),
            "CAIRN_ONNX_EMBEDDING_MODEL": to,
        }
    else:
        return  # the deployment has it already
    try:
        deps.load_stack().use_embedder(values)
    except RuntimeError as exc:
        raise Failure(
            str(exc), advice="see the logs: cairn logs; the vectors of both are there"
        ) from exc


def _show(deps: Deps, reports: list[dict[str, Any]], *, as_json: bool, switched: bool) -> None:
    if as_json:
        return print_json({"workspaces": reports, "switched": switched})
    for item in reports:
        filled = item["filled"]
        deps.out.print(
            f"{item['workspace_id']}: {filled['nodes']} nodes got vectors of {filled['model']}, "
            f"{filled['embedded']} texts embedded, {filled['left']} left"
        )
        if item["comparison"]:
            deps.out.print(_compared(item["comparison"]))
        if item["dropped"]:
            deps.out.print(f"{item['dropped']} vectors of other models removed")
    if switched:
        deps.out.print("[green]switched[/]; the way back: cairn reembed --switch to the old one")


def _compared(comparison: dict[str, Any]) -> Any:
    shown = table("model", "recall@1", "recall@10", "MRR", "of the first's ten", "by its index")
    present, target = comparison["present"], comparison["target"]
    by_index = comparison["hnsw_recall_at_10"]
    for score, *others in (
        (present, "", ""),
        (
            target,
            f"{comparison['overlap_at_10']:.3f}",
            "no index" if by_index is None else f"{by_index:.3f}",
        ),
    ):
        numbers = (f"{score[name]:.3f}" for name in ("recall_at_1", "recall_at_10", "mrr"))
        shown.add_row(score["model"], *numbers, *others)
    return shown


POLL_SECONDS = 2.0
STUCK_SECONDS = 600.0
"""After so long without any progress nobody is at work."""

Wait = Annotated[bool, typer.Option("--wait", help="Wait until nothing waits for its vector.")]


def reindex(ctx: typer.Context, wait: Wait = False, as_json: Json = False) -> None:
    """Queue every node of the workspace that has no vector of the present embedding model.

    May be stopped and repeated. With --wait the exit status is 1 when the work of some failed.
    """
    deps = deps_of(ctx)
    counts = _queue(deps)
    state = _wait(deps) if wait else deps.client.get("/v1/status")
    counts |= {name: state[name] for name in ("pending_embeddings", "failed_embeddings")}
    if as_json:
        print_json(counts)
    else:
        _show_reindex(deps, counts)
    if wait and counts["failed_embeddings"]:
        raise typer.Exit(1)


def missing_vectors(deps: Deps) -> str | None:
    """Say how many nodes nobody embeds unless told to; empty when there are none.

    None when the key is no admin's: it may not ask.
    """
    if deps.client.get("/v1/whoami")["role"] != "admin":
        return None
    status = deps.client.get("/v1/reindex")
    left = status["missing"] - status["waiting"]
    if left <= 0:
        return ""
    nodes = "1 node has" if left == 1 else f"{left} nodes have"
    return f"{nodes} no vector of {status['model']}"


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


def _show_reindex(deps: Deps, counts: dict[str, Any]) -> None:
    deps.out.print(
        "{missing} nodes without a vector of {model}, {queued} of them queued just now; "
        "{pending_embeddings} wait, {failed_embeddings} failed".format_map(counts)
    )
    if counts["failed_embeddings"]:
        deps.err.print("[yellow]→ send them again: cairn redrive; why: cairn logs aws[/]")
