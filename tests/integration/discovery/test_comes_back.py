"""A community that was exported and imported into an empty database stands as it stood."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from tests.integration.storage import test_search_front
from tests.plugins.postgres import Database
from tests.support.forgetting import ErasableObjects, Tombstones
from tests.support.front import Front
from tests.support.negotiating import Member, Scene

from cairn.adapters.files.signing import make_signing_key
from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.ledger.replay import PostgresReplays
from cairn.adapters.postgres.ledger.whole import export_ledger, import_ledger
from cairn.adapters.postgres.projections import BESIDE
from cairn.bootstrap import forgetting
from cairn.discovery.beside import discovery_beside
from cairn.discovery.negotiation import signing
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Conflict
from cairn.kernel.ids import new_id
from cairn.ledger.importing import Export
from cairn.rebuild.rebuild import Rebuild, Rebuilt
from cairn.rebuild.restore import Restore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from uuid import UUID

    from tests.integration.storage.test_search_front import Door
    from tests.plugins.postgres import Server

door = test_search_front.door
SEEKS, OFFERS = "Someone to replank an old pilot boat in larch", "Replanking of old boats in larch"
SECRET = "Replanking in larch never for less than 380 an hour."
NOT_SAID = {
    "network_member": ("judge_since",),
    "intent": ("discovered_at", "tries", "retry_at", "problem"),
    "opportunity": ("body", "tries", "retry_at", "problem"),
    "contact": ("body",),
    "contact_integration": ("body", "people", "problem", "synced_at"),
    "negotiation": (
        *("version", "claim", "claimed_by", "claim_until", "failures", "failure", "changed_at"),
        *("tries", "retry_at", "problem", "ended_at", "deadline"),
    ),
    "negotiation_turn": ("id", "body"),
    "negotiator": ("seen_at", "takeover"),
}
"""Columns that no entry says, as docs/operate/ledger.md tells; sealed bodies are read instead."""


@dataclass
class Community:
    """Members of one workspace over HTTP, each by a key bound to them."""

    door: Door
    database: Database
    members: dict[str, Member] = field(default_factory=dict[str, Member])

    @property
    def workspace_id(self) -> UUID:
        return self.door.world.workspace_id

    @property
    def platform(self) -> Any:
        return self.door.api.app.state.services.platform

    def member(self, name: str) -> Member:
        if name not in self.members:
            key = {"name": name, "role": "agent", "scopes": ["shared"], "client_id": name}
            secret = self.door.api.call("POST", "/v1/keys", json=key)["secret"]
            scene = Scene(self.door.api, self.database, self.workspace_id)
            self.members[name] = Member(scene=scene, client=name, id=new_id(), key=secret)
        return self.members[name]

    def do(self, name: str, method: str, path: str, body: Any = None) -> Any:
        return self.member(name).call(method, path, json=body)

    def rows(self, statement: str, *parameters: Any) -> list[Any]:
        return rows_of(self.database, statement.replace("$w", f"'{self.workspace_id}'"), parameters)

    def id_of(self, name: str) -> str:
        query = "SELECT id FROM member WHERE workspace_id = $w AND client_id = %s"
        return str(self.rows(query, name)[0][0])

    def wish(self, name: str, side: str, text: str) -> str:
        body = {"text": text, "infer": False, "side": side}
        intent = str(self.do(name, "POST", "/v1/intents", body)["intents"][0]["id"])
        self.door.enrich()
        return intent

    def draft(self, source: str, intent: str, target: str) -> str:
        body = {"intent_id": intent, "members": [self.id_of(target)]}
        created = self.do(source, "POST", "/v1/opportunities", body)
        assert created["items"], created
        return str(created["items"][0]["id"])

    def say(self, name: str, talk: str, action: str, message: str) -> Any:
        return self.member(name).say(talk, action, message)

    def forget(self, name: str) -> None:
        body = {"subject": {"kind": "client", "natural_key": name}}
        self.door.api.call("POST", "/v1/forget", json=body)

    def check(self) -> Rebuilt:
        return rebuild(self.platform, self.door.world.pool)(self.workspace_id, only_check=True)

    def lines(self) -> list[str]:
        return list(export_ledger(self.database.owner_url, self.workspace_id))


def rebuild(platform: Any, pool: Any) -> Rebuild:
    return Rebuild(platform=platform, replays=PostgresReplays(pool), beside=discovery_beside())


def rows_of(database: Database, statement: str, parameters: Any = ()) -> list[Any]:
    with database.connect_as_superuser() as root:
        cursor = root.execute(statement.encode(), parameters)
        return cursor.fetchall() if cursor.description else []


@pytest.fixture
def town(
    door: Door, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Community:
    make_signing_key(tmp_path / "signing")
    monkeypatch.setattr(forgetting, "S3Erasing", lambda _: ErasableObjects())
    monkeypatch.setattr(forgetting, "S3Tombstones", lambda _: Tombstones())
    town = Community(door, database)
    live_in(town)
    return town


@pytest.fixture
def empty(postgres_cluster: Server, template_database: str) -> Iterator[Callable[[], Database]]:
    """Makes new accounts: migrated databases with nothing in them."""
    from infra.local.postgres import create_database, drop_database

    names: list[str] = []

    def make() -> Database:
        name = f"test_{secrets.token_hex(6)}"
        with postgres_cluster.cluster.connect() as connection:
            create_database(connection, name, template=template_database)
        names.append(name)
        return Database(
            name=name,
            owner_url=postgres_cluster.owner_url(name),
            app_url=postgres_cluster.app_url(name),
            server=postgres_cluster,
        )

    yield make
    for name in names:
        with postgres_cluster.cluster.connect() as connection:
            drop_database(connection, name)


def live_in(town: Community) -> None:
    """Let ten things happen that a community does, and what undoes some of them."""
    quay = town.do("ines", "POST", "/v1/networks", {"name": "Quay", "join_policy": "anyone"})["id"]
    for name in ("tor", "mal", "eve", "kai"):
        town.do(name, "POST", f"/v1/networks/{quay}/join", {"prompt": f"{name} on boats"})
    _networks(town, quay)
    wish, offer = town.wish("ines", "seeking", SEEKS), town.wish("tor", "offering", OFFERS)
    memory = {"type": "fact", "text": SECRET}
    town.do("tor", "POST", "/v1/memories", memory)
    for name in ("eve", "kai"):
        town.wish(name, "offering", "Rigging of boats by an old rigger")
    _intents(town, quay)
    _meetings(town, wish, offer)
    _contacts(town, quay)
    town.door.api.call("POST", "/v1/personas", json={"name": "calm", "instructions": "Slowly."})
    town.door.api.call("PUT", "/v1/personas/calm", json={"instructions": "More."})
    _somebody_is_forgotten(town)


def _networks(town: Community, quay: str) -> None:
    town.do("ines", "PATCH", f"/v1/networks/{quay}", {"prompt": ""})
    town.do("ines", "PATCH", f"/v1/networks/{quay}", {"name": "The old quay"})
    town.do("mal", "POST", f"/v1/networks/{quay}/leave", {})
    town.do("mal", "POST", f"/v1/networks/{quay}/join", {})
    gone = town.do("mal", "POST", "/v1/networks", {"name": "Alone"})["id"]
    town.member("mal").call("DELETE", f"/v1/networks/{gone}")
    invite = town.do("ines", "POST", f"/v1/networks/{quay}/invites", {})
    town.member("ines").call("DELETE", f"/v1/networks/{quay}/invites/{invite['id']}")
    town.do("ines", "POST", f"/v1/networks/{quay}/invites", {})


def _intents(town: Community, quay: str) -> None:
    paused = town.wish("mal", "offering", "Sails mended by hand at the harbour")
    town.do("mal", "POST", f"/v1/intents/{paused}/pause", {})
    gone = town.wish("mal", "seeking", "A mooring for one winter")
    town.member("mal").call("DELETE", f"/v1/intents/{gone}")
    taken_out = town.wish("mal", "seeking", "A second hand compass")
    town.member("mal").call("DELETE", f"/v1/intents/{taken_out}/networks/{quay}")


def _meetings(town: Community, wish: str, offer: str) -> None:
    # both agents sign, and agree
    signed = town.draft("ines", town.wish("ines", "seeking", "Larch boards for a deck"), "tor")
    for name in ("ines", "tor"):
        town.member(name).register()
        town.member(name).here()
    talk = town.do("ines", "POST", "/v1/negotiations", {"opportunity_id": signed})["id"]
    for name, action in (("ines", "propose"), ("tor", "question"), ("ines", "counter")):
        _speak(town.member(name), talk, action, f"{action}: the deck?")
    _speak(town.member("tor"), talk, "accept", "Yes, the deck.")
    # agents counter for ever: their people are asked, one answers, one is forgotten later
    for number, other in enumerate(("kai", "kai", "eve")):
        parked = town.draft("mal", town.wish("mal", "seeking", f"A rigger, try {number}"), other)
        for name in ("mal", other):
            town.member(name).here()
        talk = town.do("mal", "POST", "/v1/negotiations", {"opportunity_id": parked})["id"]
        town.say("mal", talk, "propose", "May?")
        for name in (other, "mal") * 2 + (other,):
            town.say(name, talk, "counter", "Later?")
        if number:
            answer = {"answer": "In June, then."}
            town.do("mal", "POST", f"/v1/negotiations/{talk}/answer", answer)
    # an advocate speaks for who is not there, and knows what its member alone knows
    alone = town.wish("ines", "seeking", "Someone to replank a rowing boat in larch")
    town.rows("UPDATE negotiator SET seen_at = NULL WHERE workspace_id = $w")
    advised = {"opportunity_id": town.draft("ines", alone, "tor")}
    town.do("ines", "POST", "/v1/negotiations", advised)
    met = town.draft("ines", wish, "tor")
    town.draft("tor", offer, "ines")
    town.do("ines", "POST", f"/v1/opportunities/{met}/send", {})
    town.do("tor", "POST", f"/v1/opportunities/{met}/accept", {})


def _speak(member: Member, talk: str, action: str, message: str) -> None:
    turn = member.here()
    assert turn["negotiation"]["id"] == talk
    member.call("POST", member.path(talk), json=member.signed(turn, action, message))


def _contacts(town: Community, quay: str) -> None:
    def add(who: str, name: str, **more: Any) -> str:
        return str(town.do(who, "POST", "/v1/contacts", {"name": name, **more})["id"])

    ada = add("ines", "Ada Byron", address="ada@mill.example")
    add("ines", "Ada Byron", address="ada@mill.example", note="Knows larch.")
    invite = town.do("ines", "POST", f"/v1/contacts/{ada}/invite", {"network_id": quay})
    town.do("ada", "POST", "/v1/networks/join", {"token": invite["token"]})
    bo = add("ines", "Bo Dahl", address="bo@dock.example")
    town.do("ines", "POST", f"/v1/contacts/{bo}/invite", {"network_id": quay})
    town.member("ines").call("DELETE", f"/v1/contacts/{add('ines', 'Nobody')}")
    add("tor", "Ines", member_id=town.id_of("ines"))
    address = {"kind": "calendar", "address": "https://calendar.example/secret-4711.ics"}
    town.do("ines", "POST", "/v1/integrations", {**address, "own_addresses": ["i@quay.example"]})


def _somebody_is_forgotten(town: Community) -> None:
    own = town.do("eve", "POST", "/v1/networks", {"name": "Hers", "join_policy": "anyone"})["id"]
    town.do("mal", "POST", f"/v1/networks/{own}/join", {})
    town.do("eve", "POST", f"/v1/networks/{own}/invites", {})
    town.do("eve", "POST", "/v1/contacts", {"name": "Eli", "address": "eli@fox.example"})
    town.do("tor", "POST", "/v1/contacts", {"name": "E", "member_id": town.id_of("eve")})
    town.forget("eve")


def brought_back(town: Community, into: Database, lines: list[str]) -> Rebuilt:
    from cairn.adapters.postgres.database import Database as Pool

    pool = Pool(into.app_url, size=2)
    try:
        return Restore(
            write=lambda export: import_ledger(into.owner_url, export, name="b", now=utc_now()),
            tombstones=None,
            rebuild=rebuild(town.platform, pool),
        )(Export(lines)).rebuilt
    finally:
        pool.close()


def standing(of: Database, workspace_id: UUID, table: str) -> list[str]:
    """The rows of a table as text, but for what no entry says."""
    withdrawn = " || jsonb_build_object('revoked_at', revoked_at IS NOT NULL)"  # by a forgetting
    left_out = "".join(f" - '{name}'" for name in NOT_SAID.get(table, ()))
    left_out += withdrawn if table == "network_invite" else ""
    where = " AND public_key IS NOT NULL" if table == "negotiator" else ""
    statement = (
        "SELECT (to_jsonb(r)$out)::text FROM $t AS r WHERE workspace_id = %s$where ORDER BY 1"
    )
    statement = statement.replace("$out", left_out).replace("$where", where)
    rows = rows_of(of, statement.replace("$t", table), [workspace_id])
    return sorted(text for (text,) in rows)


def test_a_community_stands_after_an_import_as_it_stood(
    town: Community, empty: Callable[[], Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines, checked = town.lines(), town.check()
    assert {name for name in BESIDE if not checked.after[name].rows} == set()
    drift = {name for name in BESIDE if checked.before[name] != checked.after[name]}
    assert drift == set()
    into = empty()
    brought_back(town, into, lines)
    for table in BESIDE:
        there, here = (standing(of, town.workspace_id, table) for of in (town.database, into))
        assert here == there, table
    monkeypatch.setenv("CAIRN_APP_DATABASE_URL", into.app_url)
    _, key = create_workspace(into.owner_url, "b", clock=utc_now, new_id=new_id)
    front = Front(key)
    assert _read(front) == _read(town.door.api)
    talks = front.call("GET", "/v1/negotiations")["items"]
    assert len(talks) == 5
    assert {talk["state"] for talk in talks} == {"ended", "waiting", "open"}
    for talk in talks:
        path = f"/v1/negotiations/{talk['id']}/export"
        export = front.call("GET", path)
        assert signing.verify(export).holds
        assert export == town.door.api.call("GET", path)
    key_of = {"name": "tor", "role": "agent", "scopes": ["shared"], "client_id": "tor"}
    headers = {"authorization": f"Bearer {front.call('POST', '/v1/keys', json=key_of)['secret']}"}
    advised = front.call("GET", f"/v1/negotiations/{talks[0]['id']}/inputs", headers=headers)
    own = town.do("tor", "GET", f"/v1/negotiations/{talks[0]['id']}/inputs")
    assert (advised["items"], bool(own["items"])) == (own["items"], True)
    contacts = front.call("GET", "/v1/contacts", headers=headers)["items"]
    assert contacts == town.do("tor", "GET", "/v1/contacts")["items"]
    integrations = front.call("GET", "/v1/integrations", params={"client_id": "ines"})["items"]
    assert [item["host"] for item in integrations] == ["calendar.example"]


def _read(front: Front) -> dict[str, Any]:
    """What an admin and a member read of it."""
    me = {"client_id": "ines"}
    return {
        path: front.call("GET", path, params=me if of_a_member else {})["items"]
        for path, of_a_member in (
            ("/v1/networks", False),
            ("/v1/opportunities", True),
            ("/v1/contacts", True),
            ("/v1/intents", True),
            ("/v1/personas", False),
        )
    }


def test_an_import_that_is_killed_leaves_nothing_or_is_gone_on_with(
    town: Community, empty: Callable[[], Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines, into = town.lines(), empty()

    class Killed(BaseException):
        pass

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("cairn.adapters.postgres.ledger.replay.PostgresReplica.complete", die)
        with pytest.raises(Killed):
            brought_back(town, into, lines)
    for table in BESIDE:
        assert standing(into, town.workspace_id, table) == []
    with pytest.raises(Conflict, match="has begun"):
        brought_back(town, into, lines)
    from cairn.adapters.postgres.database import Database as Pool

    pool = Pool(into.app_url, size=2)
    try:
        restore = Restore(write=lambda _: 0, tombstones=None, rebuild=rebuild(town.platform, pool))
        for _ in range(2):  # again changes nothing
            restore.resume(town.workspace_id, len(lines) - 1)
    finally:
        pool.close()
    for table in BESIDE:
        there, here = (standing(of, town.workspace_id, table) for of in (town.database, into))
        assert here == there, table


def test_who_was_forgotten_stays_so_and_rows_changed_behind_the_ledger_are_shown_and_left(
    town: Community, empty: Callable[[], Database]
) -> None:
    [(eve,)] = town.rows(
        "SELECT meta::jsonb ->> 'subject_id' FROM ledger WHERE workspace_id = $w"
        " AND type = 'subject.forgotten' AND meta::jsonb ->> 'kind' = 'client'"
    )
    into = empty()
    brought_back(town, into, town.lines())
    for table in BESIDE:
        assert not [row for row in standing(into, town.workspace_id, table) if eve in row], table
        everything = rows_of(into, "SELECT r::text FROM $t AS r".replace("$t", table))
        assert "eli@fox" not in str(everything)
    town.rows("UPDATE opportunity SET score = 99 WHERE workspace_id = $w AND state = 'accepted'")
    town.rows("DELETE FROM network_invite WHERE workspace_id = $w AND used_by IS NOT NULL")
    checked = town.check()
    drift = {name for name in checked.before if checked.before[name] != checked.after[name]}
    assert (drift, checked.equal) == ({"opportunity", "network_invite"}, False)
    after = rebuild(town.platform, town.door.world.pool)(town.workspace_id)
    assert (after.replaced.rows, after.equal) == (0, False)
    score = "SELECT score FROM opportunity WHERE workspace_id = $w AND state = 'accepted'"
    assert town.rows(score) == [(99,)]


def test_another_workspace_sees_nothing_of_what_came_back_and_of_the_replay(
    town: Community, empty: Callable[[], Database]
) -> None:
    into = empty()
    brought_back(town, into, town.lines())
    stranger, _ = create_workspace(into.owner_url, "stranger", clock=utc_now, new_id=new_id)
    with psycopg.connect(into.app_url) as connection:
        for schema in ("public", "replay"):
            for table in BESIDE:
                connection.execute(
                    "SELECT set_config('cairn.workspace_id', %s, true)", [str(stranger)]
                )
                count = "SELECT count(*) FROM $t".replace("$t", f"{schema}.{table}")
                rows = connection.execute(count.encode())
                assert rows.fetchone() == (0,), (schema, table)
