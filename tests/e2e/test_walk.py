"""Real text on the way through the whole stack: remembered, ingested, embedded, found, deleted."""

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.e2e.cli import cairn
from tests.e2e.tenant import Tenant, good, open_workspace, refused
from tests.plugins.waiting import eventually

from benchmarks.samples import Samples, read_samples

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

FIRST = 5
LEAST_ANSWERED = 0.8
MEDIA = {".md": "text/markdown", ".html": "text/html", ".pdf": "application/pdf"}


@pytest.fixture(scope="module")
def samples() -> Samples:
    return read_samples()


@pytest.fixture(scope="module")
def ingested(laptop: "Laptop", samples: Samples) -> Tenant:
    """A workspace with everything that is shipped in samples/, embedded."""
    tenant = open_workspace(laptop, "samples")
    results = tenant.remember(*samples.memories)
    assert {each["outcome"] for each in results} <= {"created", "superseded"}
    accepted = [tenant.ingest(path.name, **contents(path)) for path in samples.documents]
    ended = [tenant.ended(each["ingestion_id"]) for each in accepted]
    assert [each["status"] for each in ended] == ["ready"] * len(samples.documents)
    tenant.all_embedded()
    return tenant


def contents(path: Path) -> dict[str, str]:
    encoded = base64.b64encode(path.read_bytes()).decode()
    return {"content_base64": encoded, "media_type": MEDIA[path.suffix]}


def document_named(tenant: Tenant, source_uri: str) -> dict[str, Any]:
    listed = tenant.get("/v1/documents")["items"]
    found = next(each for each in listed if each["source_uri"] == source_uri)
    return tenant.get(f"/v1/documents/{found['id']}")


def chunks(tenant: Tenant, document_id: str) -> dict[str, str]:
    """The document's chunks as they are now, text by id."""
    rows = tenant.rows(
        "SELECT id, document_id, text FROM node WHERE workspace_id = %(id)s "
        "AND label = 'Chunk' AND state = 'active' AND deleted_at IS NULL"
    )
    return {str(one): text for one, of, text in rows if str(of) == document_id}


def test_a_batch_is_found_by_keyword_at_once_and_by_meaning_soon(workspace: Tenant) -> None:
    first, second = workspace.remember(
        {"text": "The zeppelin hangar opens at noon.", "type": "fact", "key": "hangar"},
        {"text": "Lunch is served in the canteen.", "type": "event"},
    )
    assert [first["outcome"], second["outcome"]] == ["created", "created"]
    at_once = workspace.search("zeppelin")
    assert at_once["results"][0]["node_id"] == first["id"]
    assert at_once["results"][0]["scores"]["keyword"] > 0
    workspace.all_embedded(seconds=20)
    by_meaning = workspace.search("When can visitors see the airship?")
    top = by_meaning["results"][0]
    assert top["node_id"] == first["id"]
    assert top["scores"]["vector"] > 0.3
    assert by_meaning["meta"]["legs"]["vector"]["found"] >= 1
    assert by_meaning["meta"]["degraded"] == []


def test_the_gateway_and_uvicorn_answer_alike(workspace: Tenant) -> None:
    gateway = workspace.through_gateway()
    written = gateway.tell("A heron stood at the weir.", session_id="walk", sequence=1)
    assert written["outcome"] == "created"

    def alike() -> bool:  # once no worker is at it between the two
        path = f"/v1/memories/{written['id']}"
        return bool(workspace.get(path) == gateway.get(path))

    eventually(alike, what="the same answer")
    assert gateway.texts("heron") == workspace.texts("heron") == ["A heron stood at the weir."]


def test_a_result_says_where_it_comes_from(workspace: Tenant) -> None:
    written = workspace.tell(
        "Olga counted forty crates.",
        session_id="harbour",
        sequence=0,
        trace_id="trace-7",
        source_agent="tally",
        occurred_at="2026-05-04T07:30:00Z",
    )
    answer = workspace.search("crates")
    assert answer["results"][0]["retrieval_reason"] == "direct"
    provenance = answer["results"][0]["provenance"]
    entry = workspace.get("/v1/ledger", from_position=written["position"], limit=1)["items"][0]
    assert provenance == {
        "entry_id": entry["id"],
        "position": written["position"],
        "source": "ledger",
        "occurred_at": "2026-05-04T07:30:00.000000Z",
        "recorded_at": entry["recorded_at"],
        "session_id": "harbour",
        "agent_id": "tally",
        "trace_id": "trace-7",
    }


def test_meta_says_what_happened(workspace: Tenant) -> None:
    workspace.tell("Olga counted forty crates.")
    meta = workspace.search("crates")["meta"]
    expected = {
        "search_id", "query_ms", "nodes_returned", "truncated", "recipe", "legs", "degraded",
        "as_of_position", "stages_ms", "embedder", "cost_usd", "seed_nodes", "inferred_intents",
        "intent_override", "proactive_nodes_count", "capacity",
    }  # fmt: skip
    assert expected <= meta.keys()
    assert meta["nodes_returned"] == 1
    assert set(meta["legs"]) == {"vector", "keyword"}
    assert meta["embedder"]


def test_the_samples_answer_at_least_four_of_five_questions(
    ingested: Tenant, samples: Samples
) -> None:
    missed = [
        question.text
        for question in samples.questions
        if not question.answered_by(ingested.texts(question.text, limit=FIRST))
    ]
    answered = 1 - len(missed) / len(samples.questions)
    assert answered >= LEAST_ANSWERED, missed


def test_a_document_shows_its_sections(ingested: Tenant) -> None:
    document = document_named(ingested, "handbook.md")
    assert document["status"] == "ready"
    assert document["section_count"] == len(document["sections"]) > 3
    assert document["chunk_count"] == sum(each["chunks"] for each in document["sections"])
    assert document["embedded_count"] == document["chunk_count"]
    assert [each["ordinal"] for each in document["sections"]] == list(
        range(len(document["sections"]))
    )
    assert any(each["headings"] for each in document["sections"])


def test_a_pdf_chunk_names_its_pages_and_a_markdown_chunk_its_lines(ingested: Tenant) -> None:
    every = ingested.found("hut link agreement deposit booking", labels=["Chunk"], limit=50)
    pdf = [each for each in every if each["attributes"]["source_uri"].endswith(".pdf")]
    markdown = [each for each in every if each["attributes"]["source_uri"].endswith(".md")]
    assert pdf and all(each["attributes"]["page_from"] >= 1 for each in pdf)
    assert markdown and all(each["attributes"]["line_from"] >= 1 for each in markdown)


def test_what_html_hides_is_not_found(ingested: Tenant) -> None:
    stored = ingested.rows("SELECT text FROM node WHERE workspace_id = %(id)s")
    assert not [text for (text,) in stored if text and ("<script" in text or "{color" in text)]


def test_the_ledger_of_all_that_holds(ingested: Tenant) -> None:
    verification = ingested.get("/v1/ledger/verify")
    assert verification["ok"]
    assert verification["checked"] == verification["head_position"] > len(read_samples().memories)


def test_trace_draws_the_execution_as_a_tree(ingested: Tenant) -> None:
    document = document_named(ingested, "handbook.md")
    done = cairn(ingested, "trace", document["ingestion_id"])
    assert done.status == 0, done.err
    for state in ("Parse", "Chunk", "Store", "EmbedBatches", "Embed", "Finish"):
        assert state in done.out
    root = cairn(ingested, "trace", document["ingestion_id"], "--json").json()
    assert root["status"] == "succeeded"
    assert [each["name"] for each in root["children"]][:3] == ["Accept", "Parse", "Chunk"]


CHAPTERS = {
    "Ferries": "The ferry to Lindholm leaves every morning at six from the eastern pier.",
    "Bakery": "The bakery in the square sells rye bread until it is gone, mostly by ten.",
    "Library": "The library lends maps of the archipelago for a week without a fee.",
}


def markdown(chapters: dict[str, str]) -> str:
    return "\n\n".join(f"# {title}\n\n{text}" for title, text in chapters.items())


def test_reingesting_replaces_changed_chunks_only(workspace: Tenant) -> None:
    document_id = workspace.ready("town.md", text=markdown(CHAPTERS))
    before = chunks(workspace, document_id)
    assert len(before) == len(CHAPTERS)
    changed = {**CHAPTERS, "Bakery": "The bakery moved to the harbour and sells cinnamon knots."}
    assert workspace.ready("town.md", text=markdown(changed)) == document_id
    after = chunks(workspace, document_id)
    kept = before.keys() & after.keys()
    assert len(after) == len(CHAPTERS)
    assert {before[each] for each in kept} == {after[each] for each in kept}
    assert len(kept) == len(CHAPTERS) - 1
    assert any("cinnamon knots" in text for text in workspace.texts("bakery"))
    assert not any("rye bread" in text for text in workspace.texts("rye bread bakery"))


def test_deleting_a_document_takes_all_of_it_and_ingesting_revives_it(workspace: Tenant) -> None:
    document_id = workspace.ready("town.md", text=markdown(CHAPTERS))
    assert workspace.texts("ferry to Lindholm")
    deleted = workspace.delete(f"/v1/documents/{document_id}")
    assert deleted["nodes"] >= 1 + 2 * len(CHAPTERS)
    assert workspace.delete(f"/v1/documents/{document_id}")["position"] == deleted["position"]
    assert workspace.found("ferry to Lindholm") == []
    assert workspace.get("/v1/documents")["items"] == []
    refused(workspace.call("GET", f"/v1/documents/{document_id}"), 404, "not-found")
    assert workspace.ready("town.md", text=markdown(CHAPTERS)) == document_id
    assert any("Lindholm" in text for text in workspace.texts("ferry to Lindholm"))
    assert workspace.get(f"/v1/documents/{document_id}")["status"] == "ready"
    assert workspace.chain_holds()


def test_a_document_above_the_request_limit_comes_by_upload(workspace: Tenant) -> None:
    line = "The almanac lists the tides of every harbour for the coming year.\n"
    needle = "The keeper of the lighthouse at Skagen is called Birte.\n\n"
    content = (needle + " " * (5 * 1024 * 1024) + "\n\n" + line).encode()
    refused(
        workspace.call(
            "POST", "/v1/documents", json={"source_uri": "a.txt", "text": content.decode()}
        ),
        413,
        "too-large",
    )
    ticket = workspace.post("/v1/uploads", {"size": len(content), "media_type": "text/plain"})
    early = workspace.call(
        "POST", "/v1/documents", json={"source_uri": "a.txt", "upload_id": ticket["upload_id"]}
    )
    assert refused(early, 404)["reason"] == "not-uploaded"
    httpx.put(ticket["url"], content=content, headers=ticket["headers"]).raise_for_status()
    workspace.ready("a.txt", upload_id=ticket["upload_id"])
    assert any("Birte" in text for text in workspace.texts("Who keeps the lighthouse?"))


def test_the_key_of_the_gateway_is_checked_there_too(workspace: Tenant) -> None:
    gateway = workspace.through_gateway()
    refused(gateway.call("GET", "/v1/memories", key=workspace.key[:-1]), 401, "unauthenticated")
    assert good(gateway.call("GET", "/v1/whoami"))["workspace_id"] == str(workspace.id)
