"""`cairn bench scale` where OpenSearch is configured: its leg is timed in the same table."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infra.local.layout import PROJECT
from pydantic import SecretStr
from rich.console import Console

from benchmarks.scale.command import scale_bench, show
from cairn.adapters.opensearch.documents import ANY_VERSION
from cairn.cli.deps import Deps
from cairn.embedding.onnx import OnnxEmbedder
from cairn.settings.cli import CliSettings

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tests.plugins.opensearch import OpenSearch
    from tests.plugins.postgres import Database

MODEL = PROJECT / "build" / "model" / "bge-small-en-v1.5"


def quiet(stage: str, total: int) -> "AbstractContextManager[Callable[[int], None]]":
    return nullcontext(lambda steps: None)


def test_the_index_is_filled_timed_beside_postgresql_and_emptied(
    database: "Database", opensearch: "OpenSearch"
) -> None:
    settings = CliSettings.model_construct(
        database_url=SecretStr(database.owner_url),
        app_database_url=SecretStr(database.app_url),
        model_dir=Path(MODEL),
        opensearch_url=SecretStr(opensearch.url),
    )
    deps = Deps(read_settings=lambda: settings)
    bench = replace(scale_bench(deps, OnnxEmbedder(MODEL), quiet), motifs=50)
    measured = bench.run([1000], asked=10)

    found: dict[str, Any] = measured["sizes"]["1000"]["workspaces"]["20%"]
    assert 0 < found["opensearch_ms_p50"] <= found["opensearch_ms_p95"]
    assert found["opensearch_alike_at_10"] > 0.3
    console = Console(width=200, record=True, force_terminal=False)
    show(console, measured)
    assert "opensearch" in console.export_text()
    client = opensearch.connection.client
    client.indices.refresh(index=ANY_VERSION)
    assert client.count(index=ANY_VERSION)["count"] == 0
