"""The sample texts say what their questions claim, and parse into what the demo shows."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from cairn.documents.media import media_type_of
from cairn.documents.parse import parse
from cairn.documents.parsed import DocumentTree
from cairn.documents.split import split

SAMPLES = Path(__file__).parents[3] / "samples"
QUESTIONS: list[dict[str, Any]] = json.loads((SAMPLES / "questions.json").read_text("utf-8"))
TURNS: list[dict[str, Any]] = [
    json.loads(line) for line in (SAMPLES / "conversation.ndjson").read_text("utf-8").splitlines()
]


def tree(path: Path) -> DocumentTree:
    media_type = media_type_of(path.name)
    assert media_type is not None
    return split(parse(path.read_bytes(), media_type), lambda text: len(text) // 4 + 1)


def test_the_conversation_has_two_speakers_and_dated_sessions_in_order() -> None:
    assert len(TURNS) >= 70
    assert {turn["speaker"] for turn in TURNS} == {"Ines Calderon", "Tobias Wehrle"}
    times = [datetime.fromisoformat(turn["occurred_at"]) for turn in TURNS]
    assert times == sorted(times)
    sessions: dict[str, list[int]] = {}
    for turn in TURNS:
        sessions.setdefault(turn["session_id"], []).append(turn["sequence"])
    assert len(sessions) >= 5
    assert all(numbers == list(range(len(numbers))) for numbers in sessions.values())


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["id"])
def test_each_source_of_a_question_holds_its_quote_in_one_place(question: dict[str, Any]) -> None:
    assert question["sources"]
    for source in question["sources"]:
        if "document" in source:
            texts = [" ".join(c.text.split()) for c in tree(SAMPLES / source["document"]).chunks]
        else:
            place = (source["session_id"], source["sequence"])
            texts = [t["text"] for t in TURNS if (t["session_id"], t["sequence"]) == place]
        assert any(source["quote"] in text for text in texts), source


def test_there_are_three_documents_one_a_pdf_of_three_pages() -> None:
    documents = sorted(path.name for path in (SAMPLES / "documents").iterdir())
    assert documents == ["handbook.md", "hut-link-agreement.pdf", "huts.html"]
    found = tree(SAMPLES / "documents" / "hut-link-agreement.pdf")
    assert max(chunk.page_to or 0 for chunk in found.chunks) == 3
    assert ("Agreement on the hut links", "4. Data") in [each.headings for each in found.sections]


def test_the_pdf_reads_like_its_source_text() -> None:
    source = (SAMPLES / "sources" / "hut-link-agreement.txt").read_text("utf-8")
    paragraphs = [part for part in source.split("\n\n") if not part.startswith("#")]
    text = " ".join(
        " ".join(chunk.text.split())
        for chunk in tree(SAMPLES / "documents" / "hut-link-agreement.pdf").chunks
    )
    assert [part for part in paragraphs if " ".join(part.split()) not in text] == []


def test_hidden_text_and_scripts_of_the_page_are_not_found() -> None:
    text = "\n".join(chunk.text for chunk in tree(SAMPLES / "documents" / "huts.html").chunks)
    assert "Reto Bezzola" in text
    assert not [
        word for word in ("TEAM-ONLY", "dataLayer", "checked with", "Wardens") if word in text
    ]


def test_memories_hold_the_promised_kinds_and_supersede_each_other() -> None:
    memories: list[dict[str, Any]] = json.loads((SAMPLES / "memories.json").read_text("utf-8"))
    kinds = [memory["type"] for memory in memories]
    assert (kinds.count("fact"), kinds.count("status"), kinds.count("decision")) == (8, 3, 2)
    keys = [memory["key"] for memory in memories if "key" in memory]
    assert sorted({key for key in keys if keys.count(key) == 2}) == [
        "booking.deposit",
        "huts.grauwand.capacity",
        "payments.provider",
    ]
