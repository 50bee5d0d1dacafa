"""The `cairn` command on the real stack: what works, and what it says when it cannot."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from tests.e2e.cli import cairn
from tests.e2e.tenant import Tenant, open_workspace
from tests.support import slack_replay as slack
from tests.support import zoho_replay as zoho
from tests.support.desks import KINDS, desk_of
from tests.support.mail import PASSWORD, mail_server, written

from benchmarks.samples import SAMPLES

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

NOBODY = "00000000-0000-7000-8000-000000000000"


@pytest.fixture(scope="module")
def tenant(laptop: "Laptop") -> Tenant:
    return open_workspace(laptop, "command line")


def test_what_is_remembered_is_recalled(tenant: Tenant) -> None:
    told = cairn(tenant, "remember", "The gate is locked at ten.", "--key", "gate", "--json")
    assert told.status == 0, told.err
    recalled = cairn(tenant, "recall", "gate", "--json")
    assert recalled.json()["results"][0]["node_id"] in told.out
    assert "The gate is locked at ten." in cairn(tenant, "recall", "gate").out


def test_a_file_is_ingested_and_found(tenant: Tenant) -> None:
    handbook = SAMPLES / "documents" / "handbook.md"
    done = cairn(tenant, "ingest", str(handbook), "--json")
    assert done.status == 0, done.err
    found = cairn(tenant, "recall", "on call", "--label", "Chunk", "--json").json()["results"]
    assert found and found[0]["attributes"]["source_uri"].endswith("handbook.md")


def test_a_document_that_cannot_be_read_makes_the_command_fail(
    tenant: Tenant, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7\n%%EOF")
    done = cairn(tenant, "ingest", str(broken))
    assert done.status == 1
    assert "broken.pdf" in done.out + done.err
    assert "Traceback" not in done.err


def test_a_key_is_made_used_and_revoked(tenant: Tenant) -> None:
    made = cairn(tenant, "keys", "create", "for a test", "--json").json()
    holder = replace(tenant, key=made["secret"])
    assert cairn(holder, "recall", "gate").status == 0
    assert cairn(tenant, "keys", "revoke", made["key"]["id"]).status == 0
    refused = cairn(holder, "recall", "gate")
    assert refused.status == 1
    assert made["secret"] not in refused.out + refused.err


def test_a_help_desk_is_added_polled_paused_and_removed(tenant: Tenant, tmp_path: Path) -> None:
    with zoho.zoho_replay() as desk:
        desk.now = datetime.now(UTC)
        ana = desk.add_contact("ana@pier.example", "Ana")
        desk.add_ticket("The invoice of March is wrong", contact=ana)
        config = {
            "organisation_id": zoho.ORGANISATION,
            "client_id": zoho.CLIENT_ID,
            "desk_url": desk.desk_url,
            "accounts_url": desk.url,
        }
        (tmp_path / "desk.json").write_text(json.dumps(config), encoding="utf-8")
        (tmp_path / "client").write_text(zoho.CLIENT_SECRET, encoding="utf-8")
        (tmp_path / "refresh").write_text(zoho.REFRESH_TOKEN, encoding="utf-8")

        def sources(*arguments: str) -> str:
            done = cairn(tenant, "ticket-sources", *arguments)
            assert done.status == 0, done.err
            return done.out

        secrets = [f"client_secret=@{tmp_path}/client", f"refresh_token=@{tmp_path}/refresh"]
        options = [word for secret in secrets for word in ("--secret", secret)]
        where = ["--kind", "zoho-desk", "--config", f"@{tmp_path}/desk.json"]
        assert "active" in sources("add", "desk", *where, *options)
        told = sources("poll", "desk")
        assert "1 new" in told, told
        listed = cairn(tenant, "tickets", "list", "--json").json()
        assert [each["title"] for each in listed] == ["The invoice of March is wrong"]
        assert "paused" in sources("set", "desk", "--pause")
        assert zoho.REFRESH_TOKEN not in sources("list")
        sources("remove", "desk")
    gone = cairn(tenant, "ticket-sources", "poll", "desk")
    assert (gone.status, "There is no ticket source desk" in gone.err) == (1, True)


def test_a_mailbox_is_a_ticket_source(tenant: Tenant, tmp_path: Path) -> None:
    with mail_server() as server:
        server.mail(written("The invoice of May is wrong.", "Invoice", Message_ID="<1@x.example>"))
        server.mail(written("I am on holiday.", Auto_Submitted="auto-replied"))
        (tmp_path / "mail.json").write_text(json.dumps(server.config()), encoding="utf-8")
        (tmp_path / "password.txt").write_text(PASSWORD, encoding="utf-8")
        where = ["--kind", "mail", "--config", f"@{tmp_path}/mail.json"]
        secret = ["--secret", f"password=@{tmp_path}/password.txt"]
        done = cairn(tenant, "ticket-sources", "add", "mail", *where, *secret)
        assert done.status == 0, done.err
        polled = cairn(tenant, "ticket-sources", "poll", "mail")
        assert "1 new" in polled.out and "1 set aside: automatic" in polled.out, polled
        listed = cairn(tenant, "tickets", "list", "--json").json()
        assert "Invoice" in [each["title"] for each in listed]
        assert PASSWORD not in cairn(tenant, "ticket-sources", "list", "--json").out
        assert cairn(tenant, "ticket-sources", "remove", "mail").status == 0


def test_a_slack_team_is_a_ticket_source(tenant: Tenant, tmp_path: Path) -> None:
    with slack.slack_replay() as team:
        config = {"team_id": slack.TEAM, "api_url": team.url}
        (tmp_path / "slack.json").write_text(json.dumps(config), encoding="utf-8")
        (tmp_path / "token").write_text(slack.BOT_TOKEN, encoding="utf-8")
        (tmp_path / "signing").write_text(slack.SIGNING_SECRET, encoding="utf-8")
        secrets = [f"bot_token=@{tmp_path}/token", f"signing_secret=@{tmp_path}/signing"]
        options = [word for secret in secrets for word in ("--secret", secret)]
        where = ["--kind", "slack", "--config", f"@{tmp_path}/slack.json"]
        added = cairn(tenant, "ticket-sources", "add", "slack", *where, *options, "--json")
        assert added.status == 0, added.err
        path = added.json()["events_path"]

        def deliver(document: object) -> httpx.Response:
            body, headers = slack.signed(document, datetime.now(UTC))
            return httpx.post(f"{tenant.base}{path}", content=body, headers=headers, timeout=20)

        challenge = {"type": "url_verification", "challenge": "3eZbrw1aBm"}
        assert deliver(challenge).json() == {"challenge": "3eZbrw1aBm"}
        asked = team.say("The invoice of June is wrong")
        assert [deliver(asked).json()["new"] for _ in range(3)] == [1, 0, 0]
        listed = cairn(tenant, "tickets", "list", "--json").json()
        assert [each["title"] for each in listed].count("The invoice of June is wrong") == 1
        assert cairn(tenant, "ticket-sources", "poll", "slack").status == 0
        shown = cairn(tenant, "ticket-sources", "list", "--json").out
        assert slack.SIGNING_SECRET not in shown + added.out
        assert cairn(tenant, "ticket-sources", "remove", "slack").status == 0


@pytest.mark.parametrize("kind", KINDS)
def test_each_help_desk_is_a_ticket_source(tenant: Tenant, tmp_path: Path, kind: str) -> None:
    with desk_of(kind) as desk:
        desk.replay.now = datetime.now(UTC)
        title = f"The invoice of {kind} is wrong"
        desk.ask(title, "It says 7 instead of 5.")
        (tmp_path / "desk.json").write_text(json.dumps(desk.config), encoding="utf-8")
        options: list[str] = []
        for name, secret in desk.secrets.items():
            (tmp_path / name).write_text(secret, encoding="utf-8")
            options += ["--secret", f"{name}=@{tmp_path}/{name}"]
        where = ["--kind", kind, "--config", f"@{tmp_path}/desk.json"]
        added = cairn(tenant, "ticket-sources", "add", kind, *where, *options)
        assert added.status == 0, added.err
        polled = cairn(tenant, "ticket-sources", "poll", kind)
        assert polled.status == 0, polled.err  # the schedule may have been first
        listed = cairn(tenant, "tickets", "list", "--json").json()
        assert title in [each["title"] for each in listed]
        shown = cairn(tenant, "ticket-sources", "list", "--json").out + added.out
        assert not [secret for secret in desk.secrets.values() if secret in shown]
        assert cairn(tenant, "ticket-sources", "remove", kind).status == 0


def test_events_are_imported_and_a_task_is_shown(tenant: Tenant, tmp_path: Path) -> None:
    lines = (
        {"id": "a", "type": "tool.called", "text": "look at the lamp", "session_id": "night"},
        {
            "type": "tool.answered",
            "text": "the lamp is dark",
            "session_id": "night",
            "parent_id": "a",
        },
    )
    file = tmp_path / "events.ndjson"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    done = cairn(tenant, "events", "import", str(file))
    assert done.status == 0, done.err
    listed = cairn(tenant, "events", "list", "--session", "night").out
    assert "look at the lamp" in listed and "the lamp is dark" in listed
    file.write_text('{"type": "a result", "text": "nothing"}\n', encoding="utf-8")
    refused = cairn(tenant, "events", "import", str(file))
    assert (refused.status, "[a-z" in refused.err) == (1, True), refused.err
    missing = cairn(tenant, "tasks", "show", NOBODY)
    assert (missing.status, "Traceback" in missing.err) == (1, False)


def test_an_agents_key_may_not_read_the_ledger(tenant: Tenant) -> None:
    agent = replace(tenant, key=tenant.new_key("agent"))
    done = cairn(agent, "ledger", "list")
    assert (done.status, "admin" in done.err) == (1, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ["no-such-command"],
        ["remember"],
        ["recall"],
        ["recall", "x", "--limit", "0"],
        ["ingest", "/no/such/file"],
        ["trace", "nonsense"],
        ["ledger", "verify", "--workspace", "nonsense"],
        ["ledger", "list", "--from", "0"],
        ["keys", "create"],
    ],
    ids=" ".join,
)
def test_wrong_arguments_show_the_usage(tenant: Tenant, arguments: list[str]) -> None:
    done = cairn(tenant, *arguments)
    assert done.status == 2
    assert "Usage" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["remember", "  "],
        ["recall", "x", "--as-of", "yesterday"],
        ["recall", "x", "--recipe", "none"],
        ["trace", NOBODY],
        ["keys", "revoke", NOBODY],
        ["ledger", "verify", "--workspace", NOBODY],
        ["ledger", "export", "--workspace", NOBODY],
        ["redrive", "--queue", "nonsense"],
        ["bench", "locomo", "/no/such/file"],
    ],
    ids=" ".join,
)
def test_what_is_refused_is_one_line_and_status_one(tenant: Tenant, arguments: list[str]) -> None:
    done = cairn(tenant, *arguments)
    assert done.status == 1
    assert done.err.startswith("error: ")
    assert "Traceback" not in done.err
    assert done.out == ""
