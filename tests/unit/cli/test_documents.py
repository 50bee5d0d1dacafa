import json
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

import pytest
from tests.unit.api.fakes import World
from tests.unit.cli.fakes import Shell

from cairn.access import Principal
from cairn.cli import documents, samples
from cairn.cli.failure import Failure
from cairn.retrieval.views import DocumentStatus, IngestionView


@dataclass
class Ingesting(World):
    """Its ingestions are ready when they were asked about three times."""

    asked: int = 0
    ends: DocumentStatus = DocumentStatus.READY

    def get_ingestion(self, principal: Principal, ingestion_id: UUID) -> IngestionView:
        self.asked += 1
        status = self.ends if self.asked >= 3 else DocumentStatus.PARSED
        error = {"detail": "encrypted"} if status is DocumentStatus.FAILED else None
        found = super().get_ingestion(principal, ingestion_id)
        return replace(found, status=status, error=error, sections=2, chunks=5)


def test_a_file_is_sent_with_its_type_and_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "notes.md"
    file.write_bytes(b"# Notes\n")
    world = Ingesting()
    shell = Shell(world=world)
    shown = shell.run("ingest", str(file), "--client", "acme")
    assert shown.exit_code == 0
    (sent,) = world.documents
    assert (sent.content, sent.media_type, sent.client_id) == (
        b"# Notes\n",
        "text/markdown",
        "acme",
    )
    assert sent.source_uri == file.resolve().as_uri()
    assert shell.slept == [documents.POLL_SECONDS] * 2
    assert "ready" in shown.stdout


def test_a_failed_ingestion_is_exit_status_1_and_says_why(tmp_path: Path) -> None:
    file = tmp_path / "locked.pdf"
    file.write_bytes(b"%PDF-1.7")
    shown = Shell(world=Ingesting(ends=DocumentStatus.FAILED)).run("ingest", str(file))
    assert (shown.exit_code, "encrypted" in shown.stderr) == (1, True)


def test_without_waiting_the_acceptance_is_the_answer(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("hello", encoding="utf-8")
    shown = Shell(world=Ingesting()).run("ingest", str(file), "--no-wait", "--json")
    assert json.loads(shown.stdout)["documents"][0]["status"] == "accepted"


def test_a_large_file_goes_through_an_upload_and_too_large_a_one_is_refused(
    tmp_path: Path,
) -> None:
    file = tmp_path / "huge.pdf"
    file.write_bytes(b"%PDF-1.7" + b"x" * (21 * 1024 * 1024))
    world = Ingesting()
    shown = Shell(world=world).run("ingest", str(file))
    assert (shown.exit_code, world.documents) == (1, [])
    assert "20 MB" in shown.stderr


def test_a_file_that_is_not_there_is_a_usage_error() -> None:
    assert Shell().run("ingest", "/nowhere/at/all.md").exit_code == 2


def test_waiting_for_ever_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "WAIT_SECONDS", 5.0)
    file = tmp_path / "notes.txt"
    file.write_text("hello", encoding="utf-8")
    shell = Shell(world=Ingesting(ends=DocumentStatus.PARSED))
    shown = shell.run("ingest", str(file))
    assert (shown.exit_code, "Gave up waiting" in shown.stderr) == (1, True)
    assert sum(shell.slept) > documents.WAIT_SECONDS


def test_the_shipped_samples_are_complete() -> None:
    found = samples.read_samples()
    assert len(found.memories) >= 60 + 8
    assert {each.suffix for each in found.documents} == {".md", ".html", ".pdf"}
    assert len(found.questions) >= 5
    told = [each for each in found.memories if each["type"] == "event"]
    assert all(each["occurred_at"] and each["session_id"] for each in told)


def test_varied_questions_take_each_document_first() -> None:
    asked = samples.varied(samples.read_samples().questions, 5)
    origins = [each.origin for each in asked]
    assert len(set(origins)) == 5
    assert sum(origin.startswith("documents/") for origin in origins) == 3


def test_a_question_is_answered_by_its_quote_or_its_answer() -> None:
    asked = samples.Question(text="?", answer="58", origin="s", quotes=("leaves 58 beds",))
    assert asked.answered_by(["That  leaves\n58 beds."])
    assert asked.answered_by(["It has 58 now"])
    assert not asked.answered_by(["no", "158 beds"])


def test_missing_samples_are_a_failure(tmp_path: Path) -> None:
    with pytest.raises(Failure):
        samples.read_samples(tmp_path / "nowhere")


@dataclass
class Embedding(Ingesting):
    """Nothing waits any more after its second look."""

    looks: int = 0

    def get_status(self, principal: Principal, /):  # type: ignore[no-untyped-def]
        self.looks += 1
        waiting = 3 if self.looks < 2 else 0
        return replace(super().get_status(principal), pending_embeddings=waiting)


def test_the_demo_goes_the_whole_way_and_reports_it() -> None:
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
