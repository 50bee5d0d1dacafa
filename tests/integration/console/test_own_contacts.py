"""Whom a member knows, on the pages of the person who is that member, and nobody else's."""

# pyright: basic

from __future__ import annotations

import os
import re
import threading
from http.server import HTTPServer
from typing import TYPE_CHECKING

import pytest
from tests.integration.console.test_connectors import person
from tests.integration.console.test_in_a_browser import CHROMIUM, HOSTILE, looks_well
from tests.integration.console.test_own import OWN, member, network, tied
from tests.integration.discovery.test_contacts import _Calendar
from tests.support.console import BASE, add_person

from cairn.api.options import ApiOptions
from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx
    from playwright.sync_api import Page
    from tests.integration.console.test_in_a_browser import Site
    from tests.support.console import Browser

CONTACTS, CALENDARS = f"{OWN}/contacts", f"{OWN}/integrations"
ID = re.compile(rf'href="{CONTACTS}/([0-9a-f-]{{36}})"')
FORMULA = '=HYPERLINK("https://evil.example";"Ada")'
TABLE = f"""name,email,company,notes
{HOSTILE},ada@mill.example,Mill,"{FORMULA.replace('"', '""')}"
@SUM(A1),bo@dock.example,-2+3,{HOSTILE}
Nobody,no address,,
"""


def client_of(site: Site) -> str:
    return member(site, network(site), "seeking", "A mast")[0]


def send(browser: Browser, name: str, content: bytes, **fields: str) -> httpx.Response:
    """Bring a file in, as the page's form does."""
    return browser.send(
        "POST",
        f"{CONTACTS}/import",
        data={"csrf": browser.csrf(), **fields},
        files={"file": (name, content)},
        headers={"origin": BASE},
    )


def test_a_reader_who_is_a_member_adds_finds_changes_invites_and_takes_away_a_contact(
    site: Site,
) -> None:
    home = network(site)
    client, _ = member(site, home, "seeking", "A mast")
    browser, other = tied(site, client), tied(site, client_of(site))
    assert "Nobody yet" in browser.get(CONTACTS).text
    typed = {"name": f"Ada {HOSTILE}", "address": "ada@mill.example", "note": f"met {HOSTILE}"}
    added = browser.submit(CONTACTS, **typed)
    assert added.status_code == 303, added.text
    path = added.headers["location"].partition("?")[0]
    for page in (browser.get(path).text, browser.get(CONTACTS).text):
        assert "ada@mill.example" in page
        assert HOSTILE not in page
    for role in PersonRole:  # who is no member sees nothing, whatever they are here
        assert person(site, role).get(path).status_code == 409
    assert other.get(path).status_code == 404
    assert ID.findall(other.get(CONTACTS).text) == []
    assert browser.submit(CONTACTS, name="Ada Byron", address="ada@mill.example", title="Engineer",
                          ).headers["location"].partition("?")[0] == path  # fmt: skip
    assert ID.findall(browser.get(CONTACTS, params={"q": "engi"}).text) == [path[-36:]]
    for words in ("zirconium", "%_", "'; --", "x" * 4_000):
        assert ID.findall(browser.get(CONTACTS, params={"q": words}).text) == [], words
    found = site.front.call(
        "POST", "/v1/contacts/search", json={"query": "engi", "client_id": client}
    )
    assert [each["id"] for each in found["items"]] == [path[-36:]]
    for wrong in ({"name": ""}, {"name": "N" * 201}, {"name": "Bo", "address": "nobody"},
                  {"name": "Bo", "phone": "x"}, {"name": "Bo", "note": "n" * 2_001}):  # fmt: skip
        refused = browser.submit(CONTACTS, **{"note": "kept as typed", **wrong})
        assert refused.status_code == 422, wrong
        assert wrong.get("note", "kept as typed")[:100] in refused.text
        assert 'aria-invalid="true"' in refused.text
    assert browser.submit(CONTACTS, name="A\0").status_code == 422
    assert len(ID.findall(browser.get(CONTACTS).text)) == 1
    invited = browser.submit(f"{path}/invite", network_id=home)
    assert invited.status_code == 201
    assert "/v1/networks/join#" in invited.text
    assert "invited, and not here yet" in browser.get(path).text
    closed = site.front.call(
        "POST", "/v1/networks", json={"name": "Shut", "join_policy": "invite_only"}
    )
    for wrong, status in ((closed["id"], (403, 404)), (str(new_id()), (404,)), ("soon", (404,))):
        assert browser.submit(f"{path}/invite", network_id=wrong).status_code in status, wrong
    assert other.submit(f"{path}/invite", network_id=home).status_code == 404
    assert other.submit(f"{path}/remove", meant="yes").status_code == 404
    assert browser.submit(f"{path}/remove").status_code == 422
    assert browser.submit(f"{path}/remove", meant="yes").status_code == 303
    assert browser.get(path).status_code == 404
    assert browser.submit(f"{path}/remove", meant="yes").status_code == 404


def test_a_file_is_brought_in_once_and_what_is_in_it_stays_text(site: Site) -> None:
    client = client_of(site)
    browser = tied(site, client)
    done = send(browser, "people.CSV", b"\xef\xbb\xbf" + TABLE.encode())
    assert done.status_code == 200, done.text
    assert "2 added, 0 changed, 0 known already, 1 refused" in done.text
    assert "address is no mail address" in done.text
    assert "0 added, 0 changed, 2 known already" in send(browser, "people.csv", TABLE.encode()).text
    held = site.front.call("GET", "/v1/contacts", params={"client_id": client})["items"]
    assert sorted(each["name"] for each in held) == sorted([HOSTILE, "@SUM(A1)"])
    pages = [browser.get(f"{CONTACTS}/{each['id']}").text for each in held]
    assert any("=HYPERLINK(&#34;" in page for page in pages)
    for page in (*pages, browser.get(CONTACTS).text):
        assert HOSTILE not in page
    cards = b"BEGIN:VCARD\nFN:Jo\nTEL:030 1234\nEND:VCARD\n"
    assert "1 added" in send(browser, "card.vcf", cards).text
    assert "1 known already" in send(browser, "card", cards, format="vcard").text
    head = b"From x\nFrom: Ines <i@me.example>\nTo: Cy <cy@x.example>\n"
    mailbox = head + b"Date: Mon, 2 Nov 2026 10:00:00 +0100\n\nsecret words\n"
    assert "1 added" in send(browser, "in.mbox", mailbox, own_addresses="i@me.example").text
    answer = browser.send("POST", f"{CONTACTS}/import", files={"file": ("a.csv", b"name\nEve\n")})
    assert answer.status_code == 403  # no page of ours sent it
    other = {"origin": BASE, "x-csrf-token": ""}
    answer = browser.send("POST", f"{CONTACTS}/import", data={"csrf": "made up"},
                          files={"file": ("a.csv", TABLE.encode())}, headers=other)  # fmt: skip
    assert (answer.status_code, answer.headers["x-cairn-reason"]) == (401, "session-rotated")
    assert len(site.front.call("GET", "/v1/contacts", params={"client_id": client})["items"]) == 4


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("people.csv", b"", "is missing, or empty"),
        ("people.csv", b" \r\n\r\n", "is missing, or empty"),
        ("people.csv", b"name\nA\0da\n", "NUL"),
        ("people.csv", "name\nJörg\n".encode("latin-1"), "is no text in UTF-8"),
        ("people.csv", "name\nJörg\n".encode("utf-16"), "is no text in UTF-8"),
        ("people.csv", b"name\n\xed\xa0\x80\n", "is no text in UTF-8"),  # half of a character
        ("people.csv", b"colour,size\nred,1\n", "has no column for a name"),
        ("people.csv", b'name\n"Ada', "is no CSV"),
        ("people.csv", b"name\n" + b"A\n" * 5_001, "more than 5000 people"),
        ("people.csv", b"name\n" + b"A" * 2_600_000, "2500000"),
        ("people.vcf", b"Dear Sir", "BEGIN:VCARD is missing"),
        ("in.mbox", b"From a\nFrom: b@c.example\n\n", "own_addresses"),
        ("people.xlsx", b"PK\x03\x04", "is not told by the file"),
        ("people", b"name\nAda\n", "is not told by the file"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_file_that_is_none_is_refused_with_its_reason_and_nothing_is_kept(
    site: Site, name: str, content: bytes, says: str
) -> None:
    client = client_of(site)
    browser = tied(site, client)
    answer = send(browser, name, content, own_addresses="")
    assert answer.status_code == 422, answer.text
    assert says in answer.text
    assert site.front.call("GET", "/v1/contacts", params={"client_id": client})["items"] == []


def test_a_body_that_is_no_form_or_too_large_is_a_page_that_says_so(site: Site) -> None:
    browser = tied(site, client_of(site))
    headers = {"origin": BASE, "x-csrf-token": browser.csrf()}
    path = f"{CONTACTS}/import"
    for kind, body in (
        ("multipart/form-data", b"x"),
        ("multipart/form-data; boundary=a", b"--b\r\n\r\n"),
        (
            "multipart/form-data; boundary=a",
            b"--a\r\nContent-Disposition: form-data\r\n\r\nx\r\n--a--",
        ),
        ("multipart/form-data; boundary=a", b"--a\r\n\xff: \xff\r\n\r\nx\r\n--a--\r\n"),
        ("multipart/form-data; boundary=" + "a" * 500, b"--a--"),
        ("application/json", b"{}"),
        ("application/x-www-form-urlencoded", b"%00"),
    ):
        answer = browser.send("POST", path, content=body, headers={**headers, "content-type": kind})
        assert answer.status_code == 422, (kind, body, answer.status_code)
        assert 'href="/"' in answer.text
    for names in (["a", "a"], [f"f{number}" for number in range(30)]):
        many = [(name, (None, "x")) for name in names]
        assert browser.send("POST", path, files=many, headers=headers).status_code == 422
    two = [("file", ("a.csv", b"name\nA\n")), ("file", ("b.csv", b"name\nB\n"))]
    assert browser.send("POST", path, files=two, headers=headers).status_code == 422
    large = b"x" * (ApiOptions().max_body_bytes + 1)
    answer = browser.send("POST", path, files={"file": ("a.csv", large)}, headers=headers)
    assert answer.status_code == 413
    assert "text/html" in answer.headers["content-type"]
    assert "cairn" in answer.text


@pytest.fixture
def calendar() -> Iterator[str]:
    """A server that has a calendar, and a page that is none."""
    server = HTTPServer(("127.0.0.1", 0), _Calendar)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_calendar_is_kept_sealed_read_and_removed_by_its_member_alone(
    site: Site, calendar: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = site.front.app.state.services
    monkeypatch.setenv("CAIRN_FETCH_PRIVATE_HOSTS", "127.0.0.1")
    services.__dict__.pop("integrations", None)  # made anew, as a server that may go there
    client = client_of(site)
    browser, other = tied(site, client), tied(site, client_of(site))
    assert "None yet" in browser.get(CALENDARS).text
    for address in (
        "",
        "quiet-heron.example",
        "ftp://x.example/y",
        "https://x.example/" + "y" * 2_000,
    ):
        refused = browser.submit(
            CALENDARS, **{"secrets.address": address, "own_addresses": "i@me.example"}
        )
        assert refused.status_code == 422, address
        assert 'value="i@me.example"' in refused.text
        assert not address or address not in refused.text
    for page in ("ines.ics", "page"):
        form = {"secrets.address": f"{calendar}/{page}", "own_addresses": "ines@harbour.example"}
        assert browser.submit(CALENDARS, **form).status_code == 303, page
    listed = site.front.call("GET", "/v1/integrations", params={"client_id": client})["items"]
    good, bad = (f"{CALENDARS}/{each['id']}" for each in listed)
    assert "ines.ics" not in browser.get(CALENDARS).text
    assert "1 added" in browser.submit(f"{good}/sync").text
    refused = browser.submit(f"{bad}/sync")
    assert refused.status_code == 422
    assert 'role="alert"' in refused.text
    assert "fetch-media-type" in browser.get(CALENDARS).text  # kept, for who comes later
    for deed in ("sync", "remove"):
        assert other.submit(f"{good}/{deed}", meant="yes").status_code == 404
        assert person(site).submit(f"{good}/{deed}", meant="yes").status_code == 409
        assert browser.submit(f"{CALENDARS}/{new_id()}/{deed}", meant="yes").status_code == 404
    assert browser.submit(f"{good}/remove").status_code == 422
    assert browser.submit(f"{good}/remove", meant="yes").status_code == 303
    assert good not in browser.get(CALENDARS).text
    assert len(ID.findall(browser.get(CONTACTS).text)) == 1  # who came of it stays


def test_a_calendar_inside_the_deployment_is_not_read(site: Site) -> None:
    client = client_of(site)
    browser = tied(site, client)
    site.front.app.state.services.__dict__.pop("integrations", None)
    for address in ("http://127.0.0.1:1/x.ics", "http://169.254.169.254/latest/meta-data"):
        assert browser.submit(CALENDARS, **{"secrets.address": address}).status_code == 303
    for each in site.front.call("GET", "/v1/integrations", params={"client_id": client})["items"]:
        refused = browser.submit(f"{CALENDARS}/{each['id']}/sync")
        assert refused.status_code == 422
        assert 'role="alert"' in refused.text


@pytest.fixture
def link(site: Site) -> str:
    """A link of a reader who is a member of a network that everybody may join."""
    client = client_of(site)
    login = f"reader-{new_id()}"
    made = add_person(site.front.app, site.world.workspace_id, login, PersonRole.READER)
    site.front.call("PUT", f"/v1/people/{made.person.id}/member", json={"client_id": client})
    return f"{site.url}/console/link?token={made.token}"


@pytest.mark.skipif(CHROMIUM is None and "CI" not in os.environ, reason="there is no chromium")
def test_an_address_book_is_brought_in_and_somebody_invited_by_keyboard_on_a_phone(
    site: Site, link: str, page: Page, tmp_path: Path
) -> None:
    page.goto(link)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Your account").wait_for()
    page.goto(site.url + OWN)
    page.get_by_role("link", name="Contacts").press("Enter")
    page.get_by_text("Nobody yet").wait_for()
    looks_well(page)
    wrong, table = tmp_path / "people.csv", tmp_path / "address book.csv"
    wrong.write_text("colour\nred\n", "utf-8")
    table.write_text(TABLE, "utf-8")
    for file, says in ((wrong, "has no column for a name"), (table, "2 added")):
        page.get_by_label("File", exact=True).set_input_files(file)
        page.get_by_role("button", name="Bring them in").press("Enter")
        page.get_by_text(says).wait_for()
        looks_well(page)
    large = tmp_path / "large.csv"
    large.write_bytes(b"name\n" + b"A" * 6_000_000)
    page.get_by_label("File", exact=True).set_input_files(large)
    page.get_by_role("button", name="Bring them in").press("Enter")
    page.get_by_role("heading", name="The input is above a limit").wait_for()
    page.reload()  # leads to the page that the form was on
    page.get_by_role("heading", name="Contacts").wait_for()
    page.get_by_role("link", name="<script>").press("Enter")
    page.get_by_role("button", name="Make an invite").press("Enter")
    page.get_by_role("heading", name="An invite for").wait_for()
    looks_well(page)
    page.goto(site.url + CALENDARS)
    looks_well(page)
    page.get_by_label("Its address").fill("calendar.example")
    page.keyboard.press("Enter")
    page.get_by_text("is an address that begins with https://").wait_for()
    looks_well(page)
    assert page.evaluate("window.hit") is None
