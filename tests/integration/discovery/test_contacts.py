"""Contacts at the API's door: whose they are, what files bring, what is left of the forgotten."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.storage import test_search_front
from tests.support.forgetting import ErasableObjects, Tombstones

from cairn.adapters.files.signing import make_signing_key
from cairn.bootstrap import forgetting
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx
    from tests.integration.storage.test_search_front import Door
    from tests.plugins.postgres import Database

door = test_search_front.door
ROUTE = "/v1/contacts"
CALENDAR = """BEGIN:VCALENDAR\r
BEGIN:VEVENT\r
DTSTART:20260901T100000Z\r
ORGANIZER;CN=Ines:mailto:ines@harbour.example\r
ATTENDEE;CN="Ortega: Raul";PARTSTAT=ACCEPTED:mailto:raul@pier.example\r
ATTENDEE;CUTYPE=ROOM:mailto:room-4@harbour.example\r
END:VEVENT\r
END:VCALENDAR\r
"""


class People:
    """Members of one workspace, each by a key bound to them."""

    def __init__(self, door: Door) -> None:
        self.door = door
        self.keys: dict[str, str] = {}

    def ask(self, who: str | None, method: str, path: str, **body: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.key(who)}"} if who else {}
        sent = {"json": body} if method == "POST" else {"params": body}
        return self.door.api.answer(method, path, headers=headers, **sent)

    def key(self, who: str) -> str:
        if who not in self.keys:
            body = {"name": who, "role": "agent", "scopes": ["shared"], "client_id": who}
            self.keys[who] = self.door.api.call("POST", "/v1/keys", json=body)["secret"]
        return self.keys[who]

    def add(self, who: str, name: str, **more: Any) -> dict[str, Any]:
        answer = self.ask(who, "POST", ROUTE, name=name, **more)
        assert answer.status_code == 200, answer.text
        contact: dict[str, Any] = answer.json()
        return contact

    def names(self, who: str, query: str | None = None) -> list[str]:
        if query is None:
            answer = self.ask(who, "GET", ROUTE)
        else:
            answer = self.ask(who, "POST", f"{ROUTE}/search", query=query)
        assert answer.status_code == 200, answer.text
        return [item["name"] for item in answer.json()["items"]]

    def bring(self, who: str, format: str, text: str, **more: Any) -> dict[str, Any]:
        answer = self.ask(who, "POST", f"{ROUTE}/import", format=format, text=text, **more)
        assert answer.status_code == 200, answer.text
        done: dict[str, Any] = answer.json()
        return done


@pytest.fixture
def people(door: Door) -> People:
    return People(door)


def test_contacts_are_one_members_alone_and_who_is_added_again_is_changed(people: People) -> None:
    ada = people.add("ines", "Ada Byron", address="Ada@Mill.example", organisation="Mill")
    again = people.add("ines", "Ada Lovelace", address="ada@mill.EXAMPLE", title="Engineer")
    assert (again["id"], again["name"], again["organisation"]) == (
        ada["id"],
        "Ada Lovelace",
        "Mill",
    )
    people.add("ines", "Raul Ortega", phone="+34 600 111 222", note="repairs sextants")
    people.add("otto", "Somebody Else")
    assert people.names("ines") == ["Raul Ortega", "Ada Lovelace"]
    assert people.names("ines", "sextant") == ["Raul Ortega"]
    assert people.names("ines", "ada mill") == ["Ada Lovelace"]
    assert people.names("ines", "ada sextants") == people.names("otto", "ada") == []
    for method, path in (("GET", ""), ("DELETE", "")):
        assert people.ask("otto", method, f"{ROUTE}/{ada['id']}{path}").status_code == 404
    assert people.ask("otto", "GET", ROUTE, client_id="ines").status_code == 403
    assert people.ask(None, "GET", ROUTE).status_code == 422
    operator = people.ask(None, "GET", ROUTE, user_id="ines").json()["items"]
    assert [item["name"] for item in operator] == ["Raul Ortega", "Ada Lovelace"]
    assert people.ask("ines", "DELETE", f"{ROUTE}/{ada['id']}").status_code == 200
    assert people.names("ines") == ["Raul Ortega"]


def test_the_database_shows_a_member_no_contact_of_another(
    people: People, database: Database
) -> None:
    people.add("ines", "Ada Byron", address="ada@mill.example")
    people.add("otto", "Bo Dahl")
    world = people.door.world
    with world.pool.connection() as connection, connection.transaction():
        for name, value in (("workspace_id", str(world.workspace_id)), ("client", "otto")):
            connection.execute("SELECT set_config('cairn.' || %s, %s, true)", [name, value])
        owners = connection.execute(
            "SELECT DISTINCT m.client_id FROM contact c JOIN member m ON m.id = c.member_id"
        ).fetchall()
        assert owners == [("otto",)]
        moved = connection.execute("UPDATE contact SET met = 7").rowcount
        assert moved == 1


def test_files_of_people_are_taken_in_once_and_say_what_they_refuse(people: People) -> None:
    table = (
        "First Name,Last Name,E-mail 1 - Value,Company\n"
        "Ada,Byron,ada@mill.example,Mill\n,,,\nBo,Dahl,no address,\n"
    )
    done = people.bring("ines", "csv", table)
    assert (done["added"], done["refused_count"], done["refused"][0]["place"]) == (1, 1, 4)
    again = people.bring("ines", "csv", table)
    assert (again["added"], again["changed"], again["unchanged"]) == (0, 0, 1)
    cards = (
        "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Byron;Ada;;;\r\nitem1.EMAIL:ada@mill.example\r\n"
        "TITLE:Engi\r\n neer\r\nEND:VCARD\r\n"
        "BEGIN:VCARD\nFN;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:J=C3=B6r=\ng\n"
        "TEL:030 1234\nEND:VCARD"
    )
    done = people.bring("ines", "vcard", cards)
    assert (done["added"], done["changed"]) == (1, 1)
    mailbox = (
        "From x\nFrom: Ines <ines@harbour.example>\n"
        "To: Ada <ada@mill.example>, no-reply@shop.example\n"
        "Date: Mon, 2 Nov 2026 10:00:00 +0100\n\nsecret words\n"
        "From y\nFrom: news@shop.example\nTo: ines@harbour.example\nList-Id: <news>\n\nbuy\n"
    )
    done = people.bring("ines", "mailbox", mailbox, own_addresses=["ines@harbour.example"])
    assert (done["added"], done["changed"]) == (0, 1)
    done = people.bring("ines", "calendar", CALENDAR, own_addresses=["ines@harbour.example"])
    assert done["added"] == 1
    items = people.ask("ines", "GET", ROUTE).json()["items"]
    assert {item["name"]: (item["title"], item["met"]) for item in items} == {
        "Ada Byron": ("Engineer", 1),
        "Jörg": (None, 0),
        "Ortega: Raul": (None, 1),
    }


def test_files_and_fields_that_are_none_are_refused_with_their_reason_and_nothing_is_kept(
    people: People,
) -> None:
    for format, text, reason in (
        ("csv", "colour,size\nred,1\n", "csv-columns"),
        ("csv", 'name\n"Ada', "csv"),
        ("csv", "\ufeff\n\n,\n", "empty"),
        ("csv", "name\n" + "A\n" * 5_001, "too-many"),
        ("vcard", "Dear Sir", "vcard"),
        ("calendar", "BEGIN:VCARD", "calendar"),
        ("mailbox", "From a\nFrom: b@c.example\n\n", "own-addresses"),
        ("spreadsheet", "name", "fields"),
    ):
        answer = people.ask("otto", "POST", f"{ROUTE}/import", format=format, text=text)
        assert (answer.status_code, answer.json()["reason"]) == (422, reason), answer.text
    for field, status in (
        ({"address": "nobody"}, 422),
        ({"phone": "x"}, 422),
        ({"name": "N" * 201}, 413),
        ({"name": "A\x00"}, 422),
        ({"name": "\ud800"}, 422),
        ({"note": 7}, 422),
        ({"member_id": str(new_id())}, 404),
    ):
        content = json.dumps({"name": "Ada", **field})
        headers = {"authorization": f"Bearer {people.key('otto')}"}
        headers["content-type"] = "application/json"
        answer = people.door.api.answer("POST", ROUTE, content=content, headers=headers)
        assert answer.status_code == status, answer.text
    assert people.names("otto") == []


def test_who_is_forgotten_is_nobodys_contact_any_more(
    people: People, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_signing_key(tmp_path / "signing")
    monkeypatch.setattr(forgetting, "S3Erasing", lambda _: ErasableObjects())
    monkeypatch.setattr(forgetting, "S3Tombstones", lambda _: Tombstones())
    for who in ("ines", "otto"):
        people.add(who, "Ada Byron", address="ada@mill.example")
        people.add(who, "Bo Dahl", address="bo@dock.example")
    people.add("ines", "Eli Fox", address="eli-whom-ines-alone-knew@fox.example")

    def forget(kind: str, name: str) -> dict[str, Any]:
        gone = {"subject": {"kind": kind, "natural_key": name}}
        counts: dict[str, Any] = people.door.api.call("POST", "/v1/forget", json=gone)
        return counts

    forget("person", "ada@mill.example")
    assert people.names("ines") == ["Eli Fox", "Bo Dahl"]
    assert people.names("otto") == ["Bo Dahl"]
    assert forget("client", "ines")["counts"]["person"] == 1
    assert people.names("otto") == ["Bo Dahl"]
    with database.connect_as_superuser() as root:
        rows = root.execute(
            "SELECT count(*) FROM contact WHERE workspace_id = %s",
            [people.door.world.workspace_id],
        ).fetchone()
        names = root.execute(
            "SELECT count(*) FROM data_subject"
            " WHERE workspace_id = %s AND natural_key ~ 'ada|ines'",
            [people.door.world.workspace_id],
        ).fetchone()
    assert (rows, names) == ((1,), (0,))


class _Calendar(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        good = self.path == "/ines.ics"
        body = CALENDAR.encode() if good else b"<html>"
        self.send_response(404 if self.path == "/robots.txt" else 200)
        self.send_header("content-type", "text/calendar" if good else "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


@pytest.fixture
def calendar(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("CAIRN_FETCH_PRIVATE_HOSTS", "127.0.0.1")
    server = HTTPServer(("127.0.0.1", 0), _Calendar)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_calendar_is_read_for_its_member_alone_and_its_address_is_never_shown(
    calendar: str, people: People
) -> None:
    body = {"kind": "calendar", "own_addresses": ["ines@harbour.example"]}
    good = people.ask("ines", "POST", "/v1/integrations", address=f"{calendar}/ines.ics", **body)
    bad = people.ask("ines", "POST", "/v1/integrations", address=f"{calendar}/page", **body)
    assert (good.status_code, bad.status_code) == (201, 201), good.text
    sync = f"/v1/integrations/{good.json()['id']}/sync"
    assert people.ask("ines", "POST", sync).json()["added"] == 1
    assert people.ask("ines", "POST", sync).json()["unchanged"] == 1
    assert people.names("ines") == ["Ortega: Raul"]
    refused = people.ask("ines", "POST", f"/v1/integrations/{bad.json()['id']}/sync")
    assert (refused.status_code, refused.json()["reason"]) == (422, "fetch-media-type")
    listed = people.ask("ines", "GET", "/v1/integrations")
    outcomes = [(item["people"], item["problem"]) for item in listed.json()["items"]]
    assert outcomes == [(1, None), (None, "fetch-media-type")]
    assert "ines.ics" not in listed.text
    assert people.ask("otto", "POST", sync).status_code == 404
    assert people.ask("otto", "GET", "/v1/integrations").json()["items"] == []
    gone = people.ask("ines", "DELETE", f"/v1/integrations/{good.json()['id']}")
    assert gone.status_code == 200
    assert people.names("ines") == ["Ortega: Raul"]


def test_a_contact_who_was_invited_is_a_ghost_until_they_come_and_then_a_member(
    people: People,
) -> None:
    quay = people.ask("ines", "POST", "/v1/networks", name="Quay").json()["id"]
    ada = people.add("ines", "Ada Byron", address="ada@mill.example")
    path, members = f"{ROUTE}/{ada['id']}", f"/v1/networks/{quay}/members"
    foreign = people.ask("raul", "POST", f"{path}/invite", network_id=quay)
    assert (foreign.status_code, ada["standing"]) == (404, "contact")
    first = people.ask("ines", "POST", f"{path}/invite", network_id=quay).json()
    assert first["contact"]["standing"] == "ghost"
    assert "cairn network join --invite" in first["text"]
    assert len(people.ask("ines", "GET", members).json()["items"]) == 1  # a ghost is in no network
    people.ask("ines", "POST", f"{path}/invite", network_id=quay)  # the first link is as good
    joined = people.ask("ada", "POST", "/v1/networks/join", token=first["token"])
    assert (joined.status_code, joined.json()["role"]) == (200, "member")
    again = people.ask("raul", "POST", "/v1/networks/join", token=first["token"])
    assert (again.status_code, again.json()["reason"]) == (404, "invite")
    assert people.ask("ines", "GET", path).json()["standing"] == "member"
    assert len(people.ask("ines", "GET", members).json()["items"]) == 2
    refused = people.ask("ines", "POST", f"{path}/invite", network_id=quay)
    assert (refused.status_code, refused.json()["reason"]) == (409, "is-member")
