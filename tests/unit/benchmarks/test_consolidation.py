"""`cairn bench consolidation`: its files, its arithmetic, and what it says when something lacks."""

import json
from pathlib import Path

import pytest
from tests.support.embedding import HashingEmbedder
from typer.testing import CliRunner

from benchmarks.consolidation.corpus import PairClass, read_pairs
from benchmarks.consolidation.run import ConsolidationBench, meets
from benchmarks.samples import SAMPLES
from cairn.cli.client import Failure
from cairn.cli.deps import Deps
from cairn.cli.main import app
from cairn.settings.cli import CliSettings

PAIRS = {
    PairClass.EXACT: (("The hut has a stove.", "the hut has a stove"),),
    PairClass.PARAPHRASE: (("We hike on Mondays.", "Our walks are each first weekday."),),
    PairClass.CONTRADICTION: (("Rent is 900 euros.", "Rent is 950 euros."),),
    PairClass.NEAR_MISS: (("Ida rows.", "Olaf sails."),),
}


def run(arguments: list[str]) -> tuple[int, str]:
    result = CliRunner().invoke(
        app,
        ["bench", "consolidation", *arguments],
        obj=Deps(read_settings=lambda: CliSettings.model_construct()),
    )
    return result.exit_code, " ".join(result.output.split())


@pytest.mark.parametrize(("name", "many"), [("pairs", 50), ("held-back", 25)])
def test_the_shipped_files_have_pairs_of_every_class(name: str, many: int) -> None:
    pairs = read_pairs(SAMPLES / "consolidation" / f"{name}.json")
    assert {one: len(texts) for one, texts in pairs.items()} == dict.fromkeys(PairClass, many)


def test_the_two_shipped_files_share_no_pair() -> None:
    first, second = (
        {pair for texts in read_pairs(SAMPLES / "consolidation" / name).values() for pair in texts}
        for name in ("pairs.json", "held-back.json")
    )
    assert not first & second


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"exact": [["one"]]}'])
def test_a_file_of_another_format_is_named(content: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(Failure, match=r"other\.json"):
        read_pairs(path)
    code, said = run([str(path)])
    assert code == 1
    assert "other.json" in said


def test_a_class_without_pairs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.json"
    path.write_text(json.dumps({item.value: [] for item in PairClass}), encoding="utf-8")
    with pytest.raises(Failure, match="without pairs"):
        read_pairs(path)


def test_without_the_model_it_says_what_is_missing() -> None:
    code, said = run([])
    assert code == 1
    assert "CAIRN_MODEL_DIR" in said


def test_what_is_merged_flagged_and_missed_is_counted() -> None:
    measured = ConsolidationBench(embedder=HashingEmbedder()).run(PAIRS)
    assert measured["merged"] == {"exact": 1, "paraphrase": 0, "contradiction": 0, "near_miss": 0}
    assert measured["flagged"]["near_miss"] == 0
    assert measured["duplicates"] == {"precision": 1.0, "recall": 0.5}
    assert [item["class"] for item in measured["missed"]] == ["paraphrase"]
    assert measured["wrong_supersedes"] == measured["wrong_in_batches"] == 0


def test_a_wrong_supersede_never_meets_what_is_asked() -> None:
    wrong = {**PAIRS, PairClass.NEAR_MISS: PAIRS[PairClass.EXACT]}
    measured = ConsolidationBench(embedder=HashingEmbedder()).run(wrong)
    assert measured["wrong_supersedes"] == measured["wrong_in_batches"] == 1
    assert not meets(measured)
