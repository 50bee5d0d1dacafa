"""People's names among capitalised names: precision and recall over the committed set."""

import json
from pathlib import Path

import pytest

from cairn.graph.entities import extract_entities
from cairn.graph.person_names import is_person_name

NAMES = Path(__file__).parents[3] / "samples" / "relations" / "names.json"
LEAST_PRECISION, LEAST_RECALL = 0.95, 0.9


def test_names_of_people_are_told_from_other_names() -> None:
    names = json.loads(NAMES.read_text(encoding="utf-8"))
    missed = [item for item in names["person"] if not is_person_name(item)]
    taken = [item for item in names["other"] if is_person_name(item)]
    right = len(names["person"]) - len(missed)
    precision, recall = right / (right + len(taken)), right / len(names["person"])
    said = f"precision {precision:.3f}, recall {recall:.3f}"
    print(said, missed, taken, sep="\n")  # noqa: T201 - the measure
    assert precision >= LEAST_PRECISION, (said, taken)
    assert recall >= LEAST_RECALL, (said, missed)


def test_ana_lopez_is_a_person() -> None:
    found = extract_entities("We asked Ana Lopez about it.", client_id=None, source_agent=None)
    assert [(item.name, item.type) for item in found] == [("Ana Lopez", "person")]


@pytest.mark.parametrize("name", ["", " ", "Ana", "ana lopez", "Ana 7", "Ana\x00Lopez", "A" * 500])
def test_what_is_no_whole_name_is_nobody(name: str) -> None:
    assert not is_person_name(name)
