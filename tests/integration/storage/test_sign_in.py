"""Signing in to MCP at a laptop: what a client may do, and what a thief may not."""

from __future__ import annotations

import base64
import hashlib
import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

import anyio
import httpx
import pytest
from tests.support.front import Cloud, Front, environment, mcp, stand_in_for_aws
from tests.support.world import open_world

from cairn.api.app import create_app
from cairn.api.mcp.catalogue import TOOLS
from cairn.api.options import BUILT_IN, ApiOptions
from cairn.bootstrap.parts import logger
from cairn.kernel.access import Role
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.plugins.postgres import Database

BASE = "http://127.0.0.1:8080"
RETURN = "http://127.0.0.1:4444/callback"
VERIFIER = "v" * 64
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=")
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


class Laptop:
    """The API as a laptop serves it, and the clock of its issuer."""

    def __init__(self, front: Front) -> None:
        self.front = front
        options = ApiOptions(mcp_hosts=("127.0.0.1:*",), issuer=BUILT_IN)
        front.app = create_app(front.app.state.services, options, log=logger("api", "CRITICAL"))
        self.client_id = self.register()["client_id"]

    def send(self, method: str, path: str, *, base: str = BASE, **given: Any) -> httpx.Response:
        async def call() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.front.app)
            async with httpx.AsyncClient(transport=transport, base_url=base) as client:
                return await client.request(method, path, **given)

        return anyio.run(call)

    def register(self, **changes: Any) -> Any:
        said = {"client_name": "Desk Bot", "redirect_uris": [RETURN], **changes}
        return self.send("POST", "/oauth/register", json=said).json()

    def asked(self, **changes: Any) -> dict[str, Any]:
        return {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": RETURN,
            "state": "s&t",
            "code_challenge": CHALLENGE.decode(),
            "code_challenge_method": "S256",
            "resource": f"{BASE}/mcp",
            **changes,
        }

    def decide(self, **changes: Any) -> httpx.Response:
        said = {"answer": "yes", "key": self.front.key, "slug": "desk", "scope": "public admin"}
        form = self.asked(**{**said, **changes})
        return self.send("POST", "/oauth/authorize", data=form)

    def code(self, **changes: Any) -> str:
        return back(self.decide(**changes))["code"]

    def token(self, **form: Any) -> httpx.Response:
        known = {"client_id": self.client_id, "resource": f"{BASE}/mcp"}
        return self.send("POST", "/oauth/token", data={**known, **form})

    def exchange(self, code: str, **changes: Any) -> httpx.Response:
        given = {"code": code, "redirect_uri": RETURN, "code_verifier": VERIFIER, **changes}
        return self.token(grant_type="authorization_code", **given)

    def renew(self, token: str) -> httpx.Response:
        return self.token(grant_type="refresh_token", refresh_token=token)

    def works(self, token: str) -> bool:
        whoami = self.send(
            "GET", "/v1/whoami", headers={"authorization": f"Bearer {token}"}
        ).status_code
        return whoami == 200


def back(answer: httpx.Response) -> Mapping[str, str]:
    """What the browser is sent back with."""
    assert answer.status_code == 303, answer.text
    where = urlsplit(answer.headers["location"])
    assert f"{where.scheme}://{where.netloc}{where.path}" == RETURN
    return {name: values[0] for name, values in parse_qs(where.query).items()}


@pytest.fixture
def laptop(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Laptop:
    for name, value in environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    stand_in_for_aws(monkeypatch, Cloud())
    world = open_world(database.owner_url, database.app_url, f"sign in {new_id()}")
    world.pool.close()
    return Laptop(Front(world.key))


def test_a_client_without_a_key_learns_where_to_sign_in(laptop: Laptop) -> None:
    refused = laptop.send("POST", "/mcp", json={})
    assert refused.status_code == 401
    named = re.fullmatch(r'Bearer resource_metadata="(.*)"', refused.headers["www-authenticate"])
    assert named is not None
    resource = laptop.send("GET", named[1]).json()
    assert (resource["resource"], resource["authorization_servers"]) == (f"{BASE}/mcp", [BASE])
    server = laptop.send("GET", "/.well-known/oauth-authorization-server").json()
    assert (server["issuer"], server["code_challenge_methods_supported"]) == (BASE, ["S256"])
    wrong = {"headers": {"authorization": "Bearer eyJhbGciOiJub25lIn0.e30."}}
    assert (
        "invalid_token" in laptop.send("POST", "/mcp", json={}, **wrong).headers["www-authenticate"]
    )
    other = laptop.send("GET", "/.well-known/oauth-protected-resource", base="http://evil.example")
    assert other.status_code == 403


def test_a_client_signs_in_as_the_agent_an_admin_names_for_tools_alone(laptop: Laptop) -> None:
    page = laptop.send("GET", f"/oauth/authorize?{urlencode(laptop.asked())}")
    assert page.status_code == 200
    assert "Desk Bot" in page.text
    assert "127.0.0.1:4444" in page.text
    assert page.headers["x-frame-options"] == "DENY"
    given = back(laptop.decide(scope="public"))
    assert (given["state"], given["iss"]) == ("s&t", BASE)
    answered = laptop.exchange(given["code"])
    assert answered.headers["cache-control"] == "no-store"
    made = answered.json()
    assert made["scope"] == "public"
    listed = mcp(laptop.front, made["access_token"], "tools/list")["result"]["tools"]
    mine = {tool.name for tool in TOOLS if Role.AGENT in tool.roles}
    assert {each["name"] for each in listed} == mine - {"register_agent"}  # it is one already
    own = {"headers": {"authorization": f"Bearer {made['access_token']}"}}
    who = laptop.send("GET", "/v1/whoami", **own).json()
    assert (who["agent_slug"], who["role"], who["scopes"]) == ("desk", "agent", ["public"])
    assert laptop.send("GET", "/v1/memories", **own).json()["reason"] == "tools"
    assert (
        mcp(laptop.front, made["refresh_token"].partition("~")[0], "tools/list")["result"]["tools"]
        == []
    )


def test_an_admin_whose_agent_is_disabled_or_has_listed_tools_lets_nobody_in(
    laptop: Laptop,
) -> None:
    call = laptop.front.call
    made = call("POST", "/v1/agents", json={"slug": "boss", "name": "B", "key": {"role": "admin"}})
    assert back(laptop.decide(key=made["secret"]))["code"]
    for change in ({"tools": ["settings_read"]}, {"all_tools": True, "disabled": True}):
        call("PATCH", "/v1/agents/boss", json=change)
        refused = laptop.decide(key=made["secret"])
        assert "location" not in refused.headers, change


def test_a_code_is_good_once_and_sent_again_it_ends_what_it_began(laptop: Laptop) -> None:
    code = laptop.code()
    made = laptop.exchange(code).json()
    assert laptop.works(made["access_token"])
    again = laptop.exchange(code)
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
    assert not laptop.works(made["access_token"])
    assert laptop.renew(made["refresh_token"]).status_code == 400


@pytest.mark.parametrize(
    "changes",
    [
        {"code_verifier": "w" * 64},
        {"code_verifier": ""},
        {"redirect_uri": "http://127.0.0.1:5555/callback"},
        {"client_id": "another"},
        {"resource": "https://another.example/mcp"},
    ],
)
def test_who_has_the_code_alone_gets_nothing(laptop: Laptop, changes: dict[str, str]) -> None:
    if changes.get("client_id"):
        changes = {"client_id": laptop.register(client_name="Another")["client_id"]}
    refused = laptop.exchange(laptop.code(), **changes)
    assert refused.status_code == 400
    assert refused.json()["error"] in ("invalid_grant", "invalid_target")


def test_a_refresh_token_is_good_once_and_a_stolen_one_ends_the_sign_in(laptop: Laptop) -> None:
    first = laptop.exchange(laptop.code()).json()
    second = laptop.renew(first["refresh_token"]).json()
    assert not laptop.works(first["access_token"])
    assert laptop.works(second["access_token"])
    assert laptop.renew(first["refresh_token"]).json()["error"] == "invalid_grant"
    assert not laptop.works(second["access_token"])
    assert laptop.renew(second["refresh_token"]).status_code == 400
    for token in ("", "~", "cairn_x.y", f"{laptop.front.key}~{'0' * 32}", "a" * 5_000):
        refused = laptop.renew(token)
        assert refused.json().get("error") == "invalid_grant", refused.text
    assert laptop.works(laptop.front.key)


def test_a_revoked_key_that_is_named_like_a_sign_in_renews_and_ends_nothing(
    laptop: Laptop,
) -> None:
    made = laptop.exchange(laptop.code()).json()
    workspace = laptop.front.call("GET", "/v1/whoami")["workspace_id"]
    key = laptop.front.call("POST", "/v1/keys", json={"name": "phone (signed in: never)"})
    laptop.front.call("DELETE", f"/v1/keys/{key['key']['id']}")
    refused = laptop.renew(f"{key['secret']}~{workspace}")
    assert refused.json()["error"] == "invalid_grant"
    assert laptop.works(made["access_token"])


def test_of_two_renewals_at_once_one_is_answered(laptop: Laptop) -> None:
    token = laptop.exchange(laptop.code()).json()["refresh_token"]
    with ThreadPoolExecutor(2) as both:
        answers = list(both.map(laptop.renew, [token, token]))
    assert sorted(each.status_code for each in answers) == [200, 400]


@pytest.mark.parametrize(
    "uri",
    [
        "https://evil.example/",
        "http://127.0.0.1:4444/callback/../evil",
        "http://127.0.0.1.evil.example/callback",
        "http://127.0.0.1:4444@evil.example/callback",
        "javascript:alert(1)",
        "",
    ],
)
def test_a_browser_is_never_sent_to_an_address_that_is_not_registered(
    laptop: Laptop, uri: str
) -> None:
    for answer in (
        laptop.send("GET", f"/oauth/authorize?{urlencode(laptop.asked(redirect_uri=uri))}"),
        laptop.decide(redirect_uri=uri),
    ):
        assert answer.status_code == 400
        assert "location" not in answer.headers


@pytest.mark.parametrize(
    "uri",
    ["http://evil.example/", "javascript:alert(1)", "https://a@b.example/", "https://a.b/#c", 7],
)
def test_no_client_registers_an_address_that_would_give_the_code_away(
    laptop: Laptop, uri: object
) -> None:
    assert laptop.register(redirect_uris=[uri])["error"] == "invalid_client_metadata"


def test_a_loopback_client_may_listen_on_another_port(laptop: Laptop) -> None:
    uri = RETURN.replace("4444", "5555")
    answer = laptop.decide(redirect_uri=uri)
    assert answer.headers["location"].startswith(f"{uri}?code=")


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"resource": "https://another.example/mcp"}, "invalid_target"),
        ({"answer": "no"}, "access_denied"),
    ],
)
def test_what_cannot_be_granted_is_said_to_the_client(
    laptop: Laptop, changes: dict[str, str], error: str
) -> None:
    told = back(laptop.decide(**changes))
    assert (told["error"], told["state"], told["iss"]) == (error, "s&t", BASE)
    assert "code" not in told


def test_only_an_admin_lets_a_client_in(laptop: Laptop) -> None:
    made = laptop.front.call("POST", "/v1/keys", json={"name": "an agent"})
    narrow = {"name": "narrow", "role": "admin", "tools": ["memory_recall"]}
    narrowed = laptop.front.call("POST", "/v1/keys", json=narrow)
    bound = {"name": "of another agent", "role": "admin", "agent_slug": "other"}
    another = laptop.front.call("POST", "/v1/keys", json=bound)
    for changes in (
        {"key": ""},
        {"key": another["secret"]},
        {"key": made["secret"]},
        {"key": narrowed["secret"]},
        {"slug": "NOT A SLUG"},
        {"scope": "everything"},
    ):
        answer = laptop.decide(**changes)
        assert "location" not in answer.headers or "code=" not in answer.headers["location"]


def test_a_page_shows_what_a_client_says_of_itself_as_text(laptop: Laptop) -> None:
    name = '<script>alert("x")</script>'
    asked = laptop.asked(client_id=laptop.register(client_name=name)["client_id"], state='"><b>')
    page = laptop.send("GET", f"/oauth/authorize?{urlencode(asked)}").text
    assert "<script" not in page
    assert '"><b>' not in page


def test_a_device_signs_in_once_its_person_has_typed_its_code(laptop: Laptop) -> None:
    begun = laptop.send(
        "POST", "/oauth/device_authorization", data={"client_id": laptop.client_id}
    ).json()
    poll = {"grant_type": DEVICE_GRANT, "device_code": begun["device_code"]}
    assert laptop.token(**poll).json()["error"] == "authorization_pending"
    assert laptop.token(**poll).json()["error"] == "slow_down"
    wrong = laptop.send("GET", "/oauth/device?user_code=BCDF-GHJK")
    assert "No device shows this code" in wrong.text
    page = laptop.send("GET", f"/oauth/device?user_code={begun['user_code'].lower()}")
    assert "Desk Bot" in page.text
    said = {"user_code": begun["user_code"], "slug": "desk", "scope": "public", "answer": "yes"}
    assert laptop.send("POST", "/oauth/device", data={**said, "key": "cairn_no.key"}).is_error
    stolen = laptop.exchange(begun["device_code"])
    assert stolen.json()["error"] == "invalid_grant"
    begun = laptop.send(
        "POST", "/oauth/device_authorization", data={"client_id": laptop.client_id}
    ).json()
    said["user_code"] = begun["user_code"]
    let_in = laptop.send("POST", "/oauth/device", data={**said, "key": laptop.front.key})
    assert let_in.status_code == 200
    poll["device_code"] = begun["device_code"]
    made = laptop.token(**poll).json()
    assert laptop.works(made["access_token"])
    assert laptop.token(**poll).json()["error"] in ("invalid_grant", "expired_token")


def test_where_nobody_signs_in_nothing_is_published(laptop: Laptop) -> None:
    services = laptop.front.app.state.services
    laptop.front.app = create_app(services, ApiOptions(), log=logger("api", "CRITICAL"))
    for path in (
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server",
    ):
        assert laptop.send("GET", path).status_code == 404
    assert laptop.send("GET", "/oauth/authorize").status_code == 404
    assert (
        laptop.send("POST", "/mcp", json={}).headers["www-authenticate"] == 'Bearer realm="cairn"'
    )
