import json
from pathlib import Path

import pytest
from tests.unit.cli.fakes import Ingesting, Shell

from cairn.cli import documents
from cairn.reading.views import DocumentStatus


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
    file.write_bytes(b"%PDF-1.7" + b"x" * 50_000_000)
    world = Ingesting()
    shown = Shell(world=world).run("ingest", str(file))
    assert (shown.exit_code, world.documents) == (1, [])
    assert "50 MB" in shown.stderr


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
