"""`cairn memory` on the real stack, and each command of the guides that nothing else walks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.e2e.cli import cairn, environment
from tests.e2e.tenant import Tenant, open_workspace
from tests.fault.office import Office, open_office
from typer.testing import CliRunner, Result

from cairn.cli.deps import Deps
from cairn.cli.main import app

if TYPE_CHECKING:
    from pathlib import Path

    from tests.plugins.laptop import Laptop

WHY = ("--reason", "The person said so.")


@pytest.fixture(scope="module")
def tenant(laptop: Laptop) -> Tenant:
    return open_workspace(laptop, "memory command")


def run(tenant: Tenant, *arguments: str, answer: str | None = None) -> Result:
    """Run a command in this process, which spares the start of one."""
    with httpx.HTTPTransport() as transport:
        deps = Deps(transport=transport)
        return CliRunner().invoke(
            app, list(arguments), input=answer, env=environment(tenant), obj=deps
        )


def said(tenant: Tenant, *arguments: str) -> str:
    done = run(tenant, *arguments)
    assert done.exit_code == 0, f"{arguments}: {done.stderr}"
    return done.stdout


def told(tenant: Tenant, *arguments: str) -> Any:
    return json.loads(said(tenant, *arguments, "--json"))


def remembered(tenant: Tenant, text: str, *more: str) -> str:
    id_: str = told(tenant, "remember", text, *more)["id"]
    return id_


def test_a_chat_remembers_answers_and_deletes_after_a_yes(tenant: Tenant) -> None:
    chat = ("chat", "--session", "walked", "--client", "tove")
    assert "Remembered:" in said(tenant, *chat, "Please remember: the lamp is run by Tove.")
    asked = told(tenant, *chat, "Who runs the lamp?")
    assert "the lamp is run by Tove." in asked["answer"]
    waits = said(tenant, *chat, "Forget who runs the lamp")
    assert "waits for your yes" in waits
    assert "memory_delete" in waits
    assert "Done:" in said(tenant, *chat, "yes")
    gone = run(tenant, "chat", "--client", "tove", answer="Who runs the lamp?\n\n")
    assert "Nothing that is stored bears on this." in gone.stdout


def test_one_memory_is_listed_shown_corrected_pinned_and_kept_from_recall(tenant: Tenant) -> None:
    old = remembered(tenant, "The ferry leaves at noon.", "--key", "ferry", "--client", "ada")
    assert (
        cairn(tenant, "memory", "list", "--client", "ada", "--json").json()["items"][0]["id"] == old
    )
    assert "The ferry leaves at noon." in said(tenant, "memory", "list", "--key", "ferry")
    assert said(tenant, "memory", "list", "--key", "ferry", "--as-of", "0").count("noon") == 0

    edited = told(tenant, "memory", "edit", old, *WHY, "--text", "The ferry leaves at ten.")
    new = edited["id"]
    assert edited["replaced"] == [old]
    shown = said(tenant, "memory", "show", new)
    assert "The ferry leaves at noon." in shown
    assert "The person said so." in shown
    assert run(tenant, "memory", "edit", old, *WHY, "--text", "At two.").exit_code == 1

    assert told(tenant, "memory", "pin", new)["outcome"] == "changed"
    assert "pinned" in said(tenant, "memory", "list", "--client", "ada")
    assert told(tenant, "memory", "pin", new, "--off")["outcome"] == "changed"

    asked = ("recall", "When does the ferry leave?")
    assert new in said(tenant, *asked, "--json")
    assert run(tenant, "memory", "never-recall", new).exit_code == 2
    said(tenant, "memory", "never-recall", new, *WHY)
    assert new not in said(tenant, *asked, "--json")
    said(tenant, "memory", "never-recall", new, "--off")
    assert new in said(tenant, *asked, "--json")
    said(tenant, "memory", "delete", new, "--yes")
    assert new not in said(tenant, *asked, "--json")
    assert told(tenant, "memory", "restore", new)["outcome"] == "changed"
    assert new in said(tenant, *asked, "--json")


def test_two_memories_are_merged_moved_and_deleted_after_a_yes(tenant: Tenant) -> None:
    one, other = (remembered(tenant, f"The hut has {what}.") for what in ("bunks", "a stove"))
    whole = told(tenant, "memory", "merge", one, other, *WHY)
    assert sorted(whole["replaced"]) == sorted([one, other])
    moved = told(tenant, "memory", "move", whole["id"], *WHY, "--client", "bob")["id"]
    assert [item["id"] for item in told(tenant, "memory", "list", "--client", "bob")["items"]] == [
        moved
    ]
    beginning = moved[:-2]
    assert run(tenant, "memory", "delete", beginning, answer="n\n").exit_code == 1
    assert told(tenant, "memory", "show", beginning)["state"] == "active"
    assert run(tenant, "memory", "delete", beginning, answer="y\n").exit_code == 0
    assert told(tenant, "memory", "list", "--client", "bob")["items"] == []
    nothing = run(tenant, "memory", "show", "00")
    assert (nothing.exit_code, "Traceback" in nothing.stderr) == (1, False)


def test_memories_leave_in_a_file_and_come_back_elsewhere(
    tenant: Tenant, laptop: Laptop, tmp_path: Path
) -> None:
    remembered(tenant, "The lamp is lit at dusk.")
    file = str(tmp_path / "memories.jsonl")
    said(tenant, "memory", "export", "--only", "memories", "--out", file)
    elsewhere = open_workspace(laptop, "elsewhere")
    said(elsewhere, "memory", "import", file, "--dry-run")
    assert told(elsewhere, "memory", "list")["items"] == []
    said(elsewhere, "memory", "import", file)
    assert "The lamp is lit at dusk." in said(elsewhere, "memory", "list")
    ledger = str(tmp_path / "ledger.jsonl")
    said(tenant, "ledger", "export", "--workspace", str(tenant.id), "-o", ledger)
    assert run(tenant, "ledger", "import", ledger, "--name", "again").exit_code == 1
    names = {item["name"] for item in told(tenant, "workspace", "list")["items"]}
    assert any(name.startswith("memory command") for name in names)


def test_the_version_and_the_completion_are_printed(tenant: Tenant) -> None:
    version = cairn(tenant, "--version")
    assert (version.status, version.err) == (0, "")
    assert version.out.split()[-1][0].isdigit()
    completing = {**environment(tenant), "_CAIRN_COMPLETE": "complete_zsh"}
    done = CliRunner().invoke(
        app,
        [],
        prog_name="cairn",
        env={**completing, "_TYPER_COMPLETE_ARGS": "cairn memory nev"},
    )
    assert "never-recall" in done.stdout


def test_every_other_command_of_the_guides_does_its_work(tenant: Tenant, tmp_path: Path) -> None:
    briefing = tmp_path / "briefing.md"
    briefing.write_text("The harbour was quiet.")
    spoken = told(tenant, "conversations", "say", "I moved to Oslo.", "--session", "s")
    conversation = spoken["conversation_id"]
    said(tenant, "conversations", "say", "I like it there.", "--session", "s")
    said(tenant, "conversations", "set", conversation, "--no-infer")
    assert "Oslo" in said(tenant, "conversations", "show", conversation)
    key = told(tenant, "keys", "create", "visitor", "--role", "public", "--agent", "bot")
    said(tenant, "conversations", "bind", conversation, key["key"]["id"])
    node = told(tenant, "nodes", "add", "Note", "Ask the harbour master.")["id"]
    event = told(tenant, "events", "add", "tool.execute", "--text", "opened the gate")["id"]
    searched = told(tenant, "recall", "Where does the user live?")["meta"]["search_id"]
    hook = told(tenant, "webhooks", "add", f"{tenant.base}/nowhere")["id"]
    incoming = told(tenant, "incoming-webhooks", "add", "sensor", "--client", "ada")["id"]
    said(tenant, "settings", "set", "recall.recipe", "knowledge")
    said(tenant, "subscriptions", "set", "bot", "harbour")
    said(tenant, "reports", "write", "Briefing", "--keyword", "day", "--file", str(briefing))
    said(tenant, "personas", "set", "night", "--autonomy", "off")
    for line in (
        *("conversations list", "conversations search Oslo", "events list", f"nodes show {node}"),
        *(
            "nodes list Note",
            f"nodes label {node} Reviewed",
            "nodes list Note --where text~harbour",
            "entities list",
            f"graph lineage {node}",
            "graph query harbour",
        ),
        *(f"searches show {searched}", f"searches replay {searched}", f"cite [memory:{node}]"),
        *("reports latest day", "reports list", "tasks list", "summaries list", "stats"),
        *("subscriptions list", "subscriptions clear bot", "keys list", "keys whoami"),
        *("settings show", "settings history", "settings reset recall.recipe", "reindex"),
        *("webhooks list", f"webhooks deliveries {hook}", f"webhooks remove {hook}"),
        *("incoming-webhooks list", f"incoming-webhooks rotate {incoming}"),
        *(f"incoming-webhooks remove {incoming}", "workspace redaction pii"),
        *("audit-memory --by-words", "personas list", "tickets list"),
        *("personas show night", "personas history night", "personas remove night"),
        *("tickets queue", "ticket-sources list", "connectors list", "tool-calls", "grants list"),
        *("escalations list", "escalations channels", "candidates list", "proposals list"),
        *("approvals list", "investigations list", "cost", "taints list", "ledger verify"),
    ):
        assert said(tenant, *line.split()), line
    assert event in said(tenant, "events", "list", "--json")


def opened(laptop: Laptop, folder: Path) -> Office:
    folder.mkdir()
    return open_office(laptop, folder, repeats=False)


LOCKED = (
    *("tickets", "add", "Account locked", "--customer", "harbour"),
    *("--email", "ada@harbour.example", "--body"),
    "My account is locked after too many sign-in attempts, please unlock it.",
)


def test_people_decide_on_what_agents_ask_and_learn_on_the_command_line(
    laptop: Laptop, tmp_path: Path
) -> None:
    offices = yes, other = [opened(laptop, tmp_path / name) for name in ("yes", "other")]
    tickets = [told(office.tenant, *LOCKED)["id"] for office in offices]
    one, two = (office.question()["id"] for office in offices)
    assert "unlock_user" in said(yes.tenant, "approvals", "show", one)
    approving = ("approvals", "approve", one, "-y", "-r", "She called.", "--uses", "2")
    said(yes.tenant, "grants", "revoke", told(yes.tenant, *approving)["grant"]["id"])
    said(other.tenant, "approvals", "edit", two, "--set", "reason=She rang", "-r", "So.")
    ended = [office.over(ticket) for office, ticket in zip(offices, tickets, strict=True)]
    assert [run["verdict"] for run in ended] == ["auto_resolved"] * 2

    for office, ran in zip(offices, ended, strict=True):
        tenant, run_id = office.tenant, str(ran["id"])
        said(tenant, "investigations", "rate", run_id, "5", "-c", "Quick.")
        steps = tenant.get(f"/v1/investigations/{run_id}/steps", limit=100)["items"]
        seq = str(steps[-1]["seq"])
        text = ("--as", "observation", "--text", "Ada was locked out.")
        kept = told(tenant, "investigations", "remember", run_id, seq, *text)
        assert "Ada was locked out." in said(tenant, "nodes", "show", kept["node_id"])
        [candidate] = told(tenant, "candidates", "list")
        said(tenant, "candidates", "edit", candidate["id"], "--title", "Unlocking")
        assert said(tenant, "candidates", "show", candidate["id"])
        if office is yes:
            accepted = told(tenant, "candidates", "accept", candidate["id"])
            assert tenant.get(f"/v1/documents/{accepted['document_id']}")["title"] == "Unlocking"
            said(tenant, "investigations", "dispute", run_id, "-r", "It was another account.")
        else:
            said(tenant, "candidates", "reject", candidate["id"], "-r", "Too special.")
        assert told(tenant, "candidates", "list") == []
    said(yes.tenant, "tickets", "message", tickets[0], "It works again.", "--external-id", "m1")
    assert "It works again." in said(yes.tenant, "tickets", "show", tickets[0])
    assert told(other.tenant, "tickets", "requeue", tickets[1])["status"] == "queued"
    assert yes.tenant.chain_holds()


def test_grants_sources_proposals_entities_and_summaries_are_changed_on_the_command_line(
    laptop: Laptop, tmp_path: Path
) -> None:
    office = opened(laptop, tmp_path / "office")
    tenant = office.tenant
    given = ("--arguments", '{"email": "**"}', "--uses", "3")
    grant = told(tenant, "grants", "make", "accounts.find_user", "-r", "Reading.", *given)["id"]
    said(tenant, "grants", "revoke", grant)

    secret = tmp_path / "token"
    secret.write_text("github_pat_0", encoding="utf-8")
    config = ("--config", '{"owner": "harbour", "repository": "booking"}')
    kind = ("--kind", "github-issues", *config, "--secret", f"token=@{secret}", "--every", "3600")
    said(tenant, "ticket-sources", "add", "desk", *kind)
    assert told(tenant, "ticket-sources", "set", "desk", "--pause")["state"] == "paused"
    said(tenant, "ticket-sources", "set", "desk", "--resume", "--secret", f"token=@{secret}")
    assert "github_pat_0" not in said(tenant, "ticket-sources", "list", "--json")
    said(tenant, "ticket-sources", "remove", "desk")

    nodes = [
        {"kind": "node", "label": "fact", "natural_key": f"fact:{n}", "status": "provisional",
         "properties": {"text": f"Uses printer {n}."}, "provenance": "proposed"}
        for n in range(2)
    ]  # fmt: skip
    tenant.post("/v1/import", {"items": nodes})
    first, second = (each["id"] for each in told(tenant, "proposals", "list"))
    assert told(tenant, "proposals", "accept", first)["status"] == "active"
    assert told(tenant, "proposals", "reject", second)["status"] == "archived"
    assert run(tenant, "proposals", "accept", second).exit_code == 1
    moved = told(tenant, "memory", "migrate", "--to", "memory")
    assert (moved["nodes"], moved["equal"]) == (2, True)
    elsewhere = open_workspace(laptop, "migrated")
    target = ("--url", elsewhere.base, "--key", elsewhere.key)
    assert told(tenant, "memory", "migrate", "--to", "postgres", *target)["equal"] is True
    assert len(elsewhere.get("/v1/export")["items"]) == 2

    names = ("Northwind Bakery Ltd", "Kowalski Foods GmbH")
    told_ = [
        remembered(tenant, f"{name} delivers bread {n}.", "--type", "event", "--session", "bread")
        for n, name in enumerate(names * 3)
    ]
    tenant.all_embedded()
    one, two = (told(tenant, "entities", "list", name)[0]["id"] for name in names)
    said(tenant, "entities", "alias", one, "Northwind")
    assert "Northwind Bakery Ltd" in said(tenant, "entities", "show", one)
    assert told(tenant, "entities", "list", "Northwind")
    said(tenant, "entities", "alias", one, "Northwind", "--remove")
    said(tenant, "entities", "merge", two, one)
    said(tenant, "entities", "split", one, "--undo", two)
    apart = told(
        tenant, "entities", "split", one, "--name", "Northwind Mill", "--mention", told_[0]
    )
    assert apart["moved_edges"] >= 1

    said(tenant, "consolidate", "--wait")
    summary = told(tenant, "summaries", "list")["items"][0]["id"]
    assert "bread" in said(tenant, "summaries", "show", summary)
    assert tenant.chain_holds()


def test_the_parts_are_looked_at_and_chains_are_anchored(tenant: Tenant) -> None:
    looked = json.loads(run(tenant, "doctor", "--json").stdout)["checks"]
    fine = {check["name"] for check in looked if check["ok"]}
    assert fine >= {"python", "environment", "api", "key", "embedding", "ledger"}
    anchored = run(tenant, "ledger", "anchor")  # chains that other tests broke make it fail
    assert anchored.exit_code == 0 or "A chain does not hold" in anchored.stderr
    assert tenant.get("/v1/ledger/verify", anchors="true")["anchors"]["trusted"] >= 1
    nowhere = run(tenant, "search-index", "status")
    assert (nowhere.exit_code, "There is no search index" in nowhere.stderr) == (1, True)
