"""What was known then, and what held then: the two clocks of a memory, over HTTP."""

from typing import TYPE_CHECKING

import pytest
from tests.e2e.tenant import Tenant, open_workspace

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

QUERY = "Who leads the orchestra?"


@pytest.fixture(scope="module")
def told(laptop: "Laptop") -> tuple[Tenant, dict[str, int]]:
    """A fact written, superseded, deleted; with the ledger position after each step."""
    tenant = open_workspace(laptop, "as of")
    positions = {"nothing": tenant.get("/v1/status")["ledger_position"]}
    for name, leader, valid_from in (
        ("first", "Anna", "2026-01-01T00:00:00Z"),
        ("second", "Boris", "2026-06-01T00:00:00Z"),
    ):
        fact = {
            "type": "fact",
            "key": "orchestra.leader",
            "text": f"{leader} leads the orchestra.",
            "valid_from": valid_from,
        }
        written = tenant.post("/v1/memories", fact)
        positions[name] = written["position"]
        tenant.all_embedded()
        positions[f"{name} embedded"] = tenant.get("/v1/status")["ledger_position"]
    positions["deleted"] = tenant.delete(f"/v1/memories/{written['id']}")["position"]
    return tenant, positions


@pytest.mark.parametrize(
    ("moment", "leaders"),
    [
        ("nothing", []),
        ("first", ["Anna"]),
        ("first embedded", ["Anna"]),
        ("second", ["Boris"]),
        ("second embedded", ["Boris"]),
        ("deleted", []),
    ],
)
def test_a_search_as_of_a_position_finds_what_was_true_then(
    told: tuple[Tenant, dict[str, int]], moment: str, leaders: list[str]
) -> None:
    tenant, positions = told
    answer = tenant.search(QUERY, as_of=positions[moment])
    assert answer["meta"]["as_of_position"] == positions[moment]
    assert [each["text"].split()[0] for each in answer["results"]] == leaders


def test_a_search_as_of_a_time_finds_what_was_known_then(
    told: tuple[Tenant, dict[str, int]],
) -> None:
    tenant, _ = told
    entries = tenant.get("/v1/ledger", type="memory.remembered", limit=10)["items"]
    first, second = (each["recorded_at"] for each in entries)
    assert tenant.texts(QUERY, as_of=first) == ["Anna leads the orchestra."]
    assert tenant.texts(QUERY, as_of=second) == ["Boris leads the orchestra."]
    assert tenant.found(QUERY, as_of="2020-01-01T00:00:00Z") == []


def test_today_shows_nothing_of_a_deleted_memory(told: tuple[Tenant, dict[str, int]]) -> None:
    tenant, _ = told
    assert tenant.found(QUERY) == []


def test_valid_at_looks_through_superseded_memories(workspace: Tenant) -> None:
    for leader, month in (("Anna", "01"), ("Boris", "06")):
        workspace.post(
            "/v1/memories",
            {
                "type": "fact",
                "key": "orchestra.leader",
                "text": f"{leader} leads the orchestra.",
                "valid_from": f"2026-{month}-01T00:00:00Z",
            },
        )
    assert workspace.texts(QUERY) == ["Boris leads the orchestra."]
    assert workspace.texts(QUERY, valid_at="2026-03-01T00:00:00Z") == ["Anna leads the orchestra."]
    assert workspace.texts(QUERY, valid_at="2026-07-01T00:00:00Z") == ["Boris leads the orchestra."]
    assert workspace.found(QUERY, valid_at="2025-12-31T00:00:00Z") == []
    both = workspace.texts(QUERY, include_superseded=True)
    assert sorted(both) == ["Anna leads the orchestra.", "Boris leads the orchestra."]


def test_the_history_of_a_memory_names_positions_that_touch(workspace: Tenant) -> None:
    first = workspace.post("/v1/memories", {"type": "fact", "key": "k", "text": "One."})
    workspace.post("/v1/memories", {"type": "fact", "key": "k", "text": "Two."})
    versions = workspace.get(f"/v1/memories/{first['id']}/history")["versions"]
    assert [each["memory"]["state"] for each in versions] == ["active", "superseded"]
    assert versions[0]["from_position"] == first["position"]
    assert versions[0]["to_position"] == versions[1]["from_position"]
    assert versions[1]["to_position"] is None
