"""Addresses and forms that nobody made, in a workspace where nothing has happened yet.

Whatever is asked, a person gets a page that says what is wrong and leads on, and never a failure of
the server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.integration.console import test_memories

from cairn.api.console.pages import ADMIN_MENU, ADMINISTRATION, MENU
from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from tests.integration.storage.test_console import Deployed

deployed = test_memories.deployed
LISTS = sorted(
    {path for _, pages in (*MENU, ADMIN_MENU, ("", ADMINISTRATION)) for _, path, _ in pages}
    | {"/console/graph/entities", "/console/ledger/taints"}
)
NAMES = [
    "about",
    "after",
    "at",
    "as_of",
    "before",
    "channel",
    "citation",
    "client",
    "depth",
    "head",
    "id",
    "kind",
    "label",
    "line",
    "month",
    "most",
    "node",
    "of",
    "part",
    "q",
    "relation",
    "run",
    "scope",
    "session",
    "since",
    "source",
    "state",
    "status",
    "stream",
    "type",
    "until",
    "upto",
    "value",
]
ALONE = ("after", "as_of", "before", "state", "node", "since")
ABSURD = (
    "%00", "%ED%A0%80", "%FF%FE", "-1", "9" * 30, "1e999", "NaN", "0001-01-01", "9999-12-31",
    "..%2f..%2fetc%2fpasswd", "%E2%80%AE%D9%85", "%27%22%3E%3Cb%20onclick%3D1%3E", "x" * 400,
    "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
)  # fmt: skip


def test_a_workspace_without_anything_has_pages_that_say_what_would_be_there(
    deployed: Deployed,
) -> None:
    for role in (PersonRole.OWNER, PersonRole.READER):
        browser = deployed.person(f"new-{new_id()}", role)
        for path in LISTS:
            page = browser.get(path)
            allowed = (200,) if role is PersonRole.OWNER else (200, 403)
            assert page.status_code in allowed, path
            assert "<h1>" in page.text, path
    page = deployed.person(f"first-{new_id()}").get("/console/memories").text
    assert "cairn remember" in page


def test_no_absurd_address_is_a_failure_and_each_leads_on(deployed: Deployed) -> None:
    browser = deployed.person(f"lost-{new_id()}")
    wrong: list[tuple[str, int]] = []
    for path in LISTS:
        places = [f"{path.rstrip('/')}/{text}" for text in ABSURD] if path != "/" else []
        asked = [f"{path}?{'&'.join(f'{name}={text}' for name in NAMES)}" for text in ABSURD]
        each = [f"{path}?{name}={text}" for name in ALONE for text in ABSURD[1:5]]
        for address in (*places, *asked, *each, f"{path}?state=staged&state=all"):
            answer = browser.get(address)
            leads_on = answer.is_redirect or 'href="/"' in answer.text
            if answer.status_code >= 500 or not leads_on:
                wrong.append((address[:200], answer.status_code))
    assert wrong == []
    assert browser.get("/console").headers["location"] == "/"
    for address in ("/console/nothing", "/console/memories/a/b/c", "/console/ledger/verify/x"):
        answer = browser.get(address)
        assert answer.status_code == 404, address
        assert "There is no such page" in answer.text
        assert 'href="/console/memories"' in answer.text  # the menu is there


def test_no_form_with_what_no_store_keeps_is_a_failure(deployed: Deployed) -> None:
    browser = deployed.person(f"types-{new_id()}")
    memory = test_memories.tell(deployed, "A form is filled in.")
    path = f"/console/memories/{memory}/correct"
    token = browser.csrf()
    headers = {"origin": browser.base, "content-type": "application/x-www-form-urlencoded"}
    for text in ABSURD:
        body = f"csrf={token}&text={text}&reason={text}&importance={text}"
        answer = browser.send("POST", path, content=body, headers=headers)
        assert answer.status_code in (303, 404, 409, 422), (text[:40], answer.status_code)
        assert answer.is_redirect or 'href="/"' in answer.text
        if answer.is_redirect:
            path = answer.headers["location"].partition("?")[0] + "/correct"
