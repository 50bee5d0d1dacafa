import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.api.fakes import World
from tests.unit.cli.fakes import Ingesting, Shell

from benchmarks.demo import command
from benchmarks.demo.community import EXPECTED
from benchmarks.demo.talk import FACT
from benchmarks.samples import Question, read_samples, varied
from cairn.cli.client import Failure
from cairn.kernel.access import Principal
from cairn.reading.views import DocumentStatus


def test_the_shipped_samples_are_complete() -> None:
    found = read_samples()
    assert len(found.memories) >= 60 + 8
    assert {each.suffix for each in found.documents} == {".md", ".html", ".pdf"}
    assert len(found.questions) >= 5
    told = [each for each in found.memories if each["type"] == "event"]
    assert all(each["occurred_at"] and each["session_id"] for each in told)


def test_varied_questions_take_each_document_first() -> None:
    asked = varied(read_samples().questions, 5)
    origins = [each.origin for each in asked]
    assert len(set(origins)) == 5
    assert sum(origin.startswith("documents/") for origin in origins) == 3


def test_a_question_is_answered_by_its_quote_or_its_answer() -> None:
    asked = Question(text="?", answer="58", origin="s", quotes=("leaves 58 beds",))
    assert asked.answered_by(["That  leaves\n58 beds."])
    assert asked.answered_by(["It has 58 now"])
    assert not asked.answered_by(["no", "158 beds"])


def test_missing_samples_are_a_failure(tmp_path: Path) -> None:
    with pytest.raises(Failure):
        read_samples(tmp_path / "nowhere")


@dataclass
class Embedding(Ingesting):
    """Nothing waits any more after its second look."""

    looks: int = 0

    def get_status(self, principal: Principal, /):  # type: ignore[no-untyped-def]
        self.looks += 1
        waiting = 3 if self.looks < 2 else 0
        return replace(super().get_status(principal), pending_embeddings=waiting)


def chatted(_: object) -> list[dict[str, Any]]:
    """A chat that went well; on a real stack `make run` has it."""
    recalled = {"source": "rules", "answer": FACT, "citations": ["[memory:1]"], "message": "?"}
    return [recalled, recalled, {"message": "(yes)", "answer": "done: deleted"}]


def met(_: object) -> dict[str, Any]:
    """A community that went well; tests/integration/discovery/test_community.py has it."""
    return {
        "people": {"ilka": "Ilka", EXPECTED: "Benno"},
        "asks": "ilka",
        "text": "?",
        "match": {"name": "Benno", "score": 80, "intent": "?", "reason": "?"},
        "negotiation": {"outcome": "accepted", "turns": []},
        "cards": {
            who: dict.fromkeys(("headline", "summary", "why_you", "suggested_action"), "?")
            for who in ("ilka", EXPECTED)
        },
    }


def test_the_demo_goes_the_whole_way_and_reports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "talk", chatted)
    monkeypatch.setattr(command, "community", met)
    found = {"text": "58 beds", "scores": {"relevance_score": 0.9}}
    world = Embedding(results=(found,), first_bad_position=None)
    shell = Shell(world=world)
    shown = shell.run("demo", "--json")
    report = json.loads(shown.stdout)
    assert shown.exit_code == 0
    assert set(report["memories"]) == {"created"}
    assert [each["status"] for each in report["documents"]] == ["ready"] * 3
    assert len(report["questions"]) == 5
    assert report["questions"][0]["results"][0]["text"] == "58 beds"
    assert report["ledger"]["ok"] is True
    assert {each.source_uri for each in world.documents} == {
        "sample://handbook.md",
        "sample://huts.html",
        "sample://hut-link-agreement.pdf",
    }
    told = shell.run("demo")
    assert report["questions"][0]["query"] in told.stdout
    assert "the ledger holds" in told.stdout


@pytest.mark.parametrize(
    "world",
    [
        Embedding(ends=DocumentStatus.FAILED, first_bad_position=None),
        Embedding(first_bad_position=2),
    ],
    ids=["document", "ledger"],
)
def test_the_demo_fails_when_a_document_or_the_ledger_does(world: World) -> None:
    assert Shell(world=world).run("demo", "--json").exit_code == 1
