"""Namespaces, conditions on metadata, and memories that last for a time, at the API's door."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.storage import test_search_front
from tests.integration.storage.test_search_front import Door, texts
from tests.support.platform import platform_of

from cairn.adapters.files.keys import FileKeyStore
from cairn.adapters.postgres.ledger.replay import PostgresReplays
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.memories.expiry import RemoveExpired
from cairn.rebuild.rebuild import Rebuild

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.plugins.postgres import Database

door = test_search_front.door
WORDS: dict[str, Any] = {"stages": {"vector": False}, "min_relevance": 0, "gate": False}
MEANING: dict[str, Any] = {"stages": {"keyword": False}, "min_relevance": 0, "gate": False}


def put(door: Door, namespace: str | None, key: str, text: str, **more: Any) -> dict[str, Any]:
    body = {"text": text, "type": "fact", "namespace": namespace, "key": key, **more}
    told: dict[str, Any] = door.api.call("POST", "/v1/memories", json=body)
    return told


def listed(door: Door, **asked: Any) -> set[str]:
    page = door.api.call("GET", "/v1/memories", params=asked)
    return {each["text"] for each in page["items"]}


def that(path: str, op: str, value: Any) -> dict[str, Any]:
    return {"path": path.split("."), "op": op, "value": value}


def rebuilds_alike(door: Door) -> bool:
    platform = platform_of(None, keys=FileKeyStore(door.folder / "keys"))
    rebuild = Rebuild(platform=platform, replays=PostgresReplays(door.world.pool))
    return rebuild(door.world.workspace_id, only_check=True).equal


def sweep(door: Door) -> int:
    platform = platform_of(
        StoreTransactions(door.world.pool), keys=FileKeyStore(door.folder / "keys")
    )
    failed: list[Mapping[str, object]] = []
    remove = RemoveExpired(
        platform=platform,
        workspaces=lambda: [door.world.workspace_id],
        report=lambda _, told: failed.append(told),
    )
    gone = remove()
    assert not failed
    return gone


def let_expire(database: Database, id_: str) -> None:
    """Let a memory have been written longer ago than it lasts."""
    with database.connect_as_superuser() as root:
        for table in (b"node", b"node_version"):
            root.execute(
                b"UPDATE " + table + b" SET expires_at = now() - interval '1 s' WHERE id = %s",
                [id_],
            )


def test_items_are_found_in_their_namespace_and_below_it_by_words_and_by_meaning(
    door: Door,
) -> None:
    put(door, "users/dana", "food", "Dana likes lentil soup.")
    put(door, "users/dana/work", "food", "Lentil soup is served at work.")
    put(door, "users/danae", "food", "Danae likes lentil soup, too.")
    put(door, None, "food", "Lentil soup is in no namespace.")
    door.enrich()
    for how in (WORDS, MEANING):
        below = door.search("lentil soup", namespace_prefix="users/dana", **how)
        assert texts(below) == {"Dana likes lentil soup.", "Lentil soup is served at work."}
        assert texts(door.search("lentil soup", namespace="users/dana", **how)) == {
            "Dana likes lentil soup."
        }
        assert len(texts(door.search("lentil soup", **how))) == 4
    assert listed(door, namespace="users/dana") == {"Dana likes lentil soup."}
    assert len(listed(door, namespace_prefix="users")) == 3
    assert listed(door, namespace_prefix="users", key="food", type="event") == set()
    head = door.api.call("GET", "/v1/ledger/verify")["head_position"]
    before = door.search("lentil soup", namespace="users/dana", as_of=head, **WORDS)
    put(door, "users/dana", "food", "Dana likes barley soup.")
    assert texts(before) == texts(door.search("soup", namespace="users/dana", as_of=head, **WORDS))


def test_an_item_takes_the_place_of_the_one_of_its_key_also_when_only_its_metadata_differ(
    door: Door,
) -> None:
    first = put(door, "shop", "beans", "beans", metadata={"left": 3})
    assert put(door, "shop", "beans", "beans", metadata={"left": 3})["outcome"] == "duplicate"
    assert put(door, "cellar", "beans", "beans", metadata={"left": 3})["outcome"] == "created"
    second = put(door, "shop", "beans", "beans", metadata={"left": 2})
    assert (second["outcome"], second["superseded"]) == ("superseded", [first["id"]])
    third = put(door, "shop", "beans", "beans", metadata={"left": 3})
    assert (third["outcome"], third["superseded"]) == ("superseded", [second["id"]])
    page = door.api.call("GET", "/v1/memories", params={"namespace": "shop", "state": "active"})
    assert [(each["id"], each["metadata"]) for each in page["items"]] == [
        (third["id"], {"left": 3})
    ]
    corrected = door.api.call(
        "PATCH", f"/v1/memories/{third['id']}", json={"text": "broad beans", "reason": "clearer"}
    )
    assert door.api.call("GET", f"/v1/memories/{corrected['id']}")["namespace"] == "shop"
    assert rebuilds_alike(door)


CONDITIONS = [
    ([that("colour", "eq", "red")], {"apple", "rose"}),
    ([that("colour", "ne", "red")], {"sky", "plain"}),
    ([that("colour", "in", ["blue", "green"])], {"sky"}),
    ([that("size.cm", "gt", 8)], {"rose"}),
    ([that("size.cm", "gte", 8)], {"rose", "apple"}),
    ([that("size.cm", "lt", 8.5)], {"apple"}),
    ([that("size.cm", "lte", -1)], set[str]()),
    ([that("size", "exists", True)], {"rose", "apple"}),
    ([that("size", "exists", False)], {"sky", "plain"}),
    ([that("tags", "eq", 'a "quoted" \\ tag')], {"sky"}),
    ([that("ripe", "eq", True), that("colour", "eq", "red")], {"apple"}),
    ([that("ripe", "eq", None)], {"rose"}),
    ([that("colour", "gt", "c")], {"apple", "rose"}),
    ([that("colour", "eq", 'red" || $.size.cm > 0 || "')], set[str]()),
]


def test_searches_and_lists_find_what_the_metadata_say(door: Door) -> None:
    things = {
        "apple": {"colour": "red", "size": {"cm": 8}, "ripe": True},
        "rose": {"colour": "red", "size": {"cm": 40.5}, "ripe": None},
        "sky": {"colour": "blue", "tags": ["wide", 'a "quoted" \\ tag']},
        "plain": {},
    }
    for name, metadata in things.items():
        put(door, "things", name, f"thing {name}", metadata=metadata)
    door.enrich()
    for conditions, names in CONDITIONS:
        expected = {f"thing {name}" for name in names}
        told = json.dumps(conditions)
        assert listed(door, where=told) == expected, told
        for how in (WORDS, MEANING):
            assert texts(door.search("thing", where=conditions, **how)) == expected, told
    graph = door.search("thing", where=CONDITIONS[0][0], method="ppr", min_relevance=0)
    assert texts(graph) == {"thing apple", "thing rose"}


REFUSED: list[tuple[Any, str]] = [
    ([that("a", "gt", True)], "needs a number or a text"),
    ([that("a", "in", "red")], "needs a list"),
    ([that("a", "in", [])], "1 to 50"),
    ([that("a", "exists", 1)], "true or false"),
    ([that("a", "eq", [1])], "must be a text, a number"),
    ([that("a", "like", "x")], "eq"),
    ([that("a.b.c.d.e.f", "eq", 1)], "at most 5"),
    ([{"path": [], "value": 1}], "at least 1"),
    ([that("a", "eq", 1)] * 21, "at most 20"),
    ([that("a", "eq", "x" * 1001)], "1000 characters"),
    ([that("a", "eq", "x\u0000")], "NUL"),
    ({"path": ["a"]}, "valid"),
]


@pytest.mark.parametrize(("conditions", "says"), REFUSED)
def test_a_condition_that_cannot_be_told_is_refused_with_what_to_do(
    door: Door, conditions: Any, says: str
) -> None:
    body = {"query": "anything", "where": conditions}
    searched = door.api.answer("POST", "/v1/search", json=body)
    asked = door.api.answer("GET", "/v1/memories", params={"where": json.dumps(conditions)})
    for answer in (searched, asked):
        assert answer.status_code == 422, answer.text
        assert says in answer.text


def test_a_number_beyond_all_numbers_is_refused(door: Door) -> None:
    where = '[{"path": ["a"], "op": "in", "value": [1, 1e999]}]'
    asked = door.api.answer("GET", "/v1/memories", params={"where": where})
    body = f'{{"query": "anything", "where": {where}}}'
    json_ = {"content-type": "application/json"}
    searched = door.api.answer("POST", "/v1/search", content=body, headers=json_)
    assert (asked.status_code, searched.status_code) == (422, 400), (asked.text, searched.text)


@pytest.mark.parametrize("name", ["/a", "a//b", "a/ ", "", "/".join("abcdefghijklmnopqrstuvw")])
def test_a_namespace_without_labels_is_refused(door: Door, name: str) -> None:
    body = {"text": "x", "type": "fact", "namespace": name}
    assert door.api.answer("POST", "/v1/memories", json=body).status_code == 422
    assert door.api.answer("GET", "/v1/namespaces", params={"prefix": name}).status_code == 422


def test_namespaces_are_listed_by_how_they_begin_and_end_for_who_may_see_them(door: Door) -> None:
    for name in ("users/dana/likes", "users/eli/likes", "users/eli/work", "shop", "shop/users"):
        put(door, name, "k", f"in {name}")

    def names(key: str | None = None, **asked: Any) -> list[str]:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        found = door.api.call("GET", "/v1/namespaces", params=asked, headers=headers)
        assert not found["more"]
        told: list[str] = found["namespaces"]
        return told

    assert names() == [
        "shop",
        "shop/users",
        "users/dana/likes",
        "users/eli/likes",
        "users/eli/work",
    ]
    assert names(prefix="users") == ["users/dana/likes", "users/eli/likes", "users/eli/work"]
    assert names(prefix="users/*/likes") == ["users/dana/likes", "users/eli/likes"]
    assert names(suffix="likes") == ["users/dana/likes", "users/eli/likes"]
    assert names(suffix="eli/*") == ["users/eli/likes", "users/eli/work"]
    assert names(prefix="users", max_depth=2) == ["users/dana", "users/eli"]
    page = door.api.call("GET", "/v1/namespaces", params={"limit": 2, "offset": 1})
    assert page == {"namespaces": ["shop/users", "users/dana/likes"], "more": True}
    made = door.api.call("POST", "/v1/keys", json={"name": "p", "role": "agent", "client_id": "x"})
    assert names(key=made["secret"]) == []


def test_what_lasted_for_a_time_is_read_by_nobody_then_and_removed_by_the_sweep(
    door: Door, database: Database
) -> None:
    kept = put(door, "cache", "kept", "the kept weather", ttl_seconds=3600)
    gone = put(door, "cache", "gone", "the gone weather", ttl_seconds=60)
    assert listed(door, namespace="cache") == {"the kept weather", "the gone weather"}
    head = door.api.call("GET", "/v1/ledger/verify")["head_position"]
    found = door.api.call("POST", "/v1/search", json={"query": "weather", "min_relevance": 0})
    assert len(texts(found)) == 2
    let_expire(database, gone["id"])
    again = door.api.call("POST", "/v1/search", json={"query": "weather", "min_relevance": 0})
    assert texts(again) == {"the kept weather"}, "not even from the cache"
    assert listed(door, namespace="cache") == listed(door) == {"the kept weather"}
    assert texts(door.search("weather", as_of=head, **WORDS)) == {"the kept weather"}
    for path in (gone["id"], f"{gone['id']}/history"):
        assert door.api.answer("GET", f"/v1/memories/{path}").status_code == 404
    asked = {"ids": [kept["id"], gone["id"]]}
    told = door.api.call("POST", "/v1/memories/refresh", json=asked)["refreshed"]
    assert [each["id"] for each in told] == [kept["id"]]

    assert sweep(door) == 1
    assert sweep(door) == 0
    (entry,) = door.api.call("GET", "/v1/ledger", params={"type": "node.purged"})["items"]
    assert entry["meta"] == {"node_ids": [gone["id"]], "rule": "ttl"}
    assert rebuilds_alike(door)


def test_what_expired_is_written_again_and_what_is_said_again_lasts_longer(
    door: Door, database: Database
) -> None:
    first = put(door, "cache", "k", "soon over", ttl_seconds=60)
    let_expire(database, first["id"])
    said = put(door, "cache", "k", "soon over", ttl_seconds=60)
    assert listed(door, namespace="cache") == {"soon over"}
    before = door.api.call("GET", f"/v1/memories/{said['id']}")["expires_at"]
    put(door, "cache", "k", "soon over", ttl_seconds=60)
    after = door.api.call("GET", f"/v1/memories/{said['id']}")
    assert (after["ttl_seconds"], after["expires_at"] > before) == (60, True)
    refused = door.api.answer(
        "POST", "/v1/memories", json={"text": "x", "type": "fact", "ttl_seconds": 0}
    )
    assert refused.status_code == 422
    assert rebuilds_alike(door)


def test_lists_and_vectors_go_by_the_indexes_of_namespaces_and_metadata(
    door: Door, database: Database
) -> None:
    with database.connect_as_superuser() as root:
        root.execute(
            """INSERT INTO node (workspace_id, id, label, text, content_hash, data_subjects, state,
                 occurred_at, valid_from, recorded_at, entry_id, created_position, position,
                 namespace, key, metadata)
               SELECT %s, gen_random_uuid(), 'Memory', 'one of many', '', '{}', 'active', now(),
                 now(), now(), gen_random_uuid(), g, g, 'n/' || g %% 100, 'k' || g,
                 jsonb_build_object('value', g)
                 FROM generate_series(1, 6000) g""",
            [door.world.workspace_id],
        )
        root.execute("ANALYZE node")
        root.autocommit = False
        root.execute("SET ROLE cairn_app")
        root.execute(
            """SELECT set_config('cairn.workspace_id', %s, false),
                 set_config('cairn.scopes', 'admin', false)""",
            [str(door.world.workspace_id)],
        )
        root.commit()
        for of_namespace, below, matching, key, index in (
            ("n/7", None, None, "k107", "namespace"),
            (None, "n/7", None, None, "namespace"),
            (None, None, '$."value" == 7', None, "metadata"),
        ):
            found = root.execute(
                "SELECT count(*) > 0 FROM find_memories(%s, %s, %s::jsonpath, %s, NULL)",
                [of_namespace, below, matching, key],
            ).fetchone()
            assert found == (True,)
            scans = root.execute(
                """SELECT sum(pg_stat_get_xact_numscans(indexrelid)) FROM pg_index
                    WHERE indexrelid::regclass::text ~ ('^node_p[0-9]+_' || %s)""",
                [index],
            ).fetchone()
            assert scans is not None
            assert scans[0] > 0, (below, matching, key)
            root.rollback()  # begins to count anew
