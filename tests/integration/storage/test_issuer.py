"""Signing in to MCP with an outside issuer: whose tokens are good, and for what."""

from __future__ import annotations

import base64
import hmac
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import anyio
import httpx
import httpx2
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from mcp.client.auth import OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl
from tests.support.front import Cloud, environment, stand_in_for_aws
from tests.support.issuer import Issuer, free_socket, public, served
from tests.support.world import open_world

from cairn.adapters.http import issuer_keys
from cairn.api.entry import create_asgi_app
from cairn.api.mcp.catalogue import TOOLS
from cairn.kernel.access import Role
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.plugins.postgres import Database

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@dataclass
class Deployment:
    """The API as it is served, with an issuer beside it."""

    base: str
    issuer: Issuer
    key: str

    @property
    def audience(self) -> str:
        return f"{self.base}/mcp"

    @property
    def person(self) -> str:
        return f"sub:{self.issuer.person}"

    @property
    def client(self) -> str:
        return f"client:{self.issuer.client}"

    def send(self, method: str, path: str, credentials: str = "", **given: Any) -> httpx.Response:
        accept = {"accept": "application/json, text/event-stream"}
        own = {"authorization": f"Bearer {credentials}"} if credentials else {}
        headers = accept | own
        return httpx.request(method, f"{self.base}{path}", headers=headers, timeout=60, **given)

    def bind(self, subject: str, **changes: Any) -> httpx.Response:
        body = {"name": "desk", "agent_slug": "desk", "token_subject": subject, **changes}
        return self.send("POST", "/v1/keys", self.key, json=body)

    def token(self, **changes: Any) -> str:
        claims: dict[str, Any] = {"aud": self.audience, "scope": "shared admin", **changes}
        return self.issuer.token(**claims)

    def mcp(self, token: str) -> httpx.Response:
        return self.send("POST", "/mcp", token, json=LIST)

    def refused(self, token: str) -> tuple[int, str]:
        answer = self.mcp(token)
        assert token.rpartition(".")[0] not in answer.text
        return answer.status_code, answer.json()["reason"]


@pytest.fixture
def deployed(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Deployment]:
    own, base = free_socket()
    beside, url = free_socket()
    url += "/tenant"  # as many issuers have it
    issuer = Issuer(url, person=f"mara-{new_id()}", client=f"desk-bot-{new_id()}")
    issuer.rotate("first")
    chosen = {
        "CAIRN_OIDC_ISSUER": url,
        "CAIRN_OIDC_AUDIENCE": f"{base}/mcp",
        "CAIRN_OIDC_SCOPES": f"{base}/mcp/shared",
    }
    for name, value in {**environment(database.app_url, tmp_path), **chosen}.items():
        monkeypatch.setenv(name, value)
    stand_in_for_aws(monkeypatch, Cloud())
    world = open_world(database.owner_url, database.app_url, f"issuer {new_id()}")
    world.pool.close()
    with served(issuer.app(), beside), served(create_asgi_app(), own):
        yield Deployment(base, issuer, world.key)


@dataclass
class Kept:
    """What a client keeps of its sign-in, and the browser of whoever sits at it."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None
    sent_back: str = ""

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info

    async def open(self, url: str) -> None:
        async with httpx.AsyncClient(timeout=60) as browser:
            self.sent_back = (await browser.get(url)).headers["location"]

    async def come_back(self) -> AuthorizationCodeResult:
        given = dict(parse_qsl(urlsplit(self.sent_back).query))
        return AuthorizationCodeResult(code=given["code"], state=given["state"])


def test_a_client_finds_the_issuer_signs_in_there_and_is_the_agent_its_person_is_bound_to(
    deployed: Deployment,
) -> None:
    bound = deployed.bind(deployed.person, scopes=["shared", "admin"])
    assert bound.status_code == 201
    kept = Kept()
    metadata = OAuthClientMetadata(
        client_name="Desk Bot", redirect_uris=[AnyUrl("http://127.0.0.1:4444/callback")]
    )

    async def sign_in() -> None:
        signed = OAuthClientProvider(deployed.audience, metadata, kept, kept.open, kept.come_back)
        async with (
            httpx2.AsyncClient(auth=signed, timeout=60) as http,
            Client(streamable_http_client(deployed.audience, http_client=http)) as client,
        ):
            names = {tool.name for tool in (await client.list_tools()).tools}
            agents = {tool.name for tool in TOOLS if Role.AGENT in tool.roles}
            assert names == agents - {"register_agent"}
            said = {"text": "The desk has a bell.", "scope": "shared"}
            assert not (await client.call_tool("memory_remember", said)).is_error
            wider = await client.call_tool("memory_remember", {**said, "scope": "admin"})
            assert wider.is_error

    anyio.run(sign_in)
    assert kept.tokens is not None
    who = deployed.send("GET", "/v1/whoami", kept.tokens.access_token).json()
    assert (who["agent"], who["agent_slug"], who["role"]) == ("desk", "desk", "agent")
    assert who["scopes"] == ["shared"]
    beyond = deployed.send("GET", "/v1/memories", kept.tokens.access_token)
    assert (beyond.status_code, beyond.json()["reason"]) == (403, "tools")
    said = {"message": "What is remembered of the harbour?"}
    turn = deployed.send("POST", "/v1/chat", kept.tokens.access_token, json=said)
    assert (turn.status_code, "event: graph_end" in turn.text) == (200, True), turn.text
    (memory,) = deployed.send("GET", "/v1/memories", deployed.key).json()["items"]
    assert (memory["scope"], memory["source_agent"]) == ("shared", "desk")


def test_metadata_name_the_issuer_and_its_scopes_and_nobody_signs_in_here(
    deployed: Deployment,
) -> None:
    challenge = deployed.send("POST", "/mcp", json=LIST).headers["www-authenticate"]
    assert f'resource_metadata="{deployed.base}/.well-known/oauth-protected-resource/mcp"' in (
        challenge
    )
    resource = deployed.send("GET", "/.well-known/oauth-protected-resource/mcp").json()
    assert resource["resource"] == deployed.audience
    assert resource["authorization_servers"] == [deployed.issuer.url]
    assert resource["scopes_supported"] == [f"{deployed.audience}/shared"]
    assert deployed.send("GET", "/.well-known/oauth-authorization-server").status_code == 404
    assert deployed.send("POST", "/oauth/token").status_code == 404
    assert deployed.mcp(deployed.key).status_code == 200  # keys work as ever


def test_a_token_that_does_not_hold_is_refused_and_the_message_says_what_does_not(
    deployed: Deployment,
) -> None:
    deployed.bind(deployed.person)
    now = int(time.time())
    stranger = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    good = deployed.token()
    assert deployed.mcp(good).status_code == 200
    head, body, signature = good.split(".")
    secret = json.dumps(public("first", deployed.issuer.keys["first"]))
    keyed = base64.urlsafe_b64encode(b'{"alg":"HS256","kid":"first"}').rstrip(b"=").decode()
    digest = hmac.digest(secret.encode(), f"{keyed}.{body}".encode(), "sha256")
    shared = f"{keyed}.{body}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"
    unsigned = base64.urlsafe_b64encode(b'{"alg":"none","kid":"first"}').rstrip(b"=").decode()
    claims = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)).replace(b"mara", b"root")
    changed = base64.urlsafe_b64encode(claims).rstrip(b"=").decode()
    cases = {
        deployed.token(aud="https://another.example/mcp"): (401, "token-audience"),
        deployed.token(aud=f"{deployed.audience}/more"): (401, "token-audience"),
        deployed.token(aud=None): (401, "token-claims"),
        deployed.token(iss="https://another.example"): (401, "token-issuer"),
        deployed.token(exp=now - 120): (401, "token-expired"),
        deployed.token(exp=None): (401, "token-claims"),
        deployed.token(exp=10**30): (401, "token-claims"),
        deployed.token(nbf=now + 600): (401, "token-early"),
        deployed.token(sub=None): (401, "token-claims"),
        deployed.token(token_use="id"): (401, "token-use"),
        deployed.token(scope="openid profile"): (403, "token-scope"),
        deployed.token(scope=None): (403, "token-scope"),
        deployed.token(scope="public superadmin"): (200, ""),
        deployed.token(sub="nobody", client_id=None): (401, "token-unbound"),
        deployed.token(key=stranger): (401, "token-signature"),
        deployed.token(header={"kid": "unknown"}): (401, "token-key"),
        deployed.token(header={"crit": ["b64"]}): (401, "token-malformed"),
        deployed.token(header={"alg": "RS384"}): (200, ""),
        f"{unsigned}.{body}.": (401, "token-algorithm"),
        shared: (401, "token-algorithm"),
        f"{head}.{changed}.{signature}": (401, "token-signature"),
        f"{head}.{body}.": (401, "token-signature"),
        "e30.e30.e30": (401, "token-algorithm"),
        "a.b.c": (401, "token-malformed"),
        "a" * 9_000 + ".b.c": (401, "malformed-key"),
    }
    answers = {token: deployed.mcp(token) for token in cases}
    told = {
        token: (answer.status_code, answer.json().get("reason", ""))
        for token, answer in answers.items()
    }
    assert list(told.values()) == list(cases.values())
    for token, answer in answers.items():
        status, reason = cases[token]
        if status != 200:
            named = "insufficient_scope" if reason == "token-scope" else "invalid_token"
            assert f'error="{named}"' in answer.headers["www-authenticate"]


def test_a_chat_is_open_to_a_token_that_holds_and_to_no_other(deployed: Deployment) -> None:
    deployed.bind(deployed.person)
    now = int(time.time())
    cases = {
        deployed.token(aud="https://another.example/mcp"): (401, "token-audience"),
        deployed.token(exp=now - 120): (401, "token-expired"),
        deployed.token(iss="https://another.example"): (401, "token-issuer"),
        deployed.token(scope="openid profile"): (403, "token-scope"),
        deployed.token(sub="nobody", client_id=None): (401, "token-unbound"),
    }
    question = {"message": "What is remembered of the harbour?"}
    for token, (status, reason) in cases.items():
        refused = deployed.send("POST", "/v1/chat", token, json=question)
        assert (refused.status_code, refused.json()["reason"]) == (status, reason)
        assert token not in refused.text
    assert deployed.send("GET", "/v1/conversations", deployed.key).json()["items"] == []
    turn = deployed.send("POST", "/v1/chat", deployed.token(), json=question)
    assert (turn.status_code, "event: graph_end" in turn.text) == (200, True), turn.text


def test_keys_are_read_once_and_again_for_one_that_is_new(
    deployed: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed.bind(deployed.client)
    old = deployed.token()
    assert [deployed.mcp(deployed.token()).status_code for _ in range(3)] == [200] * 3
    assert deployed.issuer.key_reads == 1
    deployed.issuer.rotate("second", curve=True)
    assert deployed.refused(deployed.token()) == (401, "token-key")  # read again in a minute
    assert deployed.mcp(old).status_code == 200  # read within the hour
    assert deployed.issuer.key_reads == 1
    monkeypatch.setattr(issuer_keys, "AT_LEAST", 0.0)  # the minute is over
    assert deployed.mcp(deployed.token()).status_code == 200
    assert deployed.refused(old) == (401, "token-key")


def test_a_subject_opens_one_key_until_that_is_revoked(deployed: Deployment) -> None:
    first = deployed.bind(deployed.client).json()["key"]
    assert (first["token_subject"], first["agent"]) == (deployed.client, "desk")
    again = deployed.bind(deployed.client)
    assert (again.status_code, again.json()["reason"]) == (409, "token-subject")
    own = deployed.bind(deployed.person, agent_slug="mara", scopes=["shared"]).json()["key"]
    who = deployed.send("GET", "/v1/whoami", deployed.token()).json()
    assert (who["agent"], who["scopes"]) == ("mara", ["shared"])  # the person before the client
    deployed.send("DELETE", f"/v1/keys/{own['id']}", deployed.key)
    assert deployed.send("GET", "/v1/whoami", deployed.token()).json()["agent"] == "desk"
    deployed.send("DELETE", f"/v1/keys/{first['id']}", deployed.key)
    assert deployed.refused(deployed.token()) == (401, "token-unbound")
    assert deployed.bind(deployed.client).status_code == 201
    for subject, more in (
        ("mara", {}),
        ("sub:", {}),
        ("sub:\x00", {}),
        ("sub:" + "m" * 300, {}),
        ("sub:new", {"role": "admin"}),
        ("sub:new", {"agent_slug": None}),
    ):
        assert deployed.bind(subject, **more).status_code == 422, subject
