"""Review over the real database: what may be learned is decided on by who works, once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.integration.console.test_in_a_browser import CHROMIUM, looks_well
from tests.integration.console.test_investigations import person
from tests.support.deciding import agents_of, question

from cairn.investigations.people.learning import Opinions, StageCandidates
from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from uuid import UUID

    from playwright.sync_api import Page
    from tests.integration.console.test_in_a_browser import Site
    from tests.support.agent import Agents

HOSTILE = "<script>window.hit = 1</script>"
REVIEW = "/console/review"


@pytest.fixture
def agents(site: Site) -> Agents:
    return agents_of(site.front.app.state.services, site.world)


def resolved(agents: Agents) -> UUID:
    """Return an investigation that ended well."""
    approval_id = question(agents, title=HOSTILE)
    asked = agents.pending()
    agents.approvals.approve(agents.admin, approval_id, binding=asked.binding)
    agents.work(asked.investigation_id)
    return asked.investigation_id


def staged(agents: Agents) -> UUID:
    """Return a resolution that a person rated well."""
    stage = StageCandidates(journal=agents.journal)
    investigation_id = resolved(agents)
    opinions = Opinions(journal=agents.journal, stage=stage)
    opinions.rate(agents.admin, investigation_id, rating=5, comment="")
    with agents.transactions.reading(agents.admin) as stores:
        row = next(
            each
            for each in stores.candidates.page(state=None, before=None, limit=50)
            if each.investigation_id == investigation_id
        )
    return row.id


def proposed(site: Site, agents: Agents, text: str = HOSTILE) -> UUID:
    graph = site.front.app.state.services.memory_graph.bound_to(agents.admin)
    return graph.upsert_node(
        agents.workspace_id, "fact", f"fact:{new_id()}", {"text": text}, "proposed"
    )


def test_a_resolution_is_edited_then_accepted_and_becomes_a_document(
    site: Site, agents: Agents
) -> None:
    path = f"{REVIEW}/resolutions/{staged(agents)}"
    decider = person(site)
    assert path in decider.get(REVIEW).text
    empty = decider.submit(f"{path}/edit", title=" ", text="Kept text.")
    assert empty.status_code == 422
    assert "Kept text." in empty.text
    assert decider.submit(f"{path}/edit", title=HOSTILE, text=HOSTILE).status_code == 303
    page = decider.get(path)
    assert HOSTILE not in page.text
    assert "&lt;script&gt;" in page.text
    assert decider.submit(f"{path}/accept", scope="everybody").status_code == 422
    assert decider.submit(f"{path}/accept", scope="shared").status_code == 303
    assert "Document" in decider.get(path).text
    late = decider.submit(f"{path}/reject", reason="No.")
    assert late.status_code == 409
    assert "not staged any more" in late.text


def test_a_rejection_says_why_and_who_only_reads_decides_nothing(
    site: Site, agents: Agents
) -> None:
    path = f"{REVIEW}/resolutions/{staged(agents)}"
    reviewer = person(site, PersonRole.REVIEWER)
    assert "Accept as a document" not in reviewer.get(path).text
    for decision in ("accept", "edit", "reject"):
        form = {"title": "x", "text": "x", "reason": "x"}
        assert reviewer.submit(f"{path}/{decision}", **form).status_code == 403
    decider = person(site)
    assert decider.submit(f"{path}/reject", reason=" ").status_code == 422
    assert decider.submit(f"{path}/reject", reason=HOSTILE).status_code == 303
    assert "&lt;script&gt;" in decider.get(path).text
    assert decider.submit(f"{path}/burn").status_code == 404


def test_a_proposed_node_is_accepted_or_rejected_once(site: Site, agents: Agents) -> None:
    first, second = proposed(site, agents), proposed(site, agents)
    colleague, decider = person(site), person(site, PersonRole.ADMIN)
    page = colleague.get(REVIEW)
    assert HOSTILE not in page.text
    assert str(first) in page.text
    assert "proposed for the memory graph" in colleague.get("/").text
    path = f"{REVIEW}/proposals"
    assert colleague.submit(f"{path}/{first}/accept").status_code == 403
    assert decider.submit(f"{path}/{first}/accept").status_code == 303
    assert decider.submit(f"{path}/{second}/reject").status_code == 303
    again = decider.submit(f"{path}/{first}/reject")
    assert again.status_code == 409
    assert "decided before" in again.text
    assert str(second) not in decider.get(REVIEW).text
    assert decider.submit(f"{path}/{new_id()}/accept").status_code == 404


def test_a_line_of_a_timeline_is_remembered(site: Site, agents: Agents) -> None:
    investigation_id = resolved(agents)
    decider, colleague = person(site, PersonRole.OWNER), person(site)
    page = decider.get(f"/console/investigations/{investigation_id}")
    path = f"/console/investigations/{investigation_id}/lines/1"
    assert path in page.text
    assert "Remember it" not in colleague.get(path).text
    assert colleague.submit(path, label="fact", text="So.").status_code == 403
    assert decider.submit(path, label="rumour", text="So.").status_code == 422
    done = decider.submit(path, label="fact", text="Unlocking helps.")
    assert done.status_code == 303
    assert "Unlocking helps." in decider.get(done.headers["location"]).text
    for reads in (decider, colleague):
        remembered = reads.get(REVIEW).text.partition('id="remembered"')[2]
        assert "Unlocking helps." in remembered
        assert f"/console/investigations/{investigation_id}#step-1" in remembered
    for wrong in ("0", "999", "x"):
        assert decider.get(path.removesuffix("1") + wrong).status_code == 404


@pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="there is no chromium on this machine"
)
def test_a_person_reviews_by_keyboard_at_any_width(site: Site, page: Page) -> None:
    agents = agents_of(site.front.app.state.services, site.world)
    path = f"{REVIEW}/resolutions/{staged(agents)}"
    proposed(site, agents)
    site.person(page, PersonRole.OPERATOR)
    page.get_by_role("link", name="Review", exact=True).click()
    page.get_by_role("heading", name="Proposed for the memory graph").wait_for()
    looks_well(page)
    page.locator(f'a[href="{path}"]').press("Enter")
    page.get_by_text("Edit it first").press("Enter")
    looks_well(page)
    page.get_by_label("Title").fill("How to unlock")
    page.get_by_role("button", name="Keep the changes").press("Enter")
    page.get_by_role("heading", name="How to unlock").wait_for()
    page.get_by_role("button", name="Accept as a document").press("Enter")
    page.get_by_text("accepted").first.wait_for()
    assert page.evaluate("window.hit") is None
