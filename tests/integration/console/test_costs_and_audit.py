"""Costs, audit and checks in the console: what is spent, who did what, and whether all is well."""

# pyright: basic

from __future__ import annotations

import csv
import io
import json
import os
from datetime import UTC
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from tests.integration.console.test_connectors import person
from tests.integration.console.test_in_a_browser import CHROMIUM, HOSTILE, looks_well
from tests.integration.console.test_people_in_a_browser import enter
from tests.unit.structure.test_entry_types import listed

from cairn.adapters.postgres.agents.model_calls import PostgresCallLog
from cairn.api.console.audit import GROUPS
from cairn.kernel.access import PersonRole
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.llm.costs import CallRecord
from cairn.llm.port import Purpose, Usage

if TYPE_CHECKING:
    from uuid import UUID

    from playwright.sync_api import Page
    from tests.integration.console.test_in_a_browser import Site

COSTS, AUDIT = "/console/costs", "/console/audit"
CHROMIUM_ONLY = pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="there is no chromium on this machine"
)


def spend(site: Site, model: str, usd: str | None, run_id: UUID | None = None) -> None:
    """Keep a call of a model as of now."""
    log = PostgresCallLog(site.front.app.state.services.opened)
    log.record(
        CallRecord(
            id=new_id(),
            workspace_id=site.world.workspace_id,
            run_id=run_id,
            purpose=Purpose.PLANNER,
            provider="anthropic",
            model=model,
            started_at=utc_now(),
            usage=Usage(input_tokens=1_000, output_tokens=200),
            cost_usd=None if usd is None else Decimal(usd),
        )
    )


def test_a_month_is_shown_by_day_model_and_purpose_with_its_budget(site: Site) -> None:
    model = f"model-{new_id()}"
    spend(site, model, "1.25")
    spend(site, HOSTILE[:60], None)
    page = person(site).get(COSTS).text
    assert HOSTILE[:60] not in page
    for part in (model, "1.25", "planner", "calls without a price", "<svg", "of 50.00"):
        assert part in page, part
    today = utc_now().astimezone(UTC).date()
    assert f"{today.isoformat()}: " in page  # the day's bar
    site.front.call("PATCH", "/v1/settings", json={"models": {"budgets": {"day_usd": 7}}})
    try:
        assert "of 7.00" in person(site).get(COSTS).text
    finally:
        site.front.call("PATCH", "/v1/settings", json={"models": {"budgets": {"day_usd": None}}})
    old = person(site).get(f"{COSTS}?month=2024-02").text
    assert "No model was paid for" in old
    assert "2024-03" in old


@pytest.mark.parametrize("month", ["2999-01", "soon", "2026-13", "2026-1", "0000-01", "<b>"])
def test_a_month_that_is_none_is_refused(site: Site, month: str) -> None:
    answer = person(site).get(COSTS, params={"month": month})
    assert answer.status_code == 422
    assert "<b>" not in answer.text


def test_costs_and_audit_are_for_owners_and_admins(site: Site) -> None:
    paths = (COSTS, AUDIT, f"{AUDIT}/checks", f"{AUDIT}/export.csv")
    for role in PersonRole:
        browser = person(site, role)
        status = 200 if role in (PersonRole.OWNER, PersonRole.ADMIN) else 403
        assert [browser.get(path).status_code for path in paths] == [status] * 4, role


def test_who_did_what_is_shown_newest_first_with_names_and_page_by_page(site: Site) -> None:
    browser = person(site)
    for number in range(55):
        body = {"name": f"audited {number} {HOSTILE}"[:100], "role": "agent"}
        site.front.call("POST", "/v1/keys", json=body)
    page = browser.get(f"{AUDIT}?part=keys").text
    assert HOSTILE not in page
    assert page.count("key.created") == 50
    older = f"{AUDIT}?part=keys&amp;before="
    before = page.split(older, 1)[1].split('"', 1)[0]
    assert "key.created" in browser.get(f"{AUDIT}?part=keys&before={before}").text
    people = browser.get(f"{AUDIT}?part=people").text
    assert "person.signed_in" in people
    assert "key.created" not in people
    for odd in ("?part=none", "?before=x", "?before=-1"):
        assert browser.get(AUDIT + odd).status_code == 422


def test_the_trail_is_a_file_of_csv_or_json_lines_that_no_spreadsheet_runs(site: Site) -> None:
    browser = person(site)
    done = browser.submit("/console/keys", name='=HYPERLINK("x")', role="agent")
    assert done.status_code == 201
    lines = browser.get(f"{AUDIT}/export.jsonl?part=all")
    rows = [json.loads(line) for line in lines.text.splitlines()]
    assert "attachment" in lines.headers["content-disposition"]
    positions = [row["position"] for row in rows]
    assert positions == sorted(positions, reverse=True)
    newest = next(row for row in rows if row["type"] == "key.created")
    assert newest["who"].startswith("Owner-")
    table = list(csv.DictReader(io.StringIO(browser.get(f"{AUDIT}/export.csv?part=all").text)))
    assert [int(row["position"]) for row in table][-5:] == positions[-5:]
    assert not any(cell[:1] in "=+-@" for row in table for cell in row.values() if cell)
    assert browser.get(f"{AUDIT}/export.exe").status_code == 404
    assert browser.get(f"{AUDIT}/export.csv?part=none").status_code == 422


def test_the_parts_of_the_audit_are_types_that_there_are_and_leave_nobody_out() -> None:
    types = " ".join(GROUPS.values()).split()
    assert len(types) == len(set(types))
    assert set(types) <= listed()
    whole = ("person", "key", "settings", "agent", "connector", "webhook", "ticket_source")
    made = {each for each in listed() if each.partition(".")[0] in whole}
    assert made - set(types) == {"connector.manifest_seen"}  # of no person


def test_the_checks_say_what_is_not_well_and_what_to_do(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = person(site)
    assert 'hx-trigger="load"' in browser.get(f"{AUDIT}/checks").text
    page = browser.get(f"{AUDIT}/checks?run=yes").text
    for name in ("work", "vectors", "discovery", "agents", "connectors", "rows", "ledger"):
        assert f'<th scope="row">{name}</th>' in page
    body = {"name": f"ill-{new_id().hex[-12:]}", "builtin": "accounts", "transport": "in_process"}
    ill = site.front.call("POST", "/v1/connectors", json=body)
    assert ill["error"] is not None
    page = browser.get(f"{AUDIT}/checks?run=yes").text
    assert f"not well: {ill['name']}" in page or ill["name"] in page
    assert "are not well" in page
    site.front.call("DELETE", f"/v1/connectors/{ill['name']}")


@CHROMIUM_ONLY
def test_an_owner_reads_costs_and_the_audit_and_runs_the_checks(site: Site, page: Page) -> None:
    spend(site, "claude-test", "0.5")
    enter(site, page)
    page.get_by_role("link", name="Administration").click()
    page.get_by_role("link", name="Costs").click()
    page.get_by_role("heading", name="Costs of").wait_for()
    page.get_by_role("img", name="US dollars by day").wait_for()
    page.get_by_text("By day").click()
    looks_well(page)
    page.get_by_role("navigation", name="Month").get_by_role("link").first.click()
    page.get_by_text("No model was paid for").wait_for()
    page.go_back()
    page.get_by_role("link", name="Audit").click()
    page.get_by_role("heading", name="Audit").wait_for()
    looks_well(page)
    page.get_by_role("navigation", name="What was done to").get_by_role(
        "link", name="people"
    ).click()
    page.get_by_text("person.signed_in").first.wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert download.value.suggested_filename == "cairn-audit-people.csv"
    page.get_by_role("link", name="Run the checks").click()
    page.get_by_role("row", name="ledger").wait_for()
    looks_well(page)
    page.reload()
    page.get_by_role("row", name="ledger").wait_for()
    page.go_back()
