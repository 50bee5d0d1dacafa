"""What people do about memories, over HTTP and PostgreSQL: each edit, its races, a rebuild."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.integration.storage import test_search_front
from tests.integration.storage.test_search_front import Door, texts
from tests.support.forgetting import erase_in_memory
from tests.support.platform import platform_of

from cairn.adapters.files.keys import FileKeyStore
from cairn.adapters.postgres.ledger.replay import PostgresReplays
from cairn.api.mcp.edit_tools import CONFIRM_WITHIN, confirmation
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.rebuild.rebuild import Rebuild

if TYPE_CHECKING:
    import httpx

WHY = "The person said so."
door = test_search_front.door


def tell(door: Door, text: str, kind: str = "fact", **fields: Any) -> str:
    told: dict[str, Any] = door.api.call(
        "POST", "/v1/memories", json={"text": text, "type": kind, **fields}
    )
    id_: str = told["id"]
    return id_


def send(door: Door, method: str, path: str, **body: Any) -> httpx.Response:
    return door.api.answer(method, f"/v1/memories/{path}", json=body or None)


def edit(door: Door, method: str, path: str, **body: Any) -> dict[str, Any]:
    answer = send(door, method, path, **body)
    assert answer.is_success, answer.text
    done: dict[str, Any] = answer.json()
    return done


def read(door: Door, id_: str) -> dict[str, Any]:
    memory: dict[str, Any] = door.api.call("GET", f"/v1/memories/{id_}")
    return memory


def found(door: Door, query: str, **body: Any) -> set[str]:
    return texts(door.search(query, min_relevance=0, **body))


def head(door: Door) -> int:
    position: int = door.api.call("GET", "/v1/ledger/verify")["head_position"]
    return position


def rebuilds_alike(door: Door) -> bool:
    """Whether a replay of the ledger gives the rows that are there."""
    platform = platform_of(None, keys=FileKeyStore(door.folder / "keys"))
    rebuild = Rebuild(platform=platform, replays=PostgresReplays(door.world.pool))
    return rebuild(door.world.workspace_id, only_check=True).equal


def test_a_correction_is_a_new_version_in_the_chain_and_says_why(door: Door) -> None:
    old = tell(door, "The ferry leaves at noon.", key="ferry", client_id="ada")
    new = edit(door, "PATCH", old, text="The ferry leaves at ten.", reason=WHY)
    assert (new["outcome"], new["replaced"]) == ("created", [old])
    before, after = read(door, old), read(door, new["id"])
    assert (before["state"], before["superseded_by"]) == ("superseded", new["id"])
    assert before["valid_to"] == before["valid_from"] == after["valid_from"]
    assert (after["key"], after["client_id"], after["supersedes"]) == ("ferry", "ada", old)
    assert after["metadata"]["cairn"]["edit"] == {"how": "corrected", "of": [old], "reason": WHY}
    assert found(door, "When does the ferry leave?") == {"The ferry leaves at ten."}
    history = door.api.call("GET", f"/v1/memories/{new['id']}/history")["versions"]
    assert [version["memory"]["text"] for version in history] == [
        before["text"],
        before["text"],
        after["text"],
    ]
    tell(door, "The ferry leaves at eight.", key="ferry", client_id="ada")
    assert read(door, new["id"])["state"] == "superseded"
    assert rebuilds_alike(door)


def test_two_corrections_at_once_leave_one_and_tell_the_other_what_stands_now(door: Door) -> None:
    old = tell(door, "The tower has twelve floors.")
    wordings = [f"The tower has {count} floors." for count in ("nine", "ten", "eleven", "three")]

    def correct(text: str) -> httpx.Response:
        return send(door, "PATCH", old, text=text, reason=WHY)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(correct, wordings))
    done = [answer.json() for answer in answers if answer.is_success]
    assert len(done) == 1
    for answer in answers:
        if not answer.is_success:
            assert answer.status_code == 409
            assert done[0]["id"] in answer.json()["detail"]
    assert len(found(door, "How many floors has the tower?")) == 1


def test_the_same_edit_again_gives_the_first_ones_answer_and_writes_nothing(door: Door) -> None:
    old = tell(door, "The ferry leaves at noon.", client_id="ada")
    first = edit(door, "PATCH", old, text="The ferry leaves at ten.", reason=WHY)
    moved = edit(door, "POST", f"{first['id']}/move", client_id="bob", reason=WHY)
    other = tell(door, "It is never late.", client_id="bob")
    merged = edit(door, "POST", f"{moved['id']}/merge", other_id=other, reason=WHY)
    before = head(door)
    again = [
        edit(door, "POST", f"{moved['id']}/merge", other_id=other, reason=WHY),
        edit(door, "PATCH", merged["id"], confidence=1.0, reason=WHY),
    ]
    assert [(one["outcome"], one["id"]) for one in again] == [
        ("duplicate", merged["id"]),
        ("unchanged", merged["id"]),
    ]
    assert head(door) == before
    key = {"idempotency-key": "pin-1"}
    for replayed in (None, "true"):
        pin = door.api.answer("PUT", f"/v1/memories/{merged['id']}/pin", headers=dict(key))
        assert pin.json()["outcome"] == "changed"
        assert pin.headers.get("idempotency-replayed") == replayed


def test_a_merge_stands_for_both_and_none_comes_round_again(door: Door) -> None:
    one = tell(door, "Ada likes tea.", client_id="ada", data_subjects=["ada"], importance=3)
    two = tell(door, "Ada drinks it black.", client_id="ada", data_subjects=["bo"], importance=9)
    cross = tell(door, "Ada likes tea.", client_id="bob")
    assert send(door, "POST", f"{one}/merge", other_id=one, reason=WHY).status_code == 422
    assert send(door, "POST", f"{one}/merge", other_id=cross, reason=WHY).status_code == 409
    merged = edit(door, "POST", f"{one}/merge", other_id=two, reason=WHY)
    memory = read(door, merged["id"])
    assert memory["text"] == "Ada likes tea.\nAda drinks it black."
    assert memory["importance"] == 9
    lineage = door.api.call("GET", f"/v1/nodes/{merged['id']}/lineage")
    assert {one, two} <= {node["node_id"] for node in lineage["nodes"]}
    cycle = send(door, "POST", f"{merged['id']}/merge", other_id=one, reason=WHY)
    assert cycle.status_code == 409
    assert merged["id"] in cycle.json()["detail"]
    assert found(door, "What does Ada like to drink?", client_id="ada") == {memory["text"]}
    assert rebuilds_alike(door)


def test_what_moves_is_found_where_it_went_and_nowhere_it_was(door: Door) -> None:
    filed = tell(door, "The safe opens with a brass key.", client_id="ada", key="safe")
    node = door.api.call(
        "POST", "/v1/nodes", json={"label": "Note", "properties": {"text": "Note"}}
    )
    edge = {"source_id": node["id"], "target_id": filed, "relation": "RELATED_TO"}
    door.api.call("POST", "/v1/relationships", json=edge)
    door.enrich()
    moved = edit(door, "POST", f"{filed}/move", client_id="bob", scope="shared", reason=WHY)
    door.enrich()
    assert send(door, "GET", filed).status_code == 404
    memory = read(door, moved["id"])
    assert (memory["client_id"], memory["scope"], memory["embedded"]) == ("bob", "shared", True)
    assert found(door, "How does the safe open?", client_id="bob") == {memory["text"]}
    assert found(door, "How does the safe open?", client_id="ada") == set()
    shown = door.api.call("GET", f"/v1/nodes/{moved['id']}")
    assert node["id"] in str(shown)
    assert rebuilds_alike(door)
    assert send(door, "POST", f"{moved['id']}/move", reason=WHY).status_code == 422
    agent = door.api.call("POST", "/v1/keys", json={"name": "narrow", "scopes": ["shared"]})[
        "secret"
    ]
    elsewhere = door.api.answer(
        "POST",
        f"/v1/memories/{moved['id']}/move",
        json={"scope": "admin", "reason": WHY},
        headers={"authorization": f"Bearer {agent}"},
    )
    assert elsewhere.status_code == 403


def test_whoever_loses_a_memory_by_a_move_is_forgotten_without_it(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    filed = tell(door, "The safe opens with a brass key.", client_id="ada")
    moved = edit(door, "POST", f"{filed}/move", client_id="bob", reason=WHY)
    erase_in_memory(monkeypatch, door.folder)
    gone = {"subject": {"kind": "client", "natural_key": "bob"}}
    door.api.call("POST", "/v1/forget", json=gone)
    assert send(door, "GET", moved["id"]).status_code == 404
    assert found(door, "How does the safe open?") == set()
    assert rebuilds_alike(door)
    assert found(door, "How does the safe open?", include_superseded=True) == set()


def test_a_deletion_is_taken_back_and_the_memory_is_what_it_was(door: Door) -> None:
    filed = tell(door, "The safe opens with a brass key.", client_id="ada", key="safe")
    messages = [
        tell(door, f"Step {number} of the drill.", type="event", session_id="drill",
             sequence=number)
        for number in range(3)
    ]  # fmt: skip
    door.enrich()
    before = read(door, filed)
    for memory in (filed, messages[1]):
        edit(door, "DELETE", memory)
    assert found(door, "How does the safe open?", client_id="ada") == set()
    for memory in (filed, messages[1]):
        assert edit(door, "POST", f"{memory}/restore")["outcome"] == "changed"
        assert edit(door, "POST", f"{memory}/restore")["outcome"] == "unchanged"
    door.enrich()
    assert read(door, filed) == before
    assert found(door, "How does the safe open?", client_id="ada") == {before["text"]}
    assert rebuilds_alike(door)


def test_what_is_not_to_come_back_stays_deleted(door: Door) -> None:
    old = tell(door, "The safe has a brass key.", client_id="ada", key="safe")
    edit(door, "DELETE", old)
    tell(door, "The safe has a steel key.", client_id="ada", key="safe")
    assert send(door, "POST", f"{old}/restore").status_code == 409  # another stands there
    moved = tell(door, "The gate is red.", client_id="ada")
    edit(door, "POST", f"{moved}/move", client_id="bob", reason=WHY)
    held = tell(door, "The barn is blue.", client_id="ada")
    edit(door, "PUT", f"{held}/never-recall", reason=WHY)
    edit(door, "DELETE", held)
    for memory in (moved, held):
        refused = send(door, "POST", f"{memory}/restore")
        assert (refused.status_code, refused.json()["reason"]) == (409, "not-restorable")
    assert send(door, "POST", f"{new_id()}/restore").status_code == 404
    assert rebuilds_alike(door)


def test_a_pinned_memory_ranks_higher_and_neither_fades_nor_ages(door: Door) -> None:
    plain = tell(door, "The harbour opens at dawn.", client_id="ada")
    pinned = tell(door, "The harbour opens at dawn!", client_id="bob")
    for recipe in ("default", "seed-000", "seed-001"):
        edit(door, "DELETE", f"{pinned}/pin")
        before = scores(door, pinned, recipe)
        assert edit(door, "PUT", f"{pinned}/pin")["outcome"] in ("changed", "unchanged")
        after = scores(door, pinned, recipe)
        assert after["pinned"] == pytest.approx(1.25)
        assert after["decay_factor"] == 1.0
        assert "pinned" not in before
        first = door.search("harbour dawn", recipe=recipe, min_relevance=0)["results"][0]
        assert first["node_id"] == pinned
    assert "pinned" not in scores(door, plain, "default")
    assert read(door, pinned)["pinned"] is True
    corrected = edit(door, "PATCH", pinned, text="The harbour opens at six.", reason=WHY)
    assert read(door, corrected["id"])["pinned"] is True
    assert rebuilds_alike(door)


def scores(door: Door, id_: str, recipe: str) -> dict[str, Any]:
    results = door.search("harbour dawn", recipe=recipe, min_relevance=0)["results"]
    (one,) = (result["scores"] for result in results if result["node_id"] == id_)
    return one


def test_what_is_never_to_be_recalled_is_kept_and_found_by_no_question_about_any_time(
    door: Door,
) -> None:
    id_ = tell(door, "The cellar floods in spring.", client_id="ada", key="cellar")
    tell(door, "The cellar is large.", client_id="ada")
    door.enrich()
    then = head(door)
    kept = edit(door, "PUT", f"{id_}/never-recall", reason=WHY)
    assert kept["outcome"] == "changed"
    assert read(door, id_)["never_recall"] is True
    for asked in (
        {},
        {"as_of": then},
        {"include_superseded": True},
        {"valid_at": utc_now().isoformat()},
    ):
        assert found(door, "When does the cellar flood?", **asked) <= {"The cellar is large."}
        context = door.api.call(
            "POST", "/v1/context", json={"query": "When does the cellar flood?", **asked}
        )
        assert "floods" not in context["context"]
    assert send(door, "PATCH", id_, text="No.", reason=WHY).status_code == 409
    said_again = door.api.call(
        "POST",
        "/v1/memories",
        json={
            "text": "The cellar floods in spring.",
            "type": "fact",
            "client_id": "ada",
            "key": "cellar",
        },
    )
    assert said_again["id"] == id_
    entries = door.api.call("GET", "/v1/ledger", params={"type": "memory.withheld"})["items"]
    assert [entry["meta"]["node_id"] for entry in entries] == [id_]
    assert rebuilds_alike(door)
    edit(door, "DELETE", f"{id_}/never-recall")
    assert "The cellar floods in spring." in found(door, "When does the cellar flood?")
    assert "The cellar floods in spring." in found(door, "When does the cellar flood?", as_of=then)
    assert rebuilds_alike(door)


def test_an_edit_that_meets_a_deletion_changes_nothing_that_is_gone(door: Door) -> None:
    id_ = ""
    for round_ in range(4):
        id_ = tell(door, f"The lamp number {round_} burns.")
        with ThreadPoolExecutor(2) as pool:
            gone = pool.submit(send, door, "DELETE", id_)
            edited = pool.submit(send, door, "PATCH", id_, text=f"Lamp {round_}.", reason=WHY)
        assert gone.result().status_code == 200
        assert edited.result().status_code in (200, 404)
        assert send(door, "PATCH", id_, text="Late.", reason=WHY).status_code in (404, 409)
    assert send(door, "DELETE", f"{id_}/pin").status_code == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"reason": WHY}, 422),
        ({"text": "No reason."}, 422),
        ({"text": "", "reason": WHY}, 422),
        ({"text": None, "reason": WHY}, 422),
        ({"text": "a\x00b", "reason": WHY}, 422),
        ({"text": 7, "reason": WHY}, 422),
        ({"text": "x" * 32_001, "reason": WHY}, 413),
        ({"text": "Fine.", "reason": "x" * 1_001}, 422),
        ({"text": "Fine.", "reason": WHY, "workspace_id": "another"}, 422),
        ({"valid_to": "1999-01-01T00:00:00Z", "reason": WHY}, 422),
    ],
)
def test_a_bad_correction_is_refused_and_changes_nothing(
    door: Door, body: dict[str, Any], status: int
) -> None:
    id_ = tell(door, "The lamp burns.")
    answer = door.api.answer("PATCH", f"/v1/memories/{id_}", json=body)
    assert answer.status_code == status, answer.text
    surrogate = b'{"text": "\\ud800", "reason": "x"}'
    answer = door.api.answer(
        "PATCH",
        f"/v1/memories/{id_}",
        content=surrogate,
        headers={"content-type": "application/json"},
    )
    assert answer.status_code in (400, 422)
    assert read(door, id_)["state"] == "active"


def test_a_beginning_of_an_id_lists_the_memories_it_may_mean(door: Door) -> None:
    ids = [tell(door, f"Lamp {number}.") for number in range(3)]
    listed = door.api.call("GET", "/v1/memories", params={"id_prefix": ids[0][:6]})["items"]
    assert {item["id"] for item in listed} == set(ids)
    one = door.api.call("GET", "/v1/memories", params={"id_prefix": ids[1]})["items"]
    assert [item["id"] for item in one] == [ids[1]]


def ask(door: Door, tool: str, *, key: str | None = None, **arguments: Any) -> Any:
    """Call a tool with the official client."""

    async def run() -> Any:
        transport = httpx2.ASGITransport(app=door.api.app)
        headers = {"authorization": f"Bearer {key or door.api.key}"}
        async with (
            httpx2.AsyncClient(transport=transport, headers=headers) as http,
            Client(streamable_http_client("http://cairn/mcp", http_client=http)) as client,
        ):
            return await client.call_tool(tool, arguments)

    return anyio.run(run)


def done(door: Door, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = ask(door, tool, **arguments)
    assert not answer.is_error, answer
    structured: dict[str, Any] = answer.structured_content
    return structured


def test_an_agent_does_over_mcp_what_the_person_asks_for(door: Door) -> None:
    old = tell(door, "The ferry leaves at noon.", key="ferry", client_id="ada")
    tell(door, "Bob takes the train.", client_id="bob")
    listed = done(door, "memory_list", client_id="ada")
    assert [item["id"] for item in listed["items"]] == [old]
    page = done(door, "memory_list", limit=1)
    assert done(door, "memory_list", after=page["next_after"])["items"][0]["id"] == old

    why: dict[str, Any] = {"id": old, "reason": WHY, "idempotency_key": "once"}
    new = done(door, "memory_correct", **why, text="The ferry leaves at ten.")
    assert (new["outcome"], new["replaced"]) == ("created", [old])
    assert done(door, "memory_correct", **why, text="The ferry leaves at ten.")["id"] == new["id"]
    assert ask(door, "memory_correct", **why, text="The ferry leaves at two.").is_error
    assert found(door, "When does the ferry leave?") == {"The ferry leaves at ten."}

    assert done(door, "memory_pin", id=new["id"])["outcome"] == "changed"
    assert "pinned" in ask(door, "memory_list", key=None, client_id="ada").content[0].text
    assert done(door, "memory_pin", id=new["id"], pinned=False)["outcome"] == "changed"
    assert ask(door, "memory_exclude", id=new["id"]).is_error
    done(door, "memory_exclude", id=new["id"], reason=WHY)
    assert found(door, "When does the ferry leave?") == set()
    done(door, "memory_exclude", id=new["id"], never_recall=False)
    assert found(door, "When does the ferry leave?") == {"The ferry leaves at ten."}
    assert rebuilds_alike(door)


def test_a_deletion_over_mcp_asks_first_and_takes_only_its_own_yes(door: Door) -> None:
    kept, gone = tell(door, "The ferry leaves at noon."), tell(door, "The hut is open.")
    asked = done(door, "memory_delete", id=gone)
    assert (asked["state"], asked["text"]) == ("pending", "The hut is open.")
    assert found(door, "Is the hut open?") == {"The hut is open."}
    now = utc_now()
    late, early = now - timedelta(seconds=1), now + 2 * CONFIRM_WITHIN
    admin = door.world.admin
    yes = asked["confirmation"]
    for id_, given in (
        (kept, yes),
        (gone, "yes"),
        (gone, yes[:-1]),
        (gone, f"{yes.partition('-')[0]}٣-{yes.partition('-')[2]}"),
        (gone, "9" * 60),
        (gone, confirmation(admin, asked["id"], late)),
        (gone, confirmation(admin, asked["id"], early)),
    ):
        refused = ask(door, "memory_delete", id=id_, confirmation=given)
        assert refused.is_error
        assert "confirmation" in refused.content[0].text
    assert found(door, "Is the hut open?") == {"The hut is open."}
    other = door.api.call("POST", "/v1/keys", json={"name": "another", "person": True})["secret"]
    assert ask(door, "memory_delete", key=other, id=gone, confirmation=yes).is_error
    first = done(door, "memory_delete", id=gone, confirmation=yes)
    assert done(door, "memory_delete", id=gone, confirmation=yes) == first
    assert found(door, "Is the hut open?") == set()
    assert ask(door, "memory_delete", id=gone).is_error
    assert read(door, kept)["state"] == "active"
