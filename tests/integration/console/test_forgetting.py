"""Forgetting from the console: what would go, the act, the proof, and who may not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.integration.console import test_memories
from tests.integration.console.test_memories import hidden, tell

from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from tests.integration.storage.test_console import Deployed

deployed = test_memories.deployed
PAGE = "/console/forget"
CANARY = "Zanzibarquokka"


def words(page: str) -> str:
    begin = page.index('<textarea name="words"')
    return page[page.index(">", begin) + 1 : page.index("</textarea>", begin)]


def test_a_client_is_forgotten_and_the_proof_looks_for_the_words_that_were_there(
    deployed: Deployed,
) -> None:
    browser = deployed.person(f"forgets-{new_id()}", PersonRole.ADMIN)
    memory = tell(deployed, f"Frank keeps {CANARY}-44 in a safe.", client_id="frank")
    tell(deployed, "Greta keeps bees.", client_id="greta")
    opened = browser.get(f"/console/memories/{memory}").text
    assert f"{PAGE}?kind=client&amp;name=frank" in opened
    plan = browser.get(f"{PAGE}?kind=client&name=frank").text
    assert "What would go" in plan
    assert CANARY in words(plan)
    form = {"kind": "client", "name": "frank", "reason": "request", "words": words(plan)}
    wrong = browser.submit(PAGE, again="greta", **form)
    assert (wrong.status_code, "nothing was forgotten" in wrong.text) == (422, True)
    assert browser.get(f"/console/memories/{memory}").status_code == 200
    begun = browser.submit(PAGE, again="frank", **form)
    assert (begun.status_code, "3 of 6: now every row of them" in begun.text) == (200, True)
    where = begun.text.split(f'action="{PAGE}/')[1].split("/")[0]
    followed = browser.get(f"{PAGE}/{where}").text  # as a colleague who comes by
    assert "3 of 6" in followed
    assert CANARY not in followed
    path, script = f"{PAGE}/{where}/next", {"hx-request": "true", "origin": browser.base}
    told = [begun.text]
    for step in ("4 of 6", "5 of 6", "Nothing was found any more"):
        next_form = {"csrf": browser.csrf(), "words": words(told[-1])}
        told.append(browser.send("POST", path, data=next_form, headers=script).text)
        assert step in told[-1]
    assert CANARY in words(told[-2])  # the words go from page to page, and are kept nowhere
    assert CANARY not in told[-1]
    assert browser.get(f"/console/memories/{memory}").status_code == 404
    assert "Greta keeps bees" in browser.get("/console/memories").text
    again = browser.submit(PAGE, again="frank", **form)  # as a reload does
    assert "5 of 6" in again.text
    assert "Nothing was found any more" in browser.get(f"{PAGE}/{where}").text
    assert "Nobody is known by that name" in browser.get(f"{PAGE}?kind=client&name=frank").text


def test_without_scripts_one_button_does_the_rest(deployed: Deployed) -> None:
    browser = deployed.person(f"presses-{new_id()}", PersonRole.OWNER)
    tell(deployed, f"Ida keeps {CANARY}-45 at home.", client_id="ida")
    form = {"kind": "client", "name": "ida", "again": "ida", "reason": "request"}
    begun = browser.submit(PAGE, words=f"{CANARY}-45", **form).text
    path = begun.split('<form method="post" action="')[2].split('"')[0]
    done = browser.submit(path, words=words(begun))
    assert "Nothing was found any more" in done.text
    assert "by 1 words" in done.text
    assert "Nothing was found any more" in browser.submit(path).text


def test_nobody_below_an_admin_forgets_or_sees_what_would_go(deployed: Deployed) -> None:
    tell(deployed, "Henry sings.", client_id="henry")
    browser = deployed.person(f"works-{new_id()}", PersonRole.OPERATOR)
    form = {"kind": "client", "name": "henry", "again": "henry", "reason": "request"}
    for answer in (
        browser.get(PAGE),
        browser.get(f"{PAGE}?kind=client&name=henry"),
        browser.get(f"{PAGE}/{new_id()}"),
        browser.submit(PAGE, **form),
        browser.submit(f"{PAGE}/{new_id()}/next"),
    ):
        assert answer.status_code == 403
        assert "Only owners and admins" in answer.text
    assert "Henry sings" in browser.get("/console/memories").text


def test_what_is_no_name_or_kind_is_told(deployed: Deployed) -> None:
    browser = deployed.person(f"asks-{new_id()}")
    assert browser.get(f"{PAGE}?kind=pet&name=rex").status_code == 422
    assert browser.get(f"{PAGE}?kind=client&name={'x' * 2001}").status_code == 422
    hostile = browser.get(f"{PAGE}?kind=client&name=<script>1</script>")
    assert hostile.status_code == 404
    assert "<script>1" not in hostile.text
    for nobody in ("no-id", new_id()):
        assert browser.get(f"{PAGE}/{nobody}").status_code == 404
        assert browser.submit(f"{PAGE}/{nobody}/next").status_code == 404
    assert hidden(browser.get(PAGE).text, "csrf")
