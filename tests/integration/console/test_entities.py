"""Names of entities corrected on their pages: aliases, merging, parting, and who may not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.integration.console import test_memories
from tests.integration.console.test_memories import HOSTILE, follow, hidden
from tests.support.console import signed_in
from tests.support.world import open_world

from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    import httpx
    from tests.integration.storage.test_console import Deployed
    from tests.plugins.postgres import Database
    from tests.support.console import Browser

deployed = test_memories.deployed
PAGE = "/console/graph/entities"


def entity(deployed: Deployed, name: str) -> str:
    body = {"label": "Entity", "kind": "person", "properties": {"name": name}}
    return deployed.front.call("POST", "/v1/nodes", json=body)["id"]


def mention(deployed: Deployed, text: str, entity_id: str) -> str:
    edge = {"relation": "references", "to": entity_id, "properties": {"role": "about"}}
    body = {"label": "Note", "properties": {"text": text}, "edges": [edge]}
    return deployed.front.call("POST", "/v1/nodes", json=body)["id"]


def undo(browser: Browser, page: str, field: str) -> httpx.Response:
    notice = page[page.index('class="notice"') :]
    path = notice.split('action="')[1].split('"')[0]
    return browser.submit(path, **{field: hidden(notice, field)})


def test_names_are_added_and_taken_away_and_both_taken_back(deployed: Deployed) -> None:
    browser = deployed.person(f"names-{new_id()}", PersonRole.OPERATOR)
    ada = entity(deployed, f"Ada {HOSTILE}"[:60])
    path = f"{PAGE}/{ada}"
    page = follow(browser, browser.submit(f"{path}/alias", alias="Countess"))
    assert "means it from now on" in page
    assert 'value="countess"' in page
    page = follow(browser, undo(browser, page, "alias"))
    assert "means it no longer" in page
    assert deployed.front.call("GET", f"/v1/entities/{ada}")["aliases"] == []
    page = follow(browser, undo(browser, page, "alias"))
    assert deployed.front.call("GET", f"/v1/entities/{ada}")["aliases"] == ["countess"]
    deployed.front.call("DELETE", f"/v1/entities/{ada}/aliases", params={"alias": "countess"})
    late = browser.submit(f"{path}/alias/remove", alias="countess")
    assert (late.status_code, "meanwhile" in late.text) == (409, True)
    own = deployed.front.call("GET", f"/v1/entities/{ada}")["name"]
    for alias in ("", own, "x" * 3_000):
        refused = browser.submit(f"{path}/alias", alias=alias)
        assert refused.status_code == 422, alias[:20]
        assert 'id="alias-wrong"' in refused.text
    assert "<b onclick" not in page
    listed = browser.get(f"{PAGE}?q=ada&type=person").text
    assert f'href="{path}"' in listed
    assert "cairn entities list ada --type person" in listed
    assert "has such a name" in browser.get(f"{PAGE}?q=zebra").text


def test_two_become_one_and_are_parted_again(deployed: Deployed) -> None:
    browser = deployed.person(f"merges-{new_id()}", PersonRole.OPERATOR)
    ada, lovelace = entity(deployed, "Ada"), entity(deployed, "Ada Lovelace")
    mention(deployed, "Ada wrote it.", ada)
    offered = browser.get(f"{PAGE}/{ada}").text
    assert f'name="into" value="{lovelace}"' in offered
    answer = browser.submit(f"{PAGE}/{ada}/merge", into=lovelace)
    page = follow(browser, answer)
    assert answer.headers["location"].startswith(f"{PAGE}/{lovelace}?")
    assert "They are one from now on" in page
    assert "Ada wrote it." in page
    assert "What became part of it" in page
    merged = browser.get(f"{PAGE}/{ada}").text
    assert "It became part of another" in merged
    assert "Make it part of that" not in merged
    late = browser.submit(f"{PAGE}/{ada}/alias", alias="Countess")
    assert (late.status_code, "was merged into another one" in late.text) == (409, True)
    page = follow(browser, undo(browser, page, "undo"))
    assert "It stands for itself again" in page
    assert "Ada wrote it." in browser.get(f"{PAGE}/{ada}").text
    again = browser.submit(f"{PAGE}/{lovelace}/split", undo=ada)
    assert (again.status_code, "was not merged into this entity" in again.text) == (422, True)
    for wrong in ("", "no-id", str(new_id()), ada):
        refused = browser.submit(f"{PAGE}/{ada}/merge", into="", other=wrong)
        assert refused.status_code == 422, wrong
        assert 'id="into-wrong"' in refused.text


def test_mentions_that_are_ticked_mean_another_one(deployed: Deployed) -> None:
    browser = deployed.person(f"parts-{new_id()}", PersonRole.OPERATOR)
    jordan = entity(deployed, "Jordan")
    plays = mention(deployed, "Jordan plays.", jordan)
    river = mention(deployed, "The Jordan is a river.", jordan)
    path = f"{PAGE}/{jordan}/split"
    ticked = {f"mention.{river}": "yes"}
    for form, field in (
        ({"name": "Jordan River"}, "mentions"),
        (ticked, "name"),
        ({**ticked, "name": "Jordan River", "type": "No Type!"}, "type"),
        ({f"mention.{new_id()}": "yes", "name": "Jordan River"}, ""),
    ):
        refused = browser.submit(path, **form)
        assert refused.status_code == (422 if field else 404), form
        assert not field or '-wrong" role="alert"' in refused.text
    kept = browser.submit(path, **ticked, name="Jordan River", type="No Type!").text
    assert f'id="mention.{river}" name="mention.{river}" value="yes" checked' in kept
    assert 'value="Jordan River"' in kept
    answer = browser.submit(path, **ticked, name="Jordan River", type="place")
    page = follow(browser, answer)
    assert "is a river" in page
    assert "Jordan plays." not in page
    assert "is a river" not in browser.get(f"{PAGE}/{jordan}").text
    assert plays in browser.get(f"{PAGE}/{jordan}").text


def test_readers_and_reviewers_read_and_another_workspace_finds_nothing(
    deployed: Deployed, database: Database
) -> None:
    ada, bob = entity(deployed, "Ada"), entity(deployed, "Bob")
    forms = (("alias", {"alias": "Bert"}), ("alias/remove", {"alias": "bob"}),
             ("merge", {"into": ada}), ("split", {"undo": ada}))  # fmt: skip
    for role in (PersonRole.READER, PersonRole.REVIEWER):
        browser = deployed.person(f"reads-{new_id()}", role)
        page = browser.get(f"{PAGE}/{bob}").text
        assert "Add the name" not in page
        assert "Make it part of that" not in page
        assert browser.submit(f"{PAGE}/{bob}/alias", alias="Bert").status_code == 403
        assert browser.submit(f"{PAGE}/{bob}/merge", into=ada).status_code == 403
    apart = open_world(database.owner_url, database.app_url, f"other {new_id()}")
    try:
        stranger = signed_in(deployed.app, apart.workspace_id, f"stranger-{new_id()}")
        assert stranger.get(f"{PAGE}/{bob}").status_code == 404
        assert "nobody and nothing yet" in stranger.get(PAGE).text
        for deed, form in forms:
            assert stranger.submit(f"{PAGE}/{bob}/{deed}", **form).status_code == 404, deed
    finally:
        apart.pool.close()
    assert deployed.front.call("GET", f"/v1/entities/{bob}")["aliases"] == []
