"""Documents and sections that a model sums up: the same over the fake and PostgreSQL."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from tests.plugins.postgres import Database
from tests.support.embedding import HASHING, HashingEmbedder
from tests.support.ingesting import Documents
from tests.support.remembering import Remembering, admin_of
from tests.support.summarising import Summarising

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.graph.node import Node
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import BudgetExceeded, CairnError, Unavailable
from cairn.kernel.ids import new_id
from cairn.summaries.ports import Condensed, TextRequest
from cairn.summaries.write import SummariseWorkspace

PUMPS = " ".join(f"Pump {n} of the hut drinks from spring {n} at dawn." for n in range(30))
BEDS = " ".join(f"Bed {n} of the hut stands by window {n} upstairs." for n in range(30))
HUT = f"# Hut\n\n{PUMPS}\n\n# Beds\n\n{BEDS}\n"


@dataclass
class Model:
    """Says what it was asked of, or fails; keeps what it was asked."""

    fails: list[CairnError] = field(default_factory=list[CairnError])
    refused: str | None = None
    asked: list[TextRequest] = field(default_factory=list[TextRequest])

    def __call__(self, wanted: TextRequest, /) -> Condensed:
        self.asked.append(wanted)
        if self.fails:
            raise self.fails.pop(0)
        text = f"About {wanted.texts[0][:16]}"
        return Condensed(
            text=text,
            provider="anthropic",
            model="small-1",
            is_extract=self.refused is not None,
            refused=self.refused,
        )


@dataclass
class Library:
    """Ingested documents, and the summarising use case beside them."""

    documents: Documents
    summing: Summarising
    model: Model = field(default_factory=Model)

    def run(self, seconds: float = 1e9) -> dict[str, Any]:
        """Summarise, and return the counts that are not zero."""
        use = self.summing.use()
        asking = SummariseWorkspace(
            transactions=use.transactions,
            writing=use.writing,
            condense=use.condense,
            stopwatch=use.stopwatch,
            describe=self.model,
        )
        counts = asking(self.documents.workspace_id, seconds=seconds)
        return {name: value for name, value in counts.items() if value}

    def nodes(self, label: str) -> list[Node]:
        """Return the nodes of a label that the whole ledger makes when it is replayed."""
        found = self.summing.nodes().values()
        kept = [item for item in found if item.label == label and item.state == "active"]
        return sorted(kept, key=lambda item: item.ordinal or 0)

    def stored(self, label: str) -> dict[UUID, tuple[str, str | None]]:
        """Return what the stores themselves say of the nodes of a label."""
        ids = [node.id for node in self.nodes(label)]
        with self.documents.transactions.reading(self.documents.principal) as stores:
            found = stores.embeddings.enrichable(ids)
        return {item.id: (item.label, item.text) for item in found}

    def told(self, label: str) -> list[dict[str, Any]]:
        """Return what each node of a label keeps of its summary."""
        return [node.metadata.get("cairn", {}).get("summary", {}) for node in self.nodes(label)]


@pytest.fixture
def library(database: Database) -> Iterator[Library]:
    name = f"described-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    with database.connect_as_superuser() as root:
        root.execute(
            "INSERT INTO embedding_model (id, name, dimensions) VALUES (%s, %s, %s)"
            " ON CONFLICT DO NOTHING",
            (HASHING.id, HASHING.name, HASHING.dimensions),
        )
    pool = Pool(database.app_url, size=2)
    yield _library(
        Documents(
            transactions=StoreTransactions(pool),
            principal=admin_of(workspace_id),
            embedder=HashingEmbedder(),
        )
    )
    pool.close()


def _library(documents: Documents) -> Library:
    system = Remembering(
        transactions=documents.transactions, principal=documents.principal, keys=documents.keys
    )
    return Library(documents=documents, summing=Summarising(system))


def test_sections_are_described_then_the_document_from_their_summaries(library: Library) -> None:
    library.documents.ingest(HUT)
    assert library.run() == {"sections": 2, "documents": 1}
    sections, [document] = library.nodes("Section"), library.nodes("Document")
    assert [section.summary for section in sections] == [
        "About Pump 0 of the hu",
        "About Bed 0 of the hut",
    ]
    assert [section.text for section in sections] == [section.summary for section in sections]
    assert document.summary == document.text == "About About Pump 0 of "
    assert [item.scope for item in library.model.asked] == ["section", "section", "document"]
    assert library.stored("Section") == {
        section.id: ("Section", section.text) for section in sections
    }
    assert library.stored("Document") == {document.id: ("Document", document.text)}


def test_a_text_is_asked_about_once(library: Library) -> None:
    library.documents.ingest(HUT)
    library.run()
    asked = len(library.model.asked)
    assert library.run() == {}
    assert len(library.model.asked) == asked


def test_what_was_described_waits_for_new_vectors(library: Library) -> None:
    library.documents.ingest(HUT)
    library.run()
    described = {node.id for label in ("Section", "Document") for node in library.nodes(label)}
    rows = library.summing.system.sent.rows
    assert {node_id for row in rows for node_id in row.node_ids} == described
    ids = [row.id for row in rows]
    assert library.documents.enrich.rows(library.documents.workspace_id, ids) == 3


def test_only_the_section_that_changed_is_asked_about_again(library: Library) -> None:
    library.documents.ingest(HUT)
    library.run()
    library.model.asked.clear()
    library.documents.ingest(HUT.replace("Bed 7", "Bunk 7"))
    pumps, beds = library.nodes("Section")
    assert pumps.summary == "About Pump 0 of the hu"
    assert beds.summary != "About Bed 0 of the hut"
    assert library.run() == {"sections": 1, "documents": 1}
    assert "Bunk 7" in library.model.asked[0].texts[0] + library.model.asked[0].texts[-1]


def test_a_refused_text_leaves_the_extract_says_why_and_is_not_asked_again(
    library: Library,
) -> None:
    library.documents.ingest(HUT)
    before = [node.summary for node in library.nodes("Section")]
    library.model.refused = "invents"
    counts = library.run()
    assert (counts["refused"], counts["left"]) == (3, 3)
    assert [node.summary for node in library.nodes("Section")] == before
    assert [item["refused"] for item in library.told("Section")] == ["invents", "invents"]
    assert library.run() == {}


def test_a_short_section_keeps_its_own_words(library: Library) -> None:
    library.documents.ingest("# Hut\n\nTwelve beds.\n")
    assert library.run() == {"left": 2}
    assert library.model.asked == []
    assert [item["refused"] for item in library.told("Section")] == ["short"]


def test_when_nobody_answers_the_extracts_stand_and_the_next_run_asks_again(
    library: Library,
) -> None:
    library.documents.ingest(HUT)
    library.model.fails = [Unavailable("Later.", reason="chat-busy") for _ in range(2)]
    assert library.run()["unanswered"] == 2
    assert library.told("Section") == [{}, {}]
    assert library.run()["sections"] == 2


def test_when_the_money_is_spent_nothing_more_is_asked_and_the_run_goes_on(
    library: Library,
) -> None:
    library.documents.ingest(HUT)
    library.model.fails = [BudgetExceeded("Spent.", reason="day")]
    assert library.run() == {"over_budget": 1}
    assert len(library.model.asked) == 1
    assert library.told("Section") == [{}, {}]


def test_what_was_asked_before_the_time_ran_out_is_written(library: Library) -> None:
    library.documents.ingest(HUT)
    library.documents.ingest(HUT, source_uri="https://example.org/other.md")
    library.summing.seconds = iter(range(10_000)).__next__
    calls = 0
    while library.run(seconds=1).get("more"):
        calls += 1
    assert calls > 0
    assert len(library.model.asked) == 6
    assert all("covers" in item for item in library.told("Section") + library.told("Document"))


def test_without_a_model_documents_keep_what_ingestion_said(library: Library) -> None:
    library.documents.ingest(HUT)
    before = library.nodes("Document")
    assert library.summing.run() == {}
    assert library.nodes("Document") == before
