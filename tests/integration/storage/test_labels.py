"""Nodes with several labels, and nodes found by their properties, at the API's door."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from uuid import UUID

from tests.integration.storage import test_search_front
from tests.integration.storage.test_namespaces import MEANING, WORDS, rebuilds_alike
from tests.integration.storage.test_search_front import Door, texts
from tests.support.forgetting import erase_in_memory

if TYPE_CHECKING:
    import pytest
    from tests.plugins.postgres import Database

door = test_search_front.door
KEY = "Ada keeps the spare key"


def write(door: Door, label: str, *labels: str, **properties: Any) -> dict[str, Any]:
    body = {"label": label, "labels": list(labels), "properties": properties}
    written: dict[str, Any] = door.api.call("POST", "/v1/nodes", json=body)
    return written


def query(door: Door, *labels: str, **asked: Any) -> dict[str, Any]:
    body = {"labels": list(labels), **asked}
    answer: dict[str, Any] = door.api.call("POST", "/v1/query/nodes", json=body)
    return answer


def refused(door: Door, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = door.api.answer(method, path, json=body)
    assert answer.is_client_error, answer.text
    problem: dict[str, Any] = answer.json()
    return problem


def titles(answer: dict[str, Any]) -> list[str]:
    return [node["title"] for node in answer["items"]]


def of(door: Door, where: dict[str, Any] | list[dict[str, Any]]) -> set[str]:
    conditions = where if isinstance(where, list) else [where]
    answer = query(door, "Machine", where=conditions)
    assert answer["warnings"] == []
    return set(titles(answer))


def test_a_node_is_found_by_each_of_its_labels_in_lists_searches_and_walks(door: Door) -> None:
    made = write(door, "Runbook", "Procedure", "Reviewed", "Runbook", title="Restart the mail")
    other = write(door, "Runbook", title="Mail is slow")
    third = write(door, "Procedure", title="Post the mail")
    door.enrich()
    node = door.api.call("GET", f"/v1/nodes/{made['id']}")
    assert (node["label"], node["labels"]) == ("Runbook", ["Runbook", "Procedure", "Reviewed"])
    pages = {
        label: door.api.call("GET", "/v1/nodes", params={"label": label})["items"]
        for label in ("Runbook", "Procedure", "Reviewed")
    }
    assert {label: {each["id"] for each in page} for label, page in pages.items()} == {
        "Runbook": {made["id"], other["id"]},
        "Procedure": {made["id"], third["id"]},
        "Reviewed": {made["id"]},
    }
    assert titles(query(door, "Procedure", "Runbook")) == ["Restart the mail"]
    assert titles(query(door, "Reviewed", "Procedure")) == ["Restart the mail"]
    for how in (WORDS, MEANING):
        found = door.search("mail", labels=["Procedure"], **how)
        assert texts(found) == {"Restart the mail", "Post the mail"}
    walked = door.api.call(
        "POST", "/v1/query/subgraph", json={"node_ids": [made["id"]], "labels": ["Reviewed"]}
    )
    assert [each["node_id"] for each in walked["nodes"]] == [made["id"]]
    assert walked["meta"]["warnings"] == []


def test_labels_are_added_by_writing_again_and_set_with_what_was_before_kept(door: Door) -> None:
    made = write(door, "Runbook", "Draft", title="Turn it off")
    again = write(door, "Runbook", "Reviewed", title="Turn it off")
    assert (again["outcome"], again["id"]) == ("duplicate", made["id"])
    person = {"label": "Entity", "kind": "person", "properties": {"name": "Ida Lund"}}
    entity = door.api.call("POST", "/v1/nodes", json=person)
    both = [person | {"labels": ["Customer"]}, person | {"labels": ["Partner"]}]
    door.api.call("POST", "/v1/nodes", json={"items": both})
    shown = door.api.call("GET", f"/v1/nodes/{entity['id']}")
    assert shown["labels"] == ["Entity", "Customer", "Partner"]
    door.enrich()
    before = door.api.call("GET", "/v1/ledger/verify")["head_position"]
    path = f"/v1/nodes/{made['id']}/labels"
    done = door.api.call("PUT", path, json={"labels": ["Retired", "Runbook"]})
    assert done["position"] > before
    assert door.api.call("PUT", path, json={"labels": ["Retired"]}) == done
    node = door.api.call("GET", f"/v1/nodes/{made['id']}")
    assert node["labels"] == ["Runbook", "Retired"]
    for how in (WORDS, MEANING):
        assert texts(door.search("turn", labels=["Reviewed"], **how)) == set()
        past = door.search("turn", labels=["Reviewed"], as_of=before, **how)
        assert texts(past) == {"Turn it off"}
        assert texts(door.search("turn", labels=["Retired"], **how)) == {"Turn it off"}
    assert rebuilds_alike(door)


def test_a_forgotten_node_of_several_labels_is_gone_from_each_of_them_now_and_as_it_was(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = {"properties": {"title": KEY}, "data_subjects": ["ada"]}
    body = {"label": "Runbook", "labels": ["Procedure", "Reviewed"], **about}
    made = door.api.call("POST", "/v1/nodes", json=body)
    write(door, "Runbook", "Procedure", title="Restart the mail")
    door.enrich()
    door.api.call("PUT", f"/v1/nodes/{made['id']}/labels", json={"labels": ["Procedure"]})
    before = door.api.call("GET", "/v1/ledger/verify")["head_position"]
    assert texts(door.search("spare key", labels=["Procedure"], **WORDS)) == {KEY}
    erase_in_memory(monkeypatch, door.folder)
    subject = {"kind": "person", "natural_key": "ada"}
    door.api.call("POST", "/v1/forget", json={"subject": subject})
    for label in ("Runbook", "Procedure", "Reviewed"):
        page = door.api.call("GET", "/v1/nodes", params={"label": label})["items"]
        assert made["id"] not in {each["id"] for each in page}
        assert made["id"] not in str(query(door, label))
        for as_of in (None, before):
            found = door.search("spare key", labels=[label], as_of=as_of, **WORDS)
            assert KEY not in texts(found)
    assert len(query(door, "Runbook", "Procedure")["items"]) == 1
    assert rebuilds_alike(door)


def test_labels_that_name_records_of_their_own_or_are_too_many_are_refused(door: Door) -> None:
    for labels, fault in (
        (["Memory"], "Memory is written by its own route"),
        (["Ticket"], "Ticket is written by its own route"),
        (["lower"], "is a capital letter"),
        (["Nul\x00"], "labels.0"),
        ([f"L{number}" for number in range(9)], "are at most 8"),
        ([f"L{number}" for number in range(30)], "labels"),
    ):
        problem = refused(
            door,
            "POST",
            "/v1/nodes",
            {"label": "Runbook", "labels": labels, "properties": {"title": "No"}},
        )
        assert problem["status"] == 422 and fault in str(problem)
    made = write(door, "Runbook", *[f"A{number}" for number in range(8)], title="Full")
    problem = refused(
        door,
        "POST",
        "/v1/nodes",
        {"label": "Runbook", "labels": ["B"], "properties": {"title": "Full"}},
    )
    assert "at most 8" in str(problem)
    unknown = UUID(int=7)
    problem = refused(door, "PUT", f"/v1/nodes/{unknown}/labels", {"labels": []})
    assert problem["status"] == 404
    assert len(door.api.call("GET", f"/v1/nodes/{made['id']}")["labels"]) == 9


MACHINES: list[dict[str, Any]] = [
    {
        "title": "press",
        "watts": 1500,
        "on": True,
        "tags": ["loud", "Old hall"],
        "due": "2026-03-01",
        "price": "900",
    },
    {
        "title": "lathe",
        "watts": 700,
        "on": False,
        "tags": ["quiet"],
        "due": "2026-02-28T23:30:00-02:00",
        "price": "1200.5",
    },
    {"title": "drill", "watts": 90, "owner": {"team": "Yard"}, "due": "soon", "price": "n/a"},
]
CONDITIONS: list[tuple[dict[str, Any], set[str]]] = [
    ({"path": ["watts"], "value": 700}, {"lathe"}),
    ({"path": ["watts"], "op": "ne", "value": 700}, {"press", "drill"}),
    ({"path": ["watts"], "op": "in", "value": [90, 1500]}, {"press", "drill"}),
    ({"path": ["watts"], "op": "gt", "value": "100"}, {"press", "lathe"}),  # read as a number
    ({"path": ["watts"], "op": "lte", "value": 700}, {"lathe", "drill"}),
    ({"path": ["price"], "op": "gt", "value": 1000}, {"lathe"}),  # numbers in texts
    ({"path": ["price"], "op": "in", "value": [900], "type": "number"}, {"press"}),
    ({"path": ["price"], "op": "gte", "value": "900", "type": "text"}, {"press", "drill"}),
    ({"path": ["on"], "value": "true"}, {"press"}),
    ({"path": ["on"], "op": "exists", "value": False}, {"drill"}),
    ({"path": ["tags"], "value": "loud"}, {"press"}),
    ({"path": ["tags"], "op": "contains", "value": "OLD"}, {"press"}),
    ({"path": ["owner", "team"], "op": "contains", "value": "yar"}, {"drill"}),
    ({"path": ["owner", "team"], "op": "contains", "value": ".*"}, set()),
    ({"path": ["due"], "op": "gt", "value": "2026-03-01T00:00:00Z"}, {"lathe"}),  # 01:30 in UTC
    ({"path": ["due"], "op": "lte", "value": "2026-03-01", "type": "time"}, {"press"}),
    ({"path": ["due"], "op": "ne", "value": "2026-03-01", "type": "time"}, {"lathe", "drill"}),
    ({"path": ["due"], "op": "in", "value": ["2026-03-01"], "type": "time"}, {"press"}),
    ({"path": ["title"], "op": "contains", "value": "L"}, {"lathe", "drill"}),
    ({"path": ["importance"], "op": "gte", "value": "5"}, {"press", "lathe", "drill"}),
    ({"path": ["occurred_at"], "op": "lt", "value": "2020-01-01"}, set()),
    ({"path": ["occurred_at"], "op": "gt", "value": "2020-01-01"}, {"press", "lathe", "drill"}),
]


def test_properties_are_compared_by_what_they_are(door: Door) -> None:
    for each in MACHINES:
        write(door, "Machine", **each)
    write(door, "Tool", title="hammer", watts=700, on=True, tags=["loud"])
    for where, expected in CONDITIONS:
        assert of(door, where) == expected, where
    both = [{"path": ["watts"], "op": "gt", "value": 100}, {"path": ["on"], "value": False}]
    assert of(door, both) == {"lathe"}
    pages: list[str] = []
    cursor = None
    for _ in range(3):
        where = [{"path": ["price"], "op": "exists", "value": True}]
        page = query(door, "Machine", where=where, limit=1, cursor=cursor)
        pages += titles(page)
        cursor = page["next_cursor"]
    assert (pages, cursor) == (["drill", "lathe", "press"], None)


def test_what_names_nothing_is_a_warning_and_what_cannot_be_compared_a_refusal(door: Door) -> None:
    for each in MACHINES:
        write(door, "Machine", **each)
    answer = query(door, "Machine", where=[{"path": ["wats"], "value": 700}])
    assert answer["items"] == []
    assert answer["warnings"] == ["No Machine node has the property wats; did you mean watts?"]
    missing = query(door, "Machine", where=[{"path": ["zzz"], "op": "ne", "value": 1}])
    assert len(missing["items"]) == 3
    assert missing["warnings"] == ["No Machine node has the property zzz."]
    other = query(door, "Machine", where=[{"path": ["watts"], "op": "gt", "value": "many"}])
    assert other["warnings"] == [
        "watts is number in the nodes looked at, and was compared with a text."
    ]
    assert query(door, "Machnie")["warnings"] == ["No node has the label Machnie."]
    hostile: list[dict[str, Any]] = [
        {"path": [], "value": 1},
        {"path": ["a\x00"], "value": 1},
        {"path": ["a"], "value": "\x00"},
        {"path": ["a"], "op": "like", "value": 1},
        {"path": ["a"], "op": "in", "value": 3},
        {"path": ["a"], "op": "gt", "value": None},
        {"path": ["a"], "op": "contains", "value": ""},
        {"path": ["a"], "op": "gt", "value": "soon", "type": "time"},
        {"path": ["a"], "op": "gt", "value": "2026-13-01", "type": "time"},
        {"path": ["a"], "op": "gt", "value": "many", "type": "number"},
        {"path": ["a"], "value": {"b": 1}},
    ]
    for where in hostile:
        body = {"labels": ["Machine"], "where": [where]}
        problem = refused(door, "POST", "/v1/query/nodes", body)
        assert problem["status"] == 422, where
    quoted = "\"' || $ && (@) \\ OR 1=1 --"
    write(door, "Machine", title="odd", **{quoted: quoted})
    assert titles(query(door, "Machine", where=[{"path": [quoted], "value": quoted}])) == ["odd"]


def test_a_rare_property_and_a_rare_label_are_looked_up_in_an_index(
    door: Door, database: Database
) -> None:

    for number in range(3):
        write(door, "Part", "Spare", title=f"part {number}", serial=f"s{number}")
    with database.connect_as_superuser() as root:
        root.execute(
            """INSERT INTO node (workspace_id, id, label, text, content_hash, data_subjects,
                 state, occurred_at, valid_from, recorded_at, entry_id, created_position, position,
                 metadata)
               SELECT workspace_id, gen_random_uuid(), label, text, content_hash, data_subjects,
                 state, occurred_at, valid_from, recorded_at, entry_id, created_position, position,
                 jsonb_build_object('serial', 'bulk' || n)
                 FROM node, generate_series(1, 20000) AS n
                WHERE workspace_id = %s AND metadata ->> 'serial' = 's0'""",
            [door.world.workspace_id],
        )
        root.execute("ANALYZE node")
    with database.connect_as_superuser() as root:
        root.autocommit = True
        root.execute("VACUUM node")  # what waits to be put into an index is there
    where = [{"path": ["serial"], "value": "s1"}]
    assert titles(query(door, "Part", where=where)) == ["part 1"]
    with door.world.pool.connection() as connection, connection.transaction():
        for name, value in (("workspace_id", str(door.world.workspace_id)), ("scopes", "admin")):
            connection.execute("SELECT set_config(%s, %s, true)", [f"cairn.{name}", value])
        connection.execute("SELECT set_config('cairn.conversations', 'all', true)")
        for labels, path in ((["Part"], '$."serial" == "s1"'), (["Spare"], None)):
            explained = (
                "EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM find_nodes(%s, NULL, NULL,"
                " %s::jsonpath, NULL, NULL, 50)"
            )
            connection.execute(explained, [labels, path])  # which reads what plans need, once
            plan = connection.execute(explained, [labels, path]).fetchall()
            read = re.search(r"Buffers: shared hit=(\d+)", str(plan))
            assert read is not None and int(read[1]) < 100, plan


def test_what_a_delegated_run_writes_over_mcp_comes_of_its_conversation(door: Door) -> None:
    said = {"channel": "api", "session_id": "parent", "role": "user", "text": "Look into it."}
    conversation = door.api.call("POST", "/v1/conversations/messages", json=said)
    headers = {
        "accept": "application/json, text/event-stream",
        "cairn-session-id": "parent",
        "host": "127.0.0.1:8080",
    }

    def tool(name: str, **arguments: Any) -> dict[str, Any]:
        params = {"name": name, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = door.api.call("POST", "/mcp", json=message, headers=headers)
        structured: dict[str, Any] = answer["result"]["structuredContent"]
        return structured

    node = tool("node_write", label="Finding:Reviewed", title="The fuse is blown")
    makers = tool("node_trace", id=node["id"])
    assert {"type": "Conversation"}.items() <= makers["nodes"][-1].items()
    assert makers["nodes"][-1]["id"] == conversation["conversation_id"]
    own = tool("memory_remember", text="The fuse is in the cellar.")
    other = tool("memory_remember", text="The cellar is dry.", session_id="another")
    found = {
        each["id"]: each["session_id"] for each in door.api.call("GET", "/v1/memories")["items"]
    }
    assert found == {own["id"]: "parent", other["id"]: "another"}
    assert tool("memory_recall", query="fuse")["results"]
