"""Relations in sentences as people write them: precision and recall over the committed set."""

import json
from pathlib import Path

from tests.unit.consolidation.batches import memory

from cairn.consolidation.relationships import relationships

SENTENCES = Path(__file__).parents[3] / "samples" / "relations" / "sentences.json"
LEAST_PRECISION, LEAST_RECALL = 0.95, 0.9


def test_stated_relations_are_found_and_doubtful_ones_are_not() -> None:
    found = right = expected = 0
    wrong: list[str] = []
    for text, wanted in json.loads(SENTENCES.read_text(encoding="utf-8")):
        given = [memory(1, text, client_id="acme-corp")]
        stated = {
            (relationship.source.name, relationship.relation.value, relationship.target.name)
            for relationship in relationships(given, {})
        }
        meant = {tuple(item) for item in wanted}
        found, right, expected = (
            found + len(stated),
            right + len(stated & meant),
            expected + len(meant),
        )
        if stated != meant:
            wrong.append(f"{text} {sorted(stated - meant)} missing {sorted(meant - stated)}")
    precision, recall = right / found, right / expected
    said = f"precision {precision:.3f}, recall {recall:.3f} of {expected} relations"
    print(said, *wrong, sep="\n")  # noqa: T201 - the measure
    assert precision >= LEAST_PRECISION, (said, wrong)
    assert recall >= LEAST_RECALL, (said, wrong)


def test_who_works_on_something_is_a_person_and_a_team_is_not() -> None:
    [person] = relationships([memory(1, "Xenia Obando works on the Halyard project.")], {})
    assert (person.source.name, person.source.type) == ("Xenia Obando", "person")
    [team] = relationships([memory(1, "Platform Team works on the Halyard project.")], {})
    assert team.source.type == "concept"
