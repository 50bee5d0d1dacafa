"""Evidence from the workspace's search: the best first, and no other customer's."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from cairn.graph.node import Label
from cairn.investigations.planning.surrounds import KnowledgeRecaller
from cairn.recall.records import FoundNode

if TYPE_CHECKING:
    from cairn.kernel.access import Principal
    from cairn.recall.query import SearchRequest
    from cairn.recall.results import RecallResult

NOW = datetime(2026, 11, 3, tzinfo=UTC)
WORKSPACE = UUID(int=1)


def node(number: int, text: str = "t", line: int = 1, **given: Any) -> FoundNode:
    values: dict[str, Any] = {
        "id": UUID(int=number),
        "label": Label.CHUNK,
        "text": text,
        "state": "active",
        "entry_id": UUID(int=number),
        "position": number,
        "occurred_at": NOW,
        "recorded_at": NOW,
        "valid_from": NOW,
        "source_uri": "kb://a.md",
        "line_from": line,
    }
    return FoundNode(**{**values, **given})


@dataclass
class Found:
    node: FoundNode


@dataclass
class Search:
    nodes: list[FoundNode]
    asked: list[tuple[Principal, SearchRequest]] = field(
        default_factory=list["tuple[Principal, SearchRequest]"]
    )

    def __call__(self, principal: Principal, request: SearchRequest) -> RecallResult:
        self.asked.append((principal, request))
        return cast(
            "RecallResult", type("R", (), {"results": [Found(node) for node in self.nodes]})
        )


def test_documents_are_searched_with_their_own_recipe() -> None:
    search = Search([node(1)])
    (found,) = KnowledgeRecaller(recall=search)(WORKSPACE, "vpn", customer="Acme")
    ((principal, request),) = search.asked
    assert (principal.workspace_id, request.query, request.recipe) == (
        WORKSPACE,
        "vpn",
        "knowledge",
    )
    assert (found.citation, found.node_id) == ("[doc:kb://a.md#L1-L1]", UUID(int=1))


def test_what_is_another_customers_is_left_out() -> None:
    search = Search(
        [
            node(1, client_id="other", line=1),
            node(2, client_id="acme-ltd", line=2),
            node(3, line=3),
        ]
    )
    found = KnowledgeRecaller(recall=search)(WORKSPACE, "vpn", customer="Acme Ltd")
    assert search.asked[0][1].clients == ("global", "Acme Ltd", "acme-ltd")
    assert [item.node_id for item in found] == [UUID(int=2), UUID(int=3)]


def test_the_best_are_kept_and_a_place_is_cited_once() -> None:
    search = Search([node(number, line=1 + number % 9) for number in range(1, 20)])
    found = KnowledgeRecaller(recall=search)(WORKSPACE, "vpn", customer="", limit=6)
    assert [item.node_id for item in found] == [UUID(int=number) for number in range(1, 7)]
    assert len({item.citation for item in found}) == 6


def test_a_node_without_text_says_its_summary() -> None:
    search = Search([node(1, text="", summary="In short.")])
    (found,) = KnowledgeRecaller(recall=search)(WORKSPACE, "vpn", customer="")
    assert found.text == "In short."
