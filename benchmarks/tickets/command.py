"""`cairn bench tickets`: puts the stage up, works each file of tickets, sums up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.tickets.corpus import read_tickets
from cairn.cli.client import Failure
from cairn.cli.deps import NO_ENVIRONMENT
from cairn.settings.cli import model_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.locomo.run import Progress
    from cairn.adapters.postgres.database import Database
    from cairn.cli.deps import Deps
    from cairn.embedding.onnx import OnnxEmbedder
    from cairn.investigations.ports import Planner
    from cairn.settings import ModelSettings


def measured_tickets(
    deps: Deps, embedder: OnnxEmbedder, progress: Progress, files: Sequence[Path]
) -> dict[str, Any]:
    """Return the numbers by file, and who planned; Failure without a server to work on."""
    from benchmarks.tickets.run import TicketsBench, summed_up
    from benchmarks.tickets.world import world_over

    owner_url, app_url = deps.owner_url, deps.settings.app_database_url
    if not owner_url or app_url is None:
        raise Failure("The benchmark makes databases of its own.", advice=NO_ENVIRONMENT)
    samples = {file.stem: read_tickets(file) for file in files}
    if len(samples) != len(files):
        raise Failure("Two of the files have one name: their numbers could not be told apart.")
    models = model_settings(Path.cwd())
    with world_over(
        owner_url,
        app_url.get_secret_value(),
        embedder=embedder,
        open_workspace=deps.load_operator().create_workspace,
        planner_over=lambda opened: _planner(models, opened),
    ) as world:
        bench = TicketsBench(world=world, progress=progress, stopwatch=deps.stopwatch)
        return {
            "provider": _provider(models),
            "sets": {name: summed_up(bench.run(name, given)) for name, given in samples.items()},
        }


def _planner(settings: ModelSettings, opened: Database) -> Planner:
    from cairn.bootstrap.plan import planner

    return planner(settings, opened)


def _provider(settings: ModelSettings) -> str:
    """Return the names of the providers that are asked."""
    from cairn.bootstrap.models import chat_models

    return ", ".join(model.provider for model in chat_models(settings)) or "heuristic"
