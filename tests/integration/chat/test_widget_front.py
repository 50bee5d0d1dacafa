"""The chat widget's door over HTTP, as it is wired, over PostgreSQL: who gets in, and how much."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import httpx
import jwt
import pytest
from tests.integration.chat import test_chat_front
from tests.plugins.waiting import eventually
from tests.support.chat_wire import ChatServer, Say
from tests.support.embedding import HASHING, HashingEmbedder
from tests.support.forgetting import erase_in_memory
from tests.support.front import Front
from tests.support.ingesting import Documents
from tests.support.serving import serving
from tests.support.widget import HOST, Host, Page, page, set_widget, signed_with_hmac
from tests.support.world import World, open_world

from cairn.adapters.files.keys import FileKeyStore
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.api.options import ApiOptions, CustomerStreams
from cairn.chat.challenges import solve
from cairn.chat.widget import BUSY
from cairn.kernel.access import Scope
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.plugins.postgres import Database

model = test_chat_front.model
GUIDE = "# Gates\n\nThe harbour gate opens at six in the morning.\n"
SECRET = "# Gates\n\nThe harbour gate has the code 4711 at six in the morning.\n"
ADA = {"subject": {"kind": "client", "natural_key": "ada"}}
FOREVER = {"per_minute": 1_000, "challenge_after": None}


@pytest.fixture
def world(database: Database) -> Iterator[World]:
    with database.connect_as_superuser() as root:
        root.execute(
            "INSERT INTO embedding_model (id, name, dimensions) VALUES (%s, %s, %s)"
            " ON CONFLICT DO NOTHING",
            (HASHING.id, HASHING.name, HASHING.dimensions),
        )
    opened = open_world(database.owner_url, database.app_url, f"widget {new_id()}")
    yield opened
    opened.pool.close()


@pytest.fixture
def front(
    database: Database, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Front:
    for name, value in test_chat_front.environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    test_chat_front.stand_in_for_aws(monkeypatch, test_chat_front.Cloud())
    return Front(world.key, embedder=HashingEmbedder())


@pytest.fixture
def led(model: ChatServer, front: Front) -> Front:
    return front


def ingest(
    world: World, folder: Path, text: str, uri: str, scope: Scope, agents: tuple[str, ...] = ()
) -> None:
    Documents(
        transactions=StoreTransactions(world.pool),
        principal=world.admin,
        keys=FileKeyStore(folder / "keys"),
    ).ingest(text, source_uri=uri, scope=scope, agents=agents)


def test_a_widget_is_set_shown_and_removed_and_keeps_its_id(front: Front) -> None:
    assert front.answer("GET", "/v1/widget").status_code == 404
    made = set_widget(front, theme={"primary": "#123456"})
    limits = {"per_minute": 20, "per_day": 200, "per_session": 40, "idle_minutes": 15}
    assert (made["day_usd"], made["anonymous"]) == (50, {**limits, "challenge_after": 3})
    assert made["texts"]["busy"] == BUSY
    again = set_widget(front, day_usd=2.5)
    assert (again["id"], again["day_usd"], again["theme"]["primary"]) == (
        made["id"],
        2.5,
        "#0f766e",
    )
    shown = front.call("GET", "/v1/widget")
    assert shown == again
    opened = page(front)
    assert front.call("DELETE", "/v1/widget") == {"id": made["id"]}
    assert front.answer("DELETE", "/v1/widget").status_code == 404
    assert opened.say().status_code == 404
    entries = front.call("GET", "/v1/ledger", params={"type": "widget", "limit": 50})["items"]
    assert [each["type"] for each in entries] == [
        *["widget.set"] * 3,
        "widget.removed",
    ]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"origins": []},
        {"origins": ["*"]},
        {"origins": ["https://shop.example/"]},
        {"origins": ["https://Shop.example"]},
        {"origins": ["https://shop.example:443"]},
        {"origins": ["https://ada@shop.example"]},
        {"origins": ["javascript://x"]},
        {"origins": [HOST], "theme": {"primary": "red;}*{display:none"}},
        {"origins": [HOST], "theme": {"font": "x;background:url(//evil)"}},
        {"origins": [HOST], "texts": {"title": ""}},
        {"origins": [HOST], "texts": {"title": "a\u0000b"}},
        {"origins": [HOST], "day_usd": -1},
        {"origins": [HOST], "anonymous": None},
        {"origins": [HOST], "anonymous": {"per_minute": 0}},
        {"origins": [HOST], "challenge": "turnstile", "site_key": "k"},
        {"origins": [HOST], "host": {"issuer": "i", "keys": [{"kty": "oct", "k": "c2VjcmV0"}]}},
        {"origins": [HOST], "colour": "red"},
    ],
)
def test_what_a_widget_cannot_be_is_refused_with_the_reason(
    front: Front, settings: dict[str, Any]
) -> None:
    refused = front.answer("PUT", "/v1/widget", json=settings)
    assert refused.status_code == 422, refused.text
    assert refused.json()["errors"][0]["message"]


def test_a_hosts_private_or_short_key_is_no_key_of_a_widget(front: Front) -> None:
    host = Host()
    private = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(host.key))
    for key in (
        {**private, "kid": "one", "alg": "ES256"},
        {**host.settings["keys"][0], "alg": "HS256"},
        {**host.settings["keys"][0], "alg": "none"},
        {**host.settings["keys"][0], "kid": ""},
        {"kty": "EC", "kid": "one", "alg": "ES256", "crv": "P-256", "x": "!", "y": "!"},
    ):
        body = {"origins": [HOST], "host": {"issuer": "i", "keys": [key]}}
        assert front.answer("PUT", "/v1/widget", json=body).status_code == 422


def test_only_pages_of_its_origins_are_answered_and_may_read_why_not(front: Front) -> None:
    ours = page(front, begun=False)
    preflight = {
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
    }
    asked = ours.ask("OPTIONS", "/messages", headers=preflight)
    assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (204, HOST)
    assert "authorization" in asked.headers["access-control-allow-headers"]
    shown = ours.ask("GET")
    assert shown.headers["access-control-allow-origin"] == HOST
    assert "origin" in shown.headers["vary"].lower()
    assert shown.json()["texts"]["title"] == "Chat with us"
    refused = ours.say()
    assert refused.status_code == 401
    assert refused.headers["access-control-allow-origin"] == HOST
    for origin in ("https://evil.example", "null", HOST.replace("https", "http"), None):
        stranger = Page(front.app, ours.widget_id, origin)
        assert stranger.ask("OPTIONS", "/messages", headers=preflight).status_code == 403
        for answer in (stranger.ask("GET"), stranger.ask("POST", "/sessions", json={})):
            assert (answer.status_code, answer.json()["reason"]) == (403, "origin")
            assert "access-control-allow-origin" not in answer.headers


def test_an_anonymous_customer_is_answered_from_public_documents_alone(
    front: Front, world: World, tmp_path: Path
) -> None:
    ingest(world, tmp_path, GUIDE, "kb://gates.md", Scope.PUBLIC)
    ingest(world, tmp_path, SECRET, "kb://codes.md", Scope.ADMIN)
    front.call(
        "POST",
        "/v1/memories",
        json={"type": "fact", "scope": "public", "text": "The harbour gate opens for Ilse at ten."},
    )
    turn = page(front).answered("When does the harbour gate open?")
    assert "opens at six in the morning" in turn["answer"]
    assert turn["citations"] and all("[doc:Gates#" in each for each in turn["citations"])
    assert "4711" not in turn["answer"] and "Ilse" not in turn["answer"]


def test_customers_and_public_keys_are_told_titles_and_addresses_of_the_web_and_no_path(
    front: Front, world: World, tmp_path: Path
) -> None:
    local, web = "file:///home/ada/internal/gates.md", "https://help.example/tides.md"
    ingest(world, tmp_path, GUIDE, local, Scope.PUBLIC)
    ingest(world, tmp_path, GUIDE, local, Scope.PUBLIC, agents=("p",))
    ingest(world, tmp_path, "# Tides\n\nThe tide turns at noon.\n", web, Scope.PUBLIC)
    shop = page(front)
    told = [shop.answered(f"When does the {each}?") for each in ("harbour gate open", "tide turn")]
    assert [each["citations"][0].partition("#")[0] for each in told] == [
        "[doc:Gates",
        f"[doc:{web}",
    ]
    body = {"name": "p", "role": "public", "scopes": ["public"], "agent_slug": "p"}
    made = front.call("POST", "/v1/keys", json=body)
    stranger = {"headers": {"authorization": f"Bearer {made['secret']}"}}
    ask = {"query": "When does the harbour gate open?"}
    for path in ("/v1/search", "/v1/context"):
        shown = front.answer("POST", path, json=ask, **stranger)
        assert "six in the morning" in shown.text
        assert "Gates" in shown.text and "home/ada" not in shown.text
        assert "home/ada" in front.answer("POST", path, json=ask).text
    for each in front.answer("POST", "/v1/search", json=ask, **stranger).json()["results"]:
        assert each["attributes"]["source_uri"] == "Gates"
        around = front.answer("GET", f"/v1/nodes/{each['node_id']}/lineage", **stranger)
        assert around.status_code == 200 and "home/ada" not in around.text


def test_two_customers_and_the_keys_of_others_see_nothing_of_each_other(front: Front) -> None:
    first, second = page(front), page(front)
    turn = first.answered("My order number is 99.")
    assert second.ask("GET", f"/turns/{turn['turn_id']}").status_code == 404
    assert first.ask("GET", f"/turns/{turn['turn_id']}").json()["ended"]
    key = {"headers": {"authorization": f"Bearer {first.token}"}}
    assert front.answer("GET", f"/v1/chat/{turn['turn_id']}", **key).status_code == 401
    assert front.answer("GET", f"/v1/chat/{turn['turn_id']}").status_code == 404


def test_what_a_customer_is_told_of_a_turn_is_its_words_and_its_end(front: Front) -> None:
    streamed = page(front).say(headers={"accept": "text/event-stream"}).text
    names = {line for line in streamed.splitlines() if line.startswith("event: ")}
    assert names == {"event: text_chunk", "event: turn_end"}
    data = [json.loads(line[6:]) for line in streamed.splitlines() if line.startswith("data: ")]
    assert data[-1]["state"] == "done" and "labels" not in data[-1]


def test_a_session_is_created_active_and_resolved_and_then_over(front: Front) -> None:
    ours = page(front)
    assert ours.session()["state"] == "created"
    refused = ours.ask("POST", "/resolve")
    assert (refused.status_code, refused.json()["reason"]) == (409, "session-state")
    ours.answered()
    assert (ours.session()["state"], ours.session()["messages_left"]) == ("active", 39)
    assert ours.ask("POST", "/resolve").json()["state"] == "resolved"
    assert ours.ask("POST", "/resolve").json()["state"] == "resolved"
    late = ours.say()
    assert (late.status_code, late.json()["reason"]) == (401, "session")


def test_a_session_that_is_silent_for_a_quarter_of_an_hour_is_over(
    front: Front, world: World, database: Database
) -> None:
    ours = page(front)
    ours.answered()
    with database.connect_as_superuser() as root:
        root.execute("UPDATE chat_session SET seen_at = seen_at - interval '14 minutes 30 seconds'")
    ours.answered()
    with database.connect_as_superuser() as root:
        root.execute("UPDATE chat_session SET seen_at = seen_at - interval '15 minutes 1 second'")
    late = ours.say()
    assert (late.status_code, late.json()["reason"]) == (401, "session-idle")
    ours.open()
    ours.answered()
    with database.connect_as_superuser() as root:
        states = root.execute(
            "SELECT state FROM chat_session WHERE workspace_id = %s ORDER BY created_at",
            [world.workspace_id],
        ).fetchall()
    assert states == [("resolved",), ("active",)]


def test_a_stranger_who_begins_ends_no_session_that_may_be_silent_for_longer(
    front: Front, database: Database
) -> None:
    host = Host()
    ours = page(
        front, begun=False, host=host.settings,
        anonymous={"idle_minutes": 1}, signed={"idle_minutes": 60},
    )  # fmt: skip
    ours.open(host_token=host.token(ours.widget_id))
    ours.answered()
    with database.connect_as_superuser() as root:
        root.execute("UPDATE chat_session SET seen_at = seen_at - interval '10 minutes'")
    Page(front.app, ours.widget_id).open()
    assert ours.session()["state"] == "active"
    ours.answered()


def test_strangers_who_stream_take_no_place_of_those_who_work(front: Front) -> None:
    ours = page(front)
    front.app.state.options.open_streams.now = front.app.state.options.open_streams.most
    answer = ours.say("hello", headers={"accept": "text/event-stream"})
    assert (answer.status_code, "event: turn_end" in answer.text) == (200, True)
    places = front.app.state.heard_by_customers
    assert places.now.total() == 0  # it was given back
    places.now["all"] = places.most
    full = ours.say("hello again", headers={"accept": "text/event-stream"})
    assert full.status_code == 503
    assert ours.answered("hello again")["state"] == "done"


def test_one_stranger_takes_a_part_of_the_places_for_streams_and_is_told_before_any_work(
    front: Front,
) -> None:
    shop = page(front, hand_off={"wait_minutes": 5}, anonymous=FOREVER)
    shop.answered("hello")
    assert shop.ask("POST", "/hand-off").status_code == 200
    places = CustomerStreams(of_address=6, of_session=3)
    front.app.state.heard_by_customers = places
    with serving(front.app) as url, httpx.Client(timeout=20) as client, ExitStack() as open_ones:

        def hear(by: Page) -> httpx.Response:
            where = f"{url}/v1/widget/{by.widget_id}/hand-off/events"
            request = client.build_request("GET", where, headers={
                "origin": HOST, "authorization": f"Bearer {by.token}"})  # fmt: skip
            answer = client.send(request, stream=True)
            open_ones.callback(answer.close)
            return answer

        heard = [hear(shop) for _ in range(3)]
        assert [each.status_code for each in heard] == [200] * 3
        refused = hear(shop)
        refused.read()
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
        assert refused.json()["reason"] == "chat-streams"
        others = [Page(front.app, shop.widget_id) for _ in range(2)]
        for other in others:
            other.open()
            other.answered("hello")
            assert other.ask("POST", "/hand-off").status_code == 200
        assert [hear(others[0]).status_code for _ in range(3)] == [200] * 3
        assert hear(others[1]).status_code == 429  # the address has its part
        turns = {"accept": "text/event-stream"}
        assert others[1].say("still there?", headers=turns).status_code == 200  # from elsewhere
        heard[0].close()
        eventually(lambda: places.now["all"] == 5)
        assert hear(others[1]).status_code == 200
    eventually(lambda: places.now.total() == 0)


def test_a_session_has_forty_messages_and_the_next_is_told_to_wait(
    front: Front, database: Database
) -> None:
    ours = page(front, anonymous=FOREVER)
    ours.answered()
    with database.connect_as_superuser() as root:
        root.execute("UPDATE chat_session SET messages = 39")
    ours.answered()
    refused = ours.say()
    assert (refused.status_code, refused.json()["reason"]) == (429, "chat-session")
    assert refused.json()["detail"] == BUSY
    assert int(refused.headers["retry-after"]) >= 1
    assert refused.headers["access-control-allow-origin"] == HOST
    assert "retry-after" in refused.headers["access-control-expose-headers"]


def test_the_limits_of_an_address_hold_however_many_messages_come_at_once(front: Front) -> None:
    limits = {"per_minute": 5, "challenge_after": None}
    pages = [page(front, anonymous={**limits, "per_minute": 100}) for _ in range(12)]
    set_widget(front, anonymous=limits)
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda each: each.say().status_code, pages))
    assert sorted(answers) == [200] * 5 + [429] * 7
    elsewhere = Page(front.app, pages[0].widget_id, address="203.0.113.8")
    elsewhere.open()
    elsewhere.answered()


def test_an_address_says_two_hundred_messages_a_day_and_not_one_more(
    front: Front, database: Database
) -> None:
    ours = page(front, anonymous=FOREVER)
    ours.answered()
    with database.connect_as_superuser() as root:
        root.execute(
            "INSERT INTO chat_turn (workspace_id, id, principal_id, session, address, state,"
            " question, digest, created_at, deadline) SELECT workspace_id, gen_random_uuid(),"
            " principal_id, session, address, 'done', question, digest,"
            " created_at - interval '2 hours', deadline FROM chat_turn, generate_series(1, 198)"
        )
    ours.answered()
    refused = ours.say()
    assert (refused.status_code, refused.json()["reason"]) == (429, "chat-address")
    assert int(refused.headers["retry-after"]) > 60


def test_who_writes_another_address_into_a_header_is_counted_by_his_own(front: Front) -> None:
    ours = page(front, anonymous={"per_minute": 3, "challenge_after": None})
    codes = [
        ours.say(headers={"x-forwarded-for": f"198.51.100.{at}", "forwarded": f"for=198.51.{at}.1"})
        for at in range(5)
    ]
    assert [each.status_code for each in codes] == [200, 200, 200, 429, 429]


def test_behind_cloudfront_each_visitor_has_limits_of_their_own_and_nobody_takes_anothers(
    front: Front, world: World
) -> None:
    edge = Front(world.key, HashingEmbedder(), ApiOptions(edge_secrets=("s" * 64,)))
    ours = page(edge, begun=False, anonymous={"per_minute": 2})

    def comes(viewer: str, secret: str = "s" * 64) -> int:
        headers = {"x-cairn-edge": secret, "x-cairn-viewer": viewer, "x-cairn-host": "cairn"}
        return ours.ask("POST", "/sessions", json={}, headers=headers).status_code

    assert [comes("198.51.100.1") for _ in range(3)] == [201, 201, 429]
    assert comes("198.51.100.2") == 201
    forged = [comes(f"198.51.100.{at}", "x" * 64) for at in range(3, 7)]
    assert forged == [201, 201, 429, 429]  # all of the address that they come from


def test_an_address_opens_so_many_sessions_and_no_more(front: Front) -> None:
    ours = page(front, begun=False, anonymous={"per_minute": 4})
    codes = [ours.ask("POST", "/sessions", json={}).status_code for _ in range(6)]
    assert codes == [201] * 4 + [429] * 2


def test_all_of_a_network_of_ipv6_is_counted_as_one(front: Front) -> None:
    ours = page(front, begun=False, anonymous={"per_minute": 2})
    codes = []
    for at in range(4):
        ours.address = f"2001:db8:1:2::{at:x}"
        codes.append(ours.ask("POST", "/sessions", json={}).status_code)
    assert codes == [201, 201, 429, 429]


def test_after_three_messages_a_browser_has_to_show_itself_once(front: Front) -> None:
    ours = page(front)
    for _ in range(3):
        ours.answered()
    assert ours.session()["challenge_due"]
    refused = ours.say()
    assert (refused.status_code, refused.json()["reason"]) == (403, "challenge")
    assert ours.session()["messages_left"] == 37  # what was refused does not count
    challenge = ours.ask("GET", "/challenge").json()["challenge"]
    work = solve(challenge)
    wrong = ours.ask("POST", "/challenge", json={"answer": f"{work}x"})
    assert (wrong.status_code, wrong.json()["reason"]) == (403, "challenge")
    spent = ours.ask("POST", "/challenge", json={"answer": work})
    assert spent.status_code == 403  # a challenge takes one answer
    assert ours.solve().json()["challenge_due"] is False
    for _ in range(2):
        ours.answered()


def test_a_proof_of_work_of_another_session_or_for_the_second_time_opens_nothing(
    front: Front,
) -> None:
    first, second = page(front), page(front)
    work = solve(first.ask("GET", "/challenge").json()["challenge"])
    second.ask("GET", "/challenge")
    assert second.ask("POST", "/challenge", json={"answer": work}).status_code == 403
    with ThreadPoolExecutor(4) as pool:
        body = {"json": {"answer": work}}
        codes = list(
            pool.map(lambda _: first.ask("POST", "/challenge", **body).status_code, range(4))
        )
    assert sorted(codes) == [200, 403, 403, 403]


def test_a_workspace_that_has_spent_its_day_is_told_to_wait_until_tomorrow_and_others_are_not(
    model: ChatServer, led: Front, database: Database
) -> None:
    ours = page(led, anonymous=FOREVER)
    model.says.append(Say(text="Hello to you."))
    ours.answered("Hi chap!")
    spent = led.call("GET", "/v1/widget")["spent_usd"]
    assert spent > 0
    set_widget(led, anonymous=FOREVER, day_usd=spent / 2)
    refused = ours.say("Hi chap!")
    assert (refused.status_code, refused.json()["reason"]) == (429, "chat-budget")
    assert 1 <= int(refused.headers["retry-after"]) <= 86_400
    assert refused.json()["detail"] == BUSY
    other = open_world(database.owner_url, database.app_url, f"neighbour {new_id()}")
    neighbour = Front(other.key, embedder=HashingEmbedder())
    model.says.append(Say(text="Hello to you, too."))
    assert page(neighbour).answered("Hi chap!")["answer"] == "Hello to you, too."
    other.pool.close()
    with database.connect_as_superuser() as root:
        root.execute("UPDATE widget SET spent_on = spent_on - 1")
    model.says.append(Say(text="A new day."))
    assert ours.answered("Hi chap!")["answer"] == "A new day."


def test_whom_the_host_signed_in_has_limits_of_their_own_and_can_be_forgotten(
    front: Front,
    world: World,
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    erase_in_memory(monkeypatch, tmp_path)
    host = Host()
    ours = page(front, begun=False, host=host.settings, anonymous=None)
    assert ours.ask("POST", "/sessions", json={}).json()["reason"] == "sign-in"
    opened = ours.open(host_token=host.token(ours.widget_id))
    assert (opened["kind"], opened["messages_left"]) == ("signed", 200)
    for _ in range(5):  # no challenge
        ours.answered("My order number is 99.")
    said = front.call("GET", "/v1/conversations", params={"client_id": "ada"})["items"]
    assert len(said) == 1
    front.call("POST", "/v1/forget", json=ADA)
    with database.connect_as_superuser() as root:
        for table in ("chat_session", "chat_turn"):
            rows = root.execute(
                f"SELECT count(*) FROM {table} WHERE workspace_id = %s",  # noqa: S608
                [world.workspace_id],
            ).fetchone()
            assert rows == (0,), table
    assert ours.say().status_code == 401


def tokens(host: Host, widget_id: str) -> dict[str, str]:
    """Tokens that do not hold, by the reason they are refused for."""
    now = int(time.time())
    claims = {"iss": host.settings["issuer"], "aud": widget_id, "sub": "ada", "exp": now + 600}
    unsigned = jwt.encode(claims, None, algorithm="none", headers={"kid": "one"})
    shared = jwt.encode(claims, "a secret that both of them share", "HS256", headers={"kid": "one"})
    return {
        "none": unsigned,
        "shared secret": shared,
        "public key as a secret": signed_with_hmac(claims, host.public, "one"),
        "another key": Host().token(widget_id),
        "an unknown key": Host(kid="two").token(widget_id),
        "another widget": host.token(str(new_id())),
        "another issuer": host.token(widget_id, iss="https://evil.example"),
        "expired": host.token(widget_id, exp=now - 61),
        "too early": host.token(widget_id, nbf=now + 90),
        "for a year": host.token(widget_id, exp=now + 365 * 86_400),
        "nobody": host.token(widget_id, sub=""),
        "everybody": host.token(widget_id, sub="global"),
        "no end": host.token(widget_id, exp=None),
        "nonsense": "a.b.c",
    }


@pytest.mark.parametrize("kind", list(tokens(Host(), "w")))
def test_a_token_that_does_not_hold_signs_nobody_in(front: Front, kind: str) -> None:
    host = Host()
    ours = page(front, begun=False, host=host.settings)
    body = {"host_token": tokens(host, ours.widget_id)[kind]}
    refused = ours.ask("POST", "/sessions", json=body)
    assert (refused.status_code, refused.json()["type"]) == (401, "urn:cairn:error:unauthenticated")
    assert refused.json()["reason"].startswith("token-")


def test_clocks_that_differ_by_less_than_a_minute_do_no_harm(front: Front) -> None:
    host = Host()
    ours = page(front, begun=False, host=host.settings)
    now = int(time.time())
    assert ours.open(host_token=host.token(ours.widget_id, exp=now - 50))["kind"] == "signed"
    assert ours.open(host_token=host.token(ours.widget_id, nbf=now + 50))["kind"] == "signed"


def test_a_session_of_another_workspace_opens_nothing_here(
    front: Front, database: Database
) -> None:
    ours = page(front)
    other = open_world(database.owner_url, database.app_url, f"neighbour {new_id()}")
    neighbour = page(Front(other.key, embedder=HashingEmbedder()), begun=False)
    neighbour.token = ours.token
    assert neighbour.say().status_code == 401
    for token in ("cairnw_", "cairnw_" + "x" * 500, front.key):
        ours.token = token
        assert ours.ask("GET", "/session").status_code == 401
    other.pool.close()


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (json.dumps({"message": "x" * 1_000_000}).encode(), 413),
        (json.dumps({"message": "x" * 4_001}).encode(), 413),
        (b'{"message": "a\\u0000b"}', 422),
        (b'{"message": "\\ud800"}', 422),
        (b'{"message": "  "}', 422),
        (b'{"message": 7}', 422),
        (b'{"message": "x", "model": "mine"}', 422),
        (b'{"message": "x"', 400),
        (b"\xff", 400),
    ],
)
def test_a_message_that_is_none_is_refused_and_not_counted(
    front: Front, raw: bytes, status: int
) -> None:
    ours = page(front)
    refused = ours.ask(
        "POST", "/messages", content=raw, headers={"content-type": "application/json"}
    )
    assert refused.status_code == status, refused.text
    assert refused.headers["access-control-allow-origin"] == HOST
    assert ours.session()["messages_left"] == 40


def test_the_same_message_again_is_answered_and_counted_once(front: Front) -> None:
    ours = page(front)
    body = {"message": "hello", "turn_id": str(new_id())}
    first = ours.ask("POST", "/messages", json=body)
    assert ours.ask("POST", "/messages", json=body).json() == first.json()
    assert ours.session()["messages_left"] == 39
    other = ours.ask("POST", "/messages", json={**body, "message": "something else"})
    assert (other.status_code, other.json()["reason"]) == (409, "turn-id")
