"""Signing in by an issuer, over the real database and a real issuer: who gets in, who does not."""

# pyright: basic

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from pydantic import ValidationError
from tests.integration.storage.test_console import Deployed
from tests.support.console import Browser, add_person
from tests.support.front import Cloud, Front, environment, stand_in_for_aws
from tests.support.issuer import free_socket, served
from tests.support.openid import CLIENT, SECRET, SignInIssuer
from tests.support.world import open_world

from cairn.accounts.addresses import ADDRESS_ATTEMPTS
from cairn.adapters.http.issuer_keys import PublishedIssuerKeys
from cairn.adapters.http.openid import OpenIdIssuer
from cairn.api.app import create_app
from cairn.api.options import ApiOptions
from cairn.bootstrap.parts import logger
from cairn.kernel.access import PersonRole
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import Unavailable
from cairn.kernel.ids import new_id
from cairn.settings import ApiSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.plugins.postgres import Database

OWN = "http://localhost:8080"


class Signing(Deployed):
    """A deployment whose people sign in by an issuer."""

    def __init__(self, front: Front, world: Any, issuer: SignInIssuer) -> None:
        super().__init__(front, world)
        options = ApiOptions(mcp_hosts=("127.0.0.1:*",), sign_in_issuer=issuer.url)
        self.app = create_app(front.app.state.services, options, log=logger("api", "CRITICAL"))
        self.issuer, front.app = issuer, self.app

    def invited(self, login: str, role: PersonRole = PersonRole.OPERATOR) -> str:
        add_person(self.app, self.world.workspace_id, login, role)
        return login

    def person(self, login: str) -> dict[str, Any] | None:
        people = self.front.call("GET", "/v1/people")["items"]
        return next((each for each in people if each["login"] == login), None)

    def enter(self, browser: Browser | None = None, next: str = "/", **claims: Any) -> Any:
        """Sign in as whom the issuer says, and return the answer to who comes back."""
        browser = browser or Browser(self.app, base=OWN)
        self.issuer.claims = claims
        answer = browser.get("/console/issuer", params={"next": next})
        assert answer.status_code == 303, answer.text
        return browser.get(self.issuer.agree(query_of(answer.headers["location"])))


def query_of(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


@pytest.fixture(scope="module")
def issuer() -> Iterator[SignInIssuer]:
    bound, url = free_socket()
    issuer = SignInIssuer(f"{url}/tenant")
    issuer.rotate("first")
    with served(issuer.app(), bound):
        yield issuer


@pytest.fixture
def deploy(
    issuer: SignInIssuer, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Signing]]:
    worlds: list[Any] = []
    issuer.claims, issuer.header, issuer.signed_with, issuer.document = {}, {}, None, {}
    issuer.unsigned = False

    def made(*, provisions: bool = False, **settings: str) -> Signing:
        world = open_world(database.owner_url, database.app_url, f"issuer {new_id()}")
        worlds.append(world)
        values = {
            "issuer": issuer.url,
            "client_id": CLIENT,
            "client_secret": SECRET,
            "workspace": str(world.workspace_id) if provisions else "",
            **settings,
        }
        own = {f"CAIRN_SIGN_IN_{name.upper()}": value for name, value in values.items()}
        for name, value in (environment(database.app_url, tmp_path) | own).items():
            monkeypatch.setenv(name, value)
        stand_in_for_aws(monkeypatch, Cloud())
        return Signing(Front(world.key), world, issuer)

    yield made
    for world in worlds:
        world.pool.close()


@pytest.fixture
def deployed(deploy: Callable[..., Signing]) -> Signing:
    return deploy()


@pytest.fixture
def email() -> str:
    return f"ada-{new_id()}@example.org"


def verified(email: str, **more: Any) -> dict[str, Any]:
    return {"sub": f"sub of {email}", "email": email, "email_verified": True, **more}


def refusal(answer: Any) -> str:
    assert answer.status_code == 401, answer.text
    assert "cairn_session=" not in str(answer.headers.get_list("set-cookie"))
    return answer.text


def test_who_was_invited_signs_in_by_a_verified_address_and_is_linked(
    deployed: Signing, email: str
) -> None:
    deployed.invited(email)
    browser = Browser(deployed.app, base=OWN)
    sign_in = browser.get("/console/sign-in?next=/console/memories").text
    assert f'href="{OWN}/console/issuer?next=/console/memories"' in sign_in
    answer = deployed.enter(browser, next="/console/memories", **verified(email.upper()))
    assert (answer.status_code, answer.headers["location"]) == (303, "/console/memories")
    assert browser.get("/console/account").status_code == 200
    moved = f"elsewhere-{new_id()}@example.org"  # the link holds when the address changes
    assert deployed.enter(sub=f"sub of {email.upper()}", email=moved).status_code == 303
    assert [entry["meta"]["by"] for entry in deployed.entries("person.signed_in")] == ["issuer"] * 2
    assert len(deployed.entries("person.linked")) == 1
    assert deployed.person(moved) is None


@pytest.mark.parametrize(
    "claims",
    [{"email_verified": False}, {"email_verified": "true"}, {"email_verified": None}, {"email": 1}],
    ids=str,
)
def test_an_address_that_the_issuer_has_not_verified_is_nobodys(
    deployed: Signing, email: str, claims: dict[str, Any]
) -> None:
    deployed.invited(email)
    assert "Nobody has invited you" in refusal(deployed.enter(**verified(email) | claims))


def test_somebody_else_with_the_address_of_who_is_linked_is_refused(
    deployed: Signing, email: str
) -> None:
    deployed.invited(email)
    assert deployed.enter(**verified(email)).status_code == 303
    other = verified(email) | {"sub": "who has the address now"}
    assert "Somebody else of your issuer" in refusal(deployed.enter(**other))
    assert deployed.enter(**verified(email)).status_code == 303


def test_who_is_not_invited_or_disabled_stays_outside(deployed: Signing, email: str) -> None:
    assert "Nobody has invited you" in refusal(deployed.enter(**verified(email)))
    assert deployed.person(email) is None
    deployed.invited(email)
    people = deployed.app.state.services.people
    system = system_principal(deployed.world.workspace_id)
    (view,) = [each for each in people.all(system) if each.login == email]
    people.change(system, view.id, disabled=True)
    assert "disabled you" in refusal(deployed.enter(**verified(email)))


def test_who_is_new_is_added_where_the_deployment_says_so(
    deploy: Callable[..., Signing], email: str
) -> None:
    deployed = deploy(provisions=True, domains="example.org, example.com")
    assert deployed.enter(**verified(email, name="Ada")).status_code == 303
    person = deployed.person(email)
    assert person is not None
    assert (person["role"], person["name"]) == ("reader", "Ada")
    assert email not in str(deployed.entries("person.added"))
    for stranger in (f"eve-{new_id()}@evil.example", f"eve-{new_id()}@sub.example.org"):
        assert "of no domain" in refusal(deployed.enter(**verified(stranger)))
    unverified = verified(f"eve-{new_id()}@example.org") | {"email_verified": False}
    assert "of no domain" in refusal(deployed.enter(**unverified))


def test_groups_say_the_role_at_each_sign_in(deploy: Callable[..., Signing], email: str) -> None:
    deployed = deploy(
        provisions=True, roles="desk=operator,leads=admin,Board=owner", claim="cognito:groups"
    )

    def role(*groups: str) -> str:
        assert (
            deployed.enter(**verified(email), **{"cognito:groups": list(groups)}).status_code == 303
        )
        person = deployed.person(email)
        assert person is not None
        return person["role"]

    assert role("desk", "others") == "operator"
    assert role("leads", "desk") == "admin"
    browser = Browser(deployed.app, base=OWN)
    deployed.enter(browser, **verified(email), **{"cognito:groups": ["desk"]})
    assert browser.get("/console/account").status_code == 200
    for groups in (["others"], [], None, "board", {"desk": 1}, [["desk"]]):
        answer = deployed.enter(**verified(email), **{"cognito:groups": groups})
        assert "None of your groups" in refusal(answer)
    assert browser.get("/console/account").status_code == 303  # and is signed out everywhere
    assert role("Board") == "owner"
    assert role("desk") == "owner"  # the last owner stays one
    assert deployed.enter(**verified(email), **{"cognito:groups": "leads desk"}).status_code == 303


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "another client"},
        {"aud": [CLIENT, "another"], "azp": "another"},
        {"aud": [CLIENT, "another"]},
        {"iss": "https://evil.example"},
        {"nonce": "of another sign-in"},
        {"nonce": None},
        {"exp": -120},
        {"nbf": 3_600},
        {"iat": 3_600},
        {"iat": None},
        {"exp": None},
        {"sub": None},
        {"sub": ""},
        {"at_hash": "AAAA"},
        {"token_use": "access"},
    ],
    ids=str,
)
def test_a_token_that_is_not_of_this_sign_in_opens_nothing(
    deployed: Signing, email: str, claims: dict[str, Any]
) -> None:
    deployed.invited(email)
    now = int(time.time())  # times are said in seconds from now
    at = {name: now + each if isinstance(each, int) else each for name, each in claims.items()}
    refusal(deployed.enter(**verified(email) | at))


def test_a_clock_that_differs_by_less_than_a_minute_does_no_harm(
    deployed: Signing, email: str
) -> None:
    deployed.invited(email)
    now = int(time.time())
    assert deployed.enter(**verified(email, exp=now - 20, iat=now - 600)).status_code == 303
    assert deployed.enter(**verified(email, iat=now + 20, nbf=now + 20)).status_code == 303


def test_other_keys_and_no_signature_open_nothing(deployed: Signing, email: str) -> None:
    deployed.invited(email)
    deployed.issuer.signed_with = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    refusal(deployed.enter(**verified(email)))
    deployed.issuer.header = {"kid": "unknown"}
    refusal(deployed.enter(**verified(email)))
    deployed.issuer.signed_with, deployed.issuer.header = SECRET * 4, {"alg": "HS256"}
    refusal(deployed.enter(**verified(email)))
    deployed.issuer.signed_with, deployed.issuer.header, deployed.issuer.unsigned = None, {}, True
    refusal(deployed.enter(**verified(email)))


def test_an_answer_is_good_once_and_in_the_browser_that_went_alone(
    deployed: Signing, email: str
) -> None:
    deployed.invited(email)
    browser, other = Browser(deployed.app, base=OWN), Browser(deployed.app, base=OWN)
    deployed.issuer.claims = verified(email)
    there = query_of(browser.get("/console/issuer").headers["location"])
    back = deployed.issuer.agree(there)
    assert "not begun in this browser" in refusal(other.get(back))
    other.get("/console/issuer")  # with a sign-in of its own under way
    assert "not begun in this browser" in refusal(other.get(back))
    assert browser.get(back).status_code == 303
    assert "not begun in this browser" in refusal(browser.get(back))
    again = Browser(deployed.app, base=OWN)
    query = query_of(again.get("/console/issuer").headers["location"])
    spent = f"{query['redirect_uri']}?code={query_of(back)['code']}&state={query['state']}"
    assert "refuses this sign-in" in refusal(again.get(spent))


@pytest.mark.parametrize(
    "query",
    ["error=access_denied&state=x", "", "code=x", "state=x", "code=&state=", "code=x&state=é",
     "code=x&state=x&iss=https://evil.example"],
)  # fmt: skip
def test_coming_back_with_anything_else_is_refused(deployed: Signing, query: str) -> None:
    browser = Browser(deployed.app, base=OWN)
    browser.get("/console/issuer")
    refusal(browser.get(f"/console/issuer/back?{query}"))


@pytest.mark.parametrize("goal", ["https://evil.example", "//evil.example", "/v1/memories"])
def test_nobody_is_sent_elsewhere_afterwards(deployed: Signing, email: str, goal: str) -> None:
    deployed.invited(email)
    answer = deployed.enter(next=goal, **verified(email))
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


def test_other_sites_begin_no_sign_in_and_an_address_has_so_many(
    deployed: Signing, email: str
) -> None:
    deployed.stop_the_clock()
    browser = Browser(deployed.app, base=OWN)
    cross = browser.get("/console/issuer", headers={"sec-fetch-site": "cross-site"})
    assert cross.headers["location"] == "/console/sign-in"
    for _ in range(ADDRESS_ATTEMPTS):
        assert "localhost%3A8080" in browser.get("/console/issuer").headers["location"]
    full = browser.get("/console/issuer")
    assert (full.status_code, int(full.headers["retry-after"]) >= 1) == (429, True)


def test_where_people_come_back_to_is_no_matter_of_the_host_header(deployed: Signing) -> None:
    browser = Browser(deployed.app, base=OWN)
    answer = browser.get("/console/issuer", headers={"host": "localhost:9999"})
    assert query_of(answer.headers["location"])["redirect_uri"] == f"{OWN}/console/issuer/back"
    assert browser.get("/console/issuer", headers={"host": "evil.example"}).status_code == 403


def test_an_issuer_that_wants_the_secret_in_the_form_gets_it_there(
    deploy: Callable[..., Signing], issuer: SignInIssuer, email: str
) -> None:
    deployed = deploy()
    issuer.document = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    deployed.invited(email)
    assert deployed.enter(**verified(email)).status_code == 303


def test_a_wrong_secret_and_an_issuer_that_is_gone_are_said_as_such(
    deploy: Callable[..., Signing], issuer: SignInIssuer, email: str
) -> None:
    deployed = deploy(client_secret="another")
    deployed.invited(email)
    answer = deployed.enter(**verified(email))
    assert (answer.status_code, "does not answer this deployment" in answer.text) == (503, True)
    bound, url = free_socket()
    bound.close()
    gone = deploy(issuer=url)
    gone.app.state.options = ApiOptions(mcp_hosts=("127.0.0.1:*",), sign_in_issuer=url)
    assert Browser(gone.app, base=OWN).get("/console/issuer").status_code == 503


@pytest.mark.parametrize(
    "document",
    [
        {"issuer": "https://evil.example"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": None},
        {"authorization_endpoint": "http://user@evil.example/"},
    ],
    ids=str,
)
def test_a_discovery_document_that_leads_nowhere_good_is_not_followed(
    deploy: Callable[..., Signing], issuer: SignInIssuer, document: dict[str, Any]
) -> None:
    issuer.document = document
    assert Browser(deploy().app, base=OWN).get("/console/issuer").status_code == 503


def test_an_issuer_inside_the_network_is_asked_by_a_laptop_alone(issuer: SignInIssuer) -> None:
    outside = OpenIdIssuer(
        issuer=issuer.url.replace("http:", "https:"),
        client_id=CLIENT,
        client_secret=SECRET,
        keys=PublishedIssuerKeys(issuer.url.replace("http:", "https:")),
        claim="groups",
    )
    with pytest.raises(Unavailable):
        outside.keys.document()


def test_without_an_issuer_there_is_no_such_door(deploy: Callable[..., Signing]) -> None:
    deployed = deploy()
    deployed.app.state.options = ApiOptions(mcp_hosts=("127.0.0.1:*",))
    browser = Browser(deployed.app, base=OWN)
    assert "Sign in with 127" not in browser.get("/console/sign-in").text
    assert browser.get("/console/issuer").headers["location"] == "/console/sign-in"
    assert browser.get("/console/issuer/back?code=x&state=x").status_code == 404


@pytest.mark.parametrize(
    ("name", "value"),
    [("ROLES", "desk"), ("ROLES", "desk=king"), ("ROLES", "desk=admin,"), ("WORKSPACE", "x")],
)
def test_settings_that_say_nothing_are_refused_at_the_start(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    for each, content in environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(each, content)
    monkeypatch.setenv(f"CAIRN_SIGN_IN_{name}", value)
    with pytest.raises(ValidationError, match=f"CAIRN_SIGN_IN_{name}"):
        ApiSettings.read()
    monkeypatch.delenv(f"CAIRN_SIGN_IN_{name}")
    monkeypatch.setenv("CAIRN_SIGN_IN_ISSUER", "https://issuer.example.org")
    with pytest.raises(ValueError, match="CAIRN_SIGN_IN_CLIENT_ID"):
        ApiSettings.read().issuer_of_people()
