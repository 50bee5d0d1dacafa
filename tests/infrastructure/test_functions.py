"""Function folders, their descriptions and the assets made of them."""

from pathlib import Path

import pytest
from infra.cdk.config import ROOT, SynthRefused
from infra.cdk.functions import discover
from infra.cdk.staging import stage_function
from layers.build import GROUPS


def test_every_folder_with_a_handler_is_a_function() -> None:
    folders = {path.parent.name for path in (ROOT / "functions").glob("*/handler.py")}
    assert folders == set(discover())
    assert folders >= {"api", "audit", "embed", "ingest", "retrieve"}


def test_functions_name_layers_that_are_built() -> None:
    for spec in discover().values():
        assert spec.layers[0] == "base", spec.name
        assert set(spec.layers) <= {*GROUPS, "model"}, spec.name


def test_a_handler_without_a_description_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plan").mkdir()
    (tmp_path / "plan" / "handler.py").write_text("", encoding="utf-8")
    with pytest.raises(SynthRefused, match=r"no function.toml"):
        discover(tmp_path)


def test_more_layers_than_lambda_takes_are_refused(tmp_path: Path) -> None:
    (tmp_path / "plan").mkdir()
    (tmp_path / "plan" / "handler.py").write_text("", encoding="utf-8")
    (tmp_path / "plan" / "function.toml").write_text(
        'description = "x"\nlayers = ["a", "b", "c", "d", "e", "f"]\n', encoding="utf-8"
    )
    with pytest.raises(SynthRefused, match="5 layers"):
        discover(tmp_path)


def test_an_asset_holds_the_handler_and_the_package_and_nothing_else(tmp_path: Path) -> None:
    asset = stage_function(ROOT / "functions" / "audit", tmp_path)
    files = {str(path.relative_to(asset)) for path in asset.rglob("*") if path.is_file()}
    assert {"handler.py", "cairn/__init__.py", "cairn/errors.py"} <= files
    assert not [name for name in files if name.endswith((".pyc", ".toml")) or "tests/" in name]


def test_staging_again_removes_what_is_gone_and_leaves_the_rest(tmp_path: Path) -> None:
    asset = stage_function(ROOT / "functions" / "audit", tmp_path)
    untouched = (asset / "handler.py").stat().st_mtime_ns
    (asset / "cairn" / "left_over.py").write_text("", encoding="utf-8")
    (asset / "old").mkdir()
    assert stage_function(ROOT / "functions" / "audit", tmp_path) == asset
    assert not (asset / "cairn" / "left_over.py").exists()
    assert not (asset / "old").exists()
    assert (asset / "handler.py").stat().st_mtime_ns == untouched
