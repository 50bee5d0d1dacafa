"""`/v1/connectors`: what agents act through. Registry and host are the real ones."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from tests.support.hosting import REFUSED_DSN, said
from tests.unit.api.connector_fakes import ConnectorWorld
from tests.unit.api.fakes import AGENT_KEY, PUBLIC_KEY, Client, World

from cairn.connectors.requests import ConnectorChange
from cairn.safety.tools import Autonomy

NEW: dict[str, Any] = {
    "name": "accounts",
    "transport": "in_process",
    "builtin": "accounts",
    "secrets": {"dsn": "postgresql://desk:hunter2@db/shop"},
    "scopes": "read: {allow: ['*']}\nwrite: {allow: ['reset']}",
    "autonomy": "propose",
    "criticality": "halt",
}


@pytest.fixture
def world() -> Iterator[ConnectorWorld]:
    world = ConnectorWorld()
    yield world
    world.hosting.host.close()


@pytest.fixture
def client(world: ConnectorWorld) -> Client:
    return Client(World(connecting=world))


def patch(client: Client, path: str, body: dict[str, Any]) -> httpx.Response:
    return client.request("PATCH", path, json=body)


def test_a_connector_is_registered_started_and_shown_without_its_secrets(client: Client) -> None:
    made = client.post("/v1/connectors", NEW)

    assert made.status_code == 201
    shown = made.json()
    assert (shown["name"], shown["state"], shown["error"]) == ("accounts", "ready", None)
    assert (shown["version"], shown["safe"], shown["tools"]) == ("1.0.0", True, 2)
    assert (shown["autonomy"], shown["criticality"]) == ("propose", "halt")
    assert shown["secret_names"] == ["dsn"]
    assert "hunter2" not in made.text
    assert client.get("/v1/connectors").json()["items"] == [shown]
    assert client.get("/v1/connectors/accounts").json() == shown


def test_its_tools_are_shown_as_the_rules_read_them(client: Client) -> None:
    client.post("/v1/connectors", NEW)

    [find, reset] = client.get("/v1/connectors/accounts/tools").json()["items"]

    assert (find["name"], find["scope"], find["dangerous"]) == ("find", "read", False)
    assert (reset["scope"], reset["dangerous"], reset["idempotent"]) == ("write", True, True)
    assert set(reset["arguments"]["properties"]) == {"user"}


def test_one_that_does_not_start_is_kept_and_says_why(
    client: Client, world: ConnectorWorld
) -> None:
    world.script.version = "latest"

    shown = client.post("/v1/connectors", NEW).json()

    assert (shown["state"], shown["error"]) == ("degraded", "manifest-version")
    assert "semantic" in shown["detail"]


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"name": "Accounts"}, "name"),
        ({"name": "a.b"}, "name"),
        ({"name": "health"}, "name"),
        ({"name": "аccounts"}, "name"),  # noqa: RUF001 - a Cyrillic letter
        ({"builtin": "m365"}, "builtin"),
        ({"builtin": None}, "builtin"),
        ({"command": ["ls"]}, "builtin"),
        ({"builtin": None, "command": ["ls"]}, "transport"),
        ({"builtin": None, "url": "https://mcp.example.org"}, "transport"),
        ({"config": {"dsn": "postgresql://db/shop"}}, "config.dsn"),
        ({"config": {"api_key": "sk-0123456789abcdef0123"}}, "config"),
        ({"secrets": {"DSN": "x"}}, "secrets"),
        ({"secrets": {"dsn": ""}}, "secrets.dsn"),
        ({"scopes": "read: [nonsense"}, "scopes"),
        ({"scopes": "connector: other\nscopes: {}"}, "connector"),
        ({"autonomy": "everything"}, "body.autonomy"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(
    client: Client, changes: dict[str, Any], place: str
) -> None:
    refused = client.post("/v1/connectors", {**NEW, **changes})

    assert refused.status_code == 422
    assert [error["location"] for error in refused.json()["errors"]] == [place]
    assert client.get("/v1/connectors").json()["items"] == []


@pytest.mark.parametrize(
    "url",
    [
        "http://mcp.example.org/mcp",
        "https://127.0.0.1/mcp",
        "https://169.254.169.254/latest",
        "https://ada:hunter2@mcp.example.org/mcp",
        "ftp://mcp.example.org",
    ],
)
def test_addresses_that_are_not_public_https_are_refused(client: Client, url: str) -> None:
    asked = {"name": "far", "transport": "http", "url": url}

    refused = client.post("/v1/connectors", asked)

    assert refused.status_code == 422
    assert [error["location"] for error in refused.json()["errors"]] == ["url"]
    assert "hunter2" not in refused.text


def test_a_database_of_cairns_is_refused(client: Client) -> None:
    refused = client.post("/v1/connectors", {**NEW, "secrets": {"dsn": REFUSED_DSN}})

    assert (refused.status_code, refused.json()["reason"]) == (422, "connector-database")
    assert "secret@" not in refused.text
    client.post("/v1/connectors", NEW)
    changed = patch(client, "/v1/connectors/accounts", {"secrets": {"dsn": REFUSED_DSN}})
    assert changed.status_code == 422


@pytest.mark.parametrize("name", ["accounts", "acc0unts", "account-s"])
def test_a_name_that_is_taken_or_looks_like_one_is_refused(client: Client, name: str) -> None:
    client.post("/v1/connectors", NEW)

    refused = client.post("/v1/connectors", {**NEW, "name": name})

    assert (refused.status_code, refused.json()["reason"]) == (409, "connector-name")


def test_other_scopes_do_not_restart_it_and_other_secrets_do(
    client: Client, world: ConnectorWorld
) -> None:
    client.post("/v1/connectors", NEW)

    scoped = patch(client, "/v1/connectors/accounts", {"scopes": "", "autonomy": "off"}).json()
    assert (scoped["scopes"], scoped["autonomy"], world.script.starts) == ("", "off", 1)
    secret = patch(client, "/v1/connectors/accounts", {"secrets": {"dsn": "postgresql://b/c"}})
    assert (secret.json()["state"], world.script.starts) == ("ready", 2)


def test_one_secret_is_renewed_or_removed_and_the_others_stay(
    client: Client, world: ConnectorWorld
) -> None:
    client.post("/v1/connectors", NEW | {"secrets": {"dsn": "postgresql://a/b", "token": "old"}})

    renewed = patch(client, "/v1/connectors/accounts", {"secrets": {"token": "new"}}).json()

    assert renewed["secret_names"] == ["dsn", "token"]
    connector = world.hosting.found("accounts").connector
    kept = world.hosting.directory.launch(world.workspace_id, connector).secrets
    assert kept == {"dsn": "postgresql://a/b", "token": "new"}
    removed = patch(client, "/v1/connectors/accounts", {"secrets": {"token": None}}).json()
    assert removed["secret_names"] == ["dsn"]


def test_a_change_that_another_overtook_undoes_nothing(
    client: Client, world: ConnectorWorld
) -> None:
    client.post("/v1/connectors", NEW)
    admin, quick = world.hosting.principal, world.registry

    def meanwhile(dsn: str) -> None:
        quick.change(admin, "accounts", ConnectorChange(autonomy=Autonomy.OFF))

    world.registry = replace(quick, database=meanwhile)
    slow = patch(
        Client(World(connecting=world)),
        "/v1/connectors/accounts",
        {"secrets": {"dsn": "postgresql://b/c"}},
    )

    assert (slow.status_code, slow.json()["reason"]) == (409, "connector-changed")
    assert quick.one(admin, "accounts").connector.autonomy is Autonomy.OFF


RULES = [{"url": "https://api.example.org/v1/", "secret_headers": {"Authorization": "a"}}]
ELSEWHERE = [{"url": "https://evil.example.org/", "secret_headers": {"Authorization": "a"}}]


@pytest.mark.parametrize(
    ("runs", "change"),
    [
        ({"transport": "http", "url": "https://1.1.1.1/mcp"}, {"url": "https://8.8.8.8/mcp"}),
        ({"transport": "http", "url": "https://1.1.1.1/mcp"}, {"url": "https://1.1.1.1:444/mcp"}),
        ({"transport": "stdio", "command": ["true"]}, {"command": ["false"]}),
        ({"transport": "stdio", "command": ["true"]}, {"config": {"env": {"API": "x"}}}),
        ({"builtin": "http", "config": {"rules": RULES}}, {"config": {"rules": ELSEWHERE}}),
        ({"builtin": "zoho-desk"}, {"config": {"accounts_url": "https://evil.example.org"}}),
    ],
)
def test_kept_secrets_follow_to_no_other_address(
    client: Client, runs: dict[str, Any], change: dict[str, Any]
) -> None:
    new = {"name": "accounts", "transport": "in_process", "secrets": {"a": "1", "b": "2"}}
    assert client.post("/v1/connectors", new | runs).status_code == 201

    for secrets in ({}, {"secrets": {"a": "3"}}):
        refused = patch(client, "/v1/connectors/accounts", change | secrets)
        assert (refused.status_code, refused.json()["reason"]) == (422, "secrets-needed")
        assert "address: " in refused.json()["detail"] and refused.json()["detail"].endswith("b.")
    given = {"secrets": {"a": "3", "b": None}}
    assert patch(client, "/v1/connectors/accounts", change | given).status_code == 200


def test_settings_may_name_a_secret_where_they_may_not_hold_one(client: Client) -> None:
    http: dict[str, Any] = {"builtin": "http", "secrets": {"a": "Bearer x"}, "scopes": ""}
    assert (
        client.post("/v1/connectors", NEW | http | {"config": {"rules": RULES}}).status_code == 201
    )
    holding = [{"url": "https://a.example/", "headers": {"Authorization": "Bearer x"}}]
    change = {"config": {"rules": holding}, "secrets": {"a": "x"}}
    refused = patch(client, "/v1/connectors/accounts", change)
    assert (refused.status_code, refused.json()["errors"][0]["location"]) == (422, "config")


def test_another_path_at_the_same_address_keeps_its_secrets(client: Client) -> None:
    at = {"transport": "http", "url": "https://1.1.1.1/mcp", "builtin": None, "secrets": {"a": "1"}}
    client.post("/v1/connectors", NEW | at)

    moved = patch(client, "/v1/connectors/accounts", {"url": "https://1.1.1.1/v2/mcp"})

    assert (moved.status_code, moved.json()["secret_names"]) == (200, ["a"])


def test_a_restart_accepts_what_it_lists_now(client: Client, world: ConnectorWorld) -> None:
    before = client.post("/v1/connectors", NEW).json()
    world.script.tools = world.script.tools[:1]
    held = client.post("/v1/connectors/accounts/check", None).json()
    assert (held["state"], held["error"], held["hash"]) == (
        "degraded",
        "manifest-changed",
        before["hash"],
    )

    restarted = client.post("/v1/connectors/accounts/restart", None).json()

    assert (restarted["state"], restarted["error"], restarted["tools"]) == ("ready", None, 1)
    assert restarted["hash"] != before["hash"]


def test_a_tool_that_reads_can_be_tried_out_and_one_that_writes_only_dry(
    client: Client, world: ConnectorWorld
) -> None:
    client.post("/v1/connectors", NEW)
    world.script.answers["find"] = said("Ada")
    read = {"arguments": {"user": "ada"}, "dry_run": False}

    assert client.post("/v1/connectors/accounts/tools/find", read).json()["text"] == "Ada"
    refused = client.post("/v1/connectors/accounts/tools/reset", read)
    assert (refused.status_code, refused.json()["reason"]) == (409, "dry-run")
    dry = client.post("/v1/connectors/accounts/tools/reset", {"arguments": {"user": "ada"}})
    assert dry.json()["simulated"] is False
    assert world.script.calls[-1][1] == {"user": "ada", "dry_run": True}


def test_wrong_arguments_are_refused_without_repeating_them(client: Client) -> None:
    client.post("/v1/connectors", NEW)

    refused = client.post(
        "/v1/connectors/accounts/tools/find", {"arguments": {"user": 7, "dry_run": True}}
    )

    assert refused.status_code == 422
    assert {error["location"] for error in refused.json()["errors"]} == {"dry_run"}


def test_what_waited_goes_on_when_a_person_has_mended_it_and_it_is_well(
    client: Client, world: ConnectorWorld
) -> None:
    client.post("/v1/connectors", NEW)
    world.script.version = "broken"
    client.post("/v1/connectors/accounts/restart", None)
    client.post("/v1/connectors/accounts/check", None)
    patch(client, "/v1/connectors/accounts", {"autonomy": "act"})
    assert world.hosting.mended == []

    world.script.version = "1.0.1"
    patch(client, "/v1/connectors/accounts", {"secrets": {"dsn": "postgresql://new/shop"}})

    assert world.hosting.mended == ["connector:accounts"]


def test_how_they_are_is_shown_at_a_glance(client: Client, world: ConnectorWorld) -> None:
    client.post("/v1/connectors", NEW)
    assert client.get("/v1/connectors/health").json()["well"] is True
    world.script.tools = world.script.tools[:1]
    client.post("/v1/connectors/accounts/check", None)

    health = client.get("/v1/connectors/health").json()

    assert health["well"] is False
    [one] = health["items"]
    assert (one["name"], one["state"], one["error"]) == ("accounts", "degraded", "manifest-changed")


def test_a_removed_connector_is_gone(client: Client) -> None:
    client.post("/v1/connectors", NEW)

    assert client.delete("/v1/connectors/accounts").json() == {"name": "accounts"}
    assert client.get("/v1/connectors/accounts").status_code == 404
    assert client.delete("/v1/connectors/accounts").status_code == 404


def test_each_change_is_an_entry_without_names_or_secrets(
    client: Client, world: ConnectorWorld
) -> None:
    client.post("/v1/connectors", NEW)
    patch(client, "/v1/connectors/accounts", {"autonomy": "act"})
    client.post("/v1/connectors/accounts/restart", None)
    client.delete("/v1/connectors/accounts")

    entries = world.hosting.entries()

    assert [entry.type for entry in entries] == [
        "connector.registered",
        "connector.manifest_seen",
        "connector.changed",
        "connector.restarted",
        "connector.manifest_seen",
        "connector.removed",
    ]
    assert entries[1].meta["version"] == "1.0.0"
    assert len(str(entries[1].meta["hash"])) == 64
    assert not [
        entry for entry in entries if "dsn" in str(entry.meta) or "hunter2" in str(entry.meta)
    ]


@pytest.mark.parametrize("key", [AGENT_KEY, PUBLIC_KEY])
def test_only_admins_may(world: ConnectorWorld, key: str) -> None:
    client = Client(World(connecting=world), key=key)

    assert client.get("/v1/connectors").status_code == 403
    assert client.post("/v1/connectors", NEW).status_code == 403
    assert client.post("/v1/connectors/accounts/restart", None).status_code == 403
