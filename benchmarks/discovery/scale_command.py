"""Builds the benchmark of communities that grow, over the configured PostgreSQL server."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from benchmarks.discovery.scale import DiscoveryScale, Uses
from benchmarks.scale.stand import environment_of
from cairn.cli.client import Failure
from cairn.cli.deps import NO_ENVIRONMENT

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from benchmarks.locomo.run import Progress
    from cairn.cli.deps import Deps
    from cairn.embedding.onnx import OnnxEmbedder


def discovery_scale_bench(deps: Deps, embedder: OnnxEmbedder, progress: Progress) -> DiscoveryScale:
    """Build the benchmark; its database is beside Cairn's own."""
    owner_url, app_url = deps.owner_url, deps.settings.app_database_url
    model_dir = deps.settings.model_dir
    if not owner_url or app_url is None or model_dir is None:
        raise Failure("The benchmark makes a database of its own.", advice=NO_ENVIRONMENT)

    @contextmanager
    def uses(url: str) -> Generator[Uses]:
        with services_over(url, model_dir, embedder) as opened:
            yield opened

    return DiscoveryScale(
        owner_url=owner_url,
        app_url=app_url.get_secret_value(),
        embedder=embedder,
        open_workspace=deps.load_operator().create_workspace,
        uses=uses,
        progress=progress,
        stopwatch=deps.stopwatch,
    )


@contextmanager
def services_over(url: str, model_dir: Path, embedder: OnnxEmbedder) -> Generator[Uses]:
    """Yield the API's use cases over a database, in this process, without models."""
    from cairn.bootstrap.api import ApiServices
    from cairn.bootstrap.parts import logger
    from cairn.settings import ApiSettings

    settings = ApiSettings.model_validate(environment_of(url, model_dir))
    services = ApiServices(settings, logger("bench", "CRITICAL"), embedder)
    with closing(services.opened):
        yield Uses(discover=services.discovery, search=services.search)
