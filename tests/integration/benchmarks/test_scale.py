"""`cairn bench scale` on a real server: a database of its own, measured and gone again."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from infra.local.layout import PROJECT
from pydantic import SecretStr
from rich.console import Console

from benchmarks.scale.command import curve, scale_bench, show
from cairn.cli.deps import Deps
from cairn.embedding.onnx import OnnxEmbedder
from cairn.settings.cli import CliSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from contextlib import AbstractContextManager

    from tests.plugins.postgres import Database

MODEL = PROJECT / "build" / "model" / "bge-small-en-v1.5"


def quiet(stage: str, total: int) -> "AbstractContextManager[Callable[[int], None]]":
    from contextlib import contextmanager

    @contextmanager
    def nothing() -> "Generator[Callable[[int], None]]":
        yield lambda steps: None

    return nothing()


@pytest.fixture(scope="module")
def measured(database: "Database") -> dict[str, Any]:
    settings = CliSettings.model_construct(
        database_url=SecretStr(database.owner_url),
        app_database_url=SecretStr(database.app_url),
        model_dir=Path(MODEL),
    )
    deps = Deps(read_settings=lambda: settings)
    bench = replace(scale_bench(deps, OnnxEmbedder(MODEL), quiet), motifs=100)
    return bench.run([1000, 2000], asked=10)


def test_the_vector_leg_finds_what_exact_search_finds(measured: dict[str, Any]) -> None:
    found = measured["sizes"]["2000"]["workspaces"]
    assert found["20%"]["rows"] == 400
    assert found["0.2%"]["rows"] == 4
    assert all(each["vector_recall_at_10"] >= 0.95 for each in found.values())


def test_every_part_is_timed_and_compared_with_the_floor(measured: dict[str, Any]) -> None:
    found = measured["sizes"]["1000"]["workspaces"]["20%"]
    for part in ("embed", "vector", "keyword", "floor", "recall", "http"):
        assert 0 < found[f"{part}_ms_p50"] <= found[f"{part}_ms_p95"]
    assert found["recall_to_floor_p50"] > 0


def test_growth_is_shown_as_numbers_and_as_a_curve(measured: dict[str, Any]) -> None:
    assert measured["growth"]["20%"]["recall_ms_p50"] > 0
    console = Console(width=160, record=True, force_terminal=False)
    show(console, measured)
    shown = console.export_text()
    assert "2,000 rows" in shown
    assert "growth of p50" in shown
    assert "recall" in curve(measured["sizes"], "20%")


def test_the_database_it_made_is_gone(measured: dict[str, Any], database: "Database") -> None:
    with psycopg.connect(database.owner_url) as connection:
        names = connection.execute("SELECT datname FROM pg_database").fetchall()
    assert ("cairn_bench_scale",) not in names
