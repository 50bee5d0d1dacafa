"""Function folders, their descriptions and the assets made of them."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from infra.cdk.config import ROOT, SynthRefused
from infra.cdk.constructs.migrations import MIGRATOR
from infra.cdk.functions import FunctionSpec, discover
from infra.cdk.imports import NAMED, SHARED, SQL, STORES, STORES_PARTS
from infra.cdk.staging import stage_function
from layers.build import GROUPS
from tests.support.front import environment
from tests.support.openapi import document

USERS_OF_BUNDLED = {"cairn.bootstrap.connectors", "cairn.connectors.launching"}
OF_OTHERS = {  # import modules of other packages by their names
    "cairn.documents.formats.source",
    "cairn.embedding.onnx",
    "cairn.recall.rerank",
}


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


def files_in(asset: Path) -> set[str]:
    return {str(path.relative_to(asset)) for path in asset.rglob("*") if path.is_file()}


def test_an_asset_holds_the_handler_and_what_it_can_import(tmp_path: Path) -> None:
    files = files_in(stage_function(ROOT / "functions" / "audit", tmp_path))
    assert {"handler.py", "cairn/__init__.py", "cairn/kernel/errors.py"} <= files
    assert "cairn/anchors/verify_chains.py" in files  # imported by a function
    assert "cairn/enrichment/rows.py" in files  # named in a table
    assert "cairn/adapters/postgres/queries/ledger.sql" in files  # read
    assert not [name for name in files if name.endswith((".pyc", ".toml")) or "tests/" in name]


@pytest.mark.parametrize("spec", discover().values(), ids=lambda spec: spec.name)
def test_an_asset_leaves_out_what_only_others_use(spec: FunctionSpec, tmp_path: Path) -> None:
    files = files_in(stage_function(spec.folder, tmp_path))
    assert not [name for name in files if name.startswith(("cairn/cli/", "cairn/settings/cli"))]
    assert not [name for name in files if name.startswith("cairn/adapters/postgres/migrations/")]
    routes = any(name.startswith("cairn/api/routes/") for name in files)
    assert routes == (spec.name == "api")


def test_the_migrator_holds_the_migrations_and_little_else(tmp_path: Path) -> None:
    files = files_in(stage_function(MIGRATOR.folder, tmp_path))
    shipped = (ROOT / "shared" / "cairn" / "adapters" / "postgres" / "migrations").rglob("*.sql")
    assert {path.name for path in shipped} <= {Path(name).name for name in files}
    assert not [name for name in files if "/api/" in name or "/retrieval/" in name]
    assert {Path(name).name for name in files if "/queries/" in name} == {"embedding_model.sql"}


@pytest.mark.parametrize("folder", [spec.folder for spec in (*discover().values(), MIGRATOR)])
def test_an_asset_has_the_data_files_that_are_called_as_its_modules(
    folder: Path, tmp_path: Path
) -> None:
    asset = stage_function(folder, tmp_path)
    wanted = {
        file.relative_to(SHARED)
        for module in asset.rglob("cairn/**/*.py")
        for file in (SHARED / module.relative_to(asset)).parent.glob(f"{module.stem}.*")
        if file.suffix != ".py"
    }
    assert not {str(file) for file in wanted if not (asset / file).is_file()}


@pytest.mark.parametrize("folder", [spec.folder for spec in (*discover().values(), MIGRATOR)])
def test_an_asset_has_every_query_that_its_modules_name(folder: Path, tmp_path: Path) -> None:
    asset = stage_function(folder, tmp_path)
    shipped = {path.stem for path in asset.rglob("queries/*.sql")}
    nouns = {path.stem for path in (SHARED / "cairn").rglob("queries/*.sql")}
    name = re.compile(rf'"({"|".join(nouns)})\.[a-z_{{]')
    texts = [path.read_text(encoding="utf-8") for path in asset.rglob("*.py")]
    assert {noun for text in texts for noun in name.findall(text)} <= shipped


@pytest.mark.parametrize("spec", discover().values(), ids=lambda spec: spec.name)
def test_an_asset_has_every_part_of_the_stores_that_its_modules_ask_for(
    spec: FunctionSpec, tmp_path: Path
) -> None:
    asset = stage_function(spec.folder, tmp_path)
    texts = [path.read_text(encoding="utf-8") for path in asset.rglob("*.py")]
    asked = {part for text in texts for part in re.findall(r"\bstores\.(\w+)", text)}
    modules = {STORES_PARTS[part] for part in asked & STORES_PARTS.keys()}
    assert not [
        module for module in modules if not (asset / f"{module.replace('.', '/')}.py").is_file()
    ]


ASK_FOR_THE_DOCUMENT = """
import json, sys
asset = sys.argv[1]
sys.path.insert(0, asset)
import handler
event = json.load(sys.stdin)
event["rawPath"] = event["requestContext"]["http"]["path"] = "/openapi.json"
answer = handler.handler(event, None)
assert answer["statusCode"] == 200, answer
ours = [module for name, module in sys.modules.items() if name.split(".")[0] == "cairn"]
assert all(module.__file__.startswith(asset) for module in ours)
print(answer["body"])
"""


def test_the_asset_of_the_api_makes_the_whole_openapi_document(tmp_path: Path) -> None:
    """Types of answers are imported when it is made: also those that only type checkers import."""
    asset = stage_function(discover()["api"].folder, tmp_path / "asset")
    done = subprocess.run(
        [sys.executable, "-I", "-c", ASK_FOR_THE_DOCUMENT, str(asset)],
        input=(ROOT / "events" / "api" / "health.json").read_text(encoding="utf-8"),
        env=environment("postgresql://nobody@127.0.0.1:1/none", tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout.splitlines()[-1])
    assert made["paths"] == json.loads(json.dumps(document()["paths"]))
    assert made["components"] == json.loads(json.dumps(document()["components"]))


def test_modules_imported_by_a_name_are_told_to_the_staging() -> None:
    users = {
        ".".join(path.relative_to(SHARED).with_suffix("").parts)
        for path in (SHARED / "cairn").rglob("*.py")
        if re.search(r'\bimport_module\(|"-m"', path.read_text(encoding="utf-8"))
        and "cli" not in path.relative_to(SHARED).parts
    }
    ours = NAMED.keys() - {"cairn.connectors.launching"} | {STORES, SQL}
    assert users == ours | USERS_OF_BUNDLED | OF_OTHERS


def test_staging_again_removes_what_is_gone_and_leaves_the_rest(tmp_path: Path) -> None:
    asset = stage_function(ROOT / "functions" / "audit", tmp_path)
    untouched = (asset / "handler.py").stat().st_mtime_ns
    (asset / "cairn" / "left_over.py").write_text("", encoding="utf-8")
    (asset / "old").mkdir()
    assert stage_function(ROOT / "functions" / "audit", tmp_path) == asset
    assert not (asset / "cairn" / "left_over.py").exists()
    assert not (asset / "old").exists()
    assert (asset / "handler.py").stat().st_mtime_ns == untouched
