"""Chat over HTTP, as it is wired, over PostgreSQL: by rules, and by a model that is on the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.support.embedding import HashingEmbedder
from tests.support.front import Cloud, Front, environment, stand_in_for_aws
from tests.support.world import open_world

from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.plugins.postgres import Database

FACT = "The harbour project is run by Ilse Brandt."


@pytest.fixture
def front(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Front]:
    for name, value in environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    stand_in_for_aws(monkeypatch, Cloud())
    world = open_world(database.owner_url, database.app_url, f"chat {new_id()}")
    yield Front(world.key, embedder=HashingEmbedder())
    world.pool.close()


def say(front: Front, message: str, session: str = "s1", **more: Any) -> dict[str, Any]:
    body = {"message": message, "session_id": session, **more}
    told: dict[str, Any] = front.call("POST", "/v1/chat", json=body)
    return told


def test_rules_remember_answer_with_citations_and_delete_after_a_yes(front: Front) -> None:
    kept = say(front, f"Please remember: {FACT}")
    assert (kept["state"], kept["source"]) == ("done", "rules")
    assert FACT in kept["answer"]
    found = say(front, "Who runs the harbour project?")
    assert "without a model" in found["answer"]
    (cited,) = found["citations"]
    assert f"\u201c{FACT}\u201d {cited}" in found["answer"]
    node = cited.removeprefix("[memory:").removesuffix("]")
    assert front.call("GET", f"/v1/memories/{node}")["text"] == FACT
    asked = say(front, "Forget who runs the harbour project")
    (waiting,) = asked["actions"]
    assert (waiting["state"], waiting["arguments"]) == ("pending", {"id": node})
    assert front.call("GET", f"/v1/memories/{node}")["state"] == "active"
    done = say(front, "yes")
    assert done["answer"].startswith("Done:")
    assert front.call("GET", f"/v1/chat/actions/{waiting['id']}")["state"] == "done"
    gone = say(front, "Who runs the harbour project?", "s2")
    assert gone["answer"] == "Nothing that is stored bears on this."
