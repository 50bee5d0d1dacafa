"""Signing in by SAML, over the real database, with a real identity provider: who gets in, who not.

The provider is pysaml2, which signs by libxmlsec; what is verified here is verified by another
library. Forged answers are genuine ones that were changed, and signed again where it says so.
"""

# pyright: basic

from __future__ import annotations

import os
import re
from base64 import b64decode, b64encode
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]
from tests.integration.storage.test_console import Deployed
from tests.support.console import Browser, add_person
from tests.support.front import Cloud, Front, environment, stand_in_for_aws
from tests.support.saml_idp import SHA256, SPACES, XMLSEC, IdentityProvider, make_key, running, sign
from tests.support.world import open_world

from cairn.accounts.addresses import ADDRESS_ATTEMPTS
from cairn.accounts.attempts import ATTEMPT_LASTS
from cairn.api.app import create_app
from cairn.api.console.saml import ANSWER, BACK, METADATA, THERE
from cairn.api.entry import create_asgi_app
from cairn.api.options import ApiOptions
from cairn.bootstrap.parts import logger
from cairn.kernel.access import PersonRole
from cairn.kernel.access.system import system_principal
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.plugins.postgres import Database

pytestmark = pytest.mark.skipif(
    XMLSEC is None and "CI" not in os.environ, reason="there is no xmlsec1 on this machine"
)

OWN = "http://localhost:8080"
EMAIL = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
SHA1 = "http://www.w3.org/2000/09/xmldsig#rsa-sha1", "http://www.w3.org/2000/09/xmldsig#sha1"
REFUSED = re.compile(r'<p class="wrong" role="alert">([^<]+)')


class Signing(Deployed):
    """A deployment whose people sign in by SAML."""

    def __init__(self, front: Front, world: Any, provider: IdentityProvider) -> None:
        super().__init__(front, world)
        options = ApiOptions(mcp_hosts=("127.0.0.1:*",), sign_in_saml=provider.metadata)
        self.app = create_app(front.app.state.services, options, log=logger("api", "CRITICAL"))
        self.provider, front.app = provider, self.app

    def invited(self, login: str, role: PersonRole = PersonRole.OPERATOR) -> str:
        add_person(self.app, self.world.workspace_id, login, role)
        return login

    def person(self, login: str) -> dict[str, Any] | None:
        people = self.front.call("GET", "/v1/people")["items"]
        return next((each for each in people if each["login"] == login), None)

    def asked(self, next: str = "/", **who: Any) -> tuple[Browser, dict[str, str]]:
        """Let a browser go to the provider, and return it with the form that it is to send us."""
        browser = Browser(self.app, base=OWN)
        self.provider.signs_in(**who)
        answer = browser.get(THERE, params={"next": next})
        assert answer.status_code == 303, answer.text
        return browser, self.provider.answers(answer.headers["location"])

    def post(self, form: dict[str, Any], address: str | None = None) -> Any:
        """Send a form as a page of the provider does: without our cookies (SameSite=Lax)."""
        away = Browser(self.app, base=OWN)
        away.address = address or away.address
        headers = {"origin": self.provider.url[:-4], "sec-fetch-site": "cross-site"}
        return away.send("POST", ANSWER, data=form, headers=headers)

    def send(self, browser: Browser, form: dict[str, str]) -> Any:
        """Send a form and go on as a browser does: the page after it gets the cookies."""
        answer = self.post(form, browser.address)
        if not (location := answer.headers.get("location", "")).startswith(BACK):
            return answer
        assert answer.headers.get_list("set-cookie") == []
        return browser.get(location)

    def enter(self, next: str = "/", **who: Any) -> Any:
        return self.send(*self.asked(next, **who))

    def forged(self, change: Callable[[Any], Any], **who: Any) -> Any:
        """Sign in with an answer that was changed on its way; `change` may return another."""
        browser, form = self.asked(**who)
        return self.send(browser, changed(form, change))


def changed(form: dict[str, str], change: Callable[[Any], Any]) -> dict[str, str]:
    document = etree.fromstring(b64decode(form["SAMLResponse"]))
    other = change(document)
    content = etree.tostring(document if other is None else other)
    return form | {"SAMLResponse": b64encode(content).decode()}


def ada(email: str, **more: Any) -> dict[str, Any]:
    groups = more.pop("groups", [])
    attributes = {"mail": [email], "displayName": ["Ada"], "groups": groups}
    return {"name_id": f"id of {email}", "attributes": attributes, **more}


def refusal(answer: Any) -> str:
    """Return what a refusal says to who reads it; nobody is signed in by it."""
    assert answer.status_code == 401, (answer.status_code, answer.headers)
    assert "cairn_session=" not in str(answer.headers.get_list("set-cookie"))
    match = REFUSED.search(answer.text)
    assert match is not None
    return match[1]


def at(document: Any, path: str) -> Any:
    (found,) = document.xpath(path, namespaces=SPACES)
    return found


ASSERTION = "/samlp:Response/saml:Assertion"
DATA = f"{ASSERTION}/saml:Subject/saml:SubjectConfirmation/saml:SubjectConfirmationData"


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IdentityProvider]:
    with running(tmp_path_factory.mktemp("idp")) as provider:
        yield provider


@pytest.fixture
def deploy(
    provider: IdentityProvider,
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[..., Signing]]:
    worlds: list[Any] = []

    def made(*, provisions: bool = False, edition: str = "full", **settings: str) -> Signing:
        world = open_world(database.owner_url, database.app_url, f"saml {new_id()}")
        worlds.append(world)
        place = str(world.workspace_id) if provisions else ""
        values = {"saml": provider.metadata, "workspace": place, **settings}
        own = {f"CAIRN_SIGN_IN_{name.upper()}": value for name, value in values.items()}
        own["CAIRN_EDITION"] = edition
        for name, value in (environment(database.app_url, tmp_path) | own).items():
            monkeypatch.setenv(name, value)
        stand_in_for_aws(monkeypatch, Cloud())
        deployed = Signing(Front(world.key), world, provider)
        if edition == "full" and "saml" not in settings:
            provider.knows(Browser(deployed.app, base=OWN).get(METADATA).content)
        return deployed

    yield made
    for world in worlds:
        world.pool.close()


@pytest.fixture
def deployed(deploy: Callable[..., Signing]) -> Signing:
    return deploy()


@pytest.fixture
def email() -> str:
    return f"ada-{new_id()}@example.org"


def test_who_was_invited_signs_in_is_linked_and_comes_to_the_page_they_wanted(
    deployed: Signing, email: str
) -> None:
    deployed.invited(email)
    browser = Browser(deployed.app, base=OWN)
    sign_in = browser.get("/console/sign-in?next=/console/memories").text
    assert f'href="{OWN}/console/saml?next=/console/memories"' in sign_in
    browser, form = deployed.asked("/console/memories", **ada(email.upper()))
    answer = deployed.send(browser, form)
    assert (answer.status_code, answer.headers["location"]) == (303, "/console/memories")
    (cookie,) = [each for each in answer.headers.get_list("set-cookie") if "cairn_session=" in each]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert browser.get("/console/account").status_code == 200
    moved = f"elsewhere-{new_id()}@example.org"  # the link holds when the address changes
    assert deployed.enter(**ada(moved) | {"name_id": f"id of {email.upper()}"}).status_code == 303
    assert [entry["meta"]["by"] for entry in deployed.entries("person.signed_in")] == ["saml"] * 2
    assert len(deployed.entries("person.linked")) == 1
    assert deployed.person(moved) is None
    assert "Somebody else of your issuer" in refusal(
        deployed.enter(**ada(email) | {"name_id": "who has the address now"})
    )
    browser.submit("/console/sign-out")  # here, and not at the provider
    assert browser.get("/console/account").status_code == 303


def test_either_part_may_be_signed_or_both_and_an_address_may_be_the_name(
    deployed: Signing, email: str
) -> None:
    deployed.invited(email)
    whole = {"sign_response": True}
    for signed in (whole, whole | {"sign_assertion": False}):
        assert deployed.enter(**ada(email, **signed)).status_code == 303
    named = {"name_id": email, "attributes": {}}
    assert "Nobody has invited you" in refusal(deployed.enter(**named))  # may be any text
    other = deployed.invited(f"eve-{new_id()}@example.org")
    assert deployed.enter(name_id=other, attributes={}, format=EMAIL).status_code == 303
    transient = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
    assert "persistent" in refusal(deployed.enter(**ada(email), format=transient))


def test_groups_domains_and_the_workspace_decide_as_with_any_issuer(
    deploy: Callable[..., Signing], email: str
) -> None:
    deployed = deploy(provisions=True, domains="example.org", roles="desk=operator,Board=owner")
    assert deployed.enter(**ada(email, groups=["desk", "others"])).status_code == 303
    person = deployed.person(email)
    assert person is not None
    assert (person["role"], person["name"]) == ("operator", "Ada")
    browser, form = deployed.asked(**ada(email, groups=["Board"]))
    assert deployed.send(browser, form).status_code == 303
    assert (deployed.person(email) or {})["role"] == "owner"
    other = f"bob-{new_id()}@example.org"
    browser, form = deployed.asked(**ada(other, groups=["desk"]))
    assert deployed.send(browser, form).status_code == 303
    assert "None of your groups" in refusal(deployed.enter(**ada(other, groups=["board"])))
    assert browser.get("/console/account").status_code == 303  # and is signed out everywhere
    stranger = ada(f"eve-{new_id()}@evil.example", groups=["desk"])
    assert "of no domain" in refusal(deployed.enter(**stranger))
    people = deployed.app.state.services.people
    system = system_principal(deployed.world.workspace_id)
    (view,) = [each for each in people.all(system) if each.login == other]
    people.change(system, view.id, disabled=True)
    assert "disabled you" in refusal(deployed.enter(**ada(other, groups=["desk"])))


def unsigned(document: Any) -> None:
    for signature in document.xpath("//ds:Signature", namespaces=SPACES):
        signature.getparent().remove(signature)


def test_no_signature_other_keys_and_sha1_open_nothing(deployed: Signing, email: str) -> None:
    deployed.invited(email)
    folder, who = deployed.provider.folder, ada(email)
    make_key(folder, "other-")
    assert "is not signed" in refusal(deployed.forged(unsigned, **who))

    def again(**given: Any) -> Callable[[Any], Any]:
        return lambda document: sign(document, at(document, ASSERTION), folder, **given)

    assert deployed.forged(again(), **who).status_code == 303  # the forger's tools are good
    for given in (
        {"name": "other-"},
        {"methods": SHA1},
        {"methods": (SHA1[0], SHA256[1])},
        {"methods": (SHA256[0], SHA1[1])},
    ):
        assert "does not hold" in refusal(deployed.forged(again(**given), **who)), given

    def cut(document: Any) -> None:
        at(document, "//ds:SignatureValue").text = ""

    def of_a_shared_secret(document: Any) -> None:
        method = "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256"
        at(document, "//ds:SignatureMethod").set("Algorithm", method)

    def of_all(document: Any) -> None:
        at(document, "//ds:Reference").set("URI", "")

    def of_a_part(document: Any) -> None:
        transform = etree.SubElement(
            at(document, "//ds:Transforms"), f"{{{SPACES['ds']}}}Transform"
        )
        transform.set("Algorithm", "http://www.w3.org/TR/1999/REC-xpath-19991116")

    for change in (cut, of_a_shared_secret, of_all, of_a_part):
        refusal(deployed.forged(change, **who))

    def other_response(document: Any) -> Any:  # one signature good, one not
        good = sign(document, at(document, ASSERTION), folder)
        return sign(good, good, folder, name="other-")

    assert "does not hold" in refusal(deployed.forged(other_response, **who))


def evil_of(assertion: Any, victim: str) -> Any:
    """Return an assertion like another, about somebody else, without a signature."""
    evil = deepcopy(assertion)
    evil.set("ID", "_evil")
    for signature in evil.findall("ds:Signature", SPACES):
        evil.remove(signature)
    evil.find(".//saml:NameID", SPACES).text = f"id of {victim}"
    evil.find(".//saml:AttributeValue", SPACES).text = victim
    return evil


def put_into_object(signature: Any, content: Any) -> None:
    etree.SubElement(signature, f"{{{SPACES['ds']}}}Object").append(content)


def copy_before(document: Any, own: Any, evil: Any, signature: Any) -> None:
    own.addprevious(evil)


def copy_after(document: Any, own: Any, evil: Any, signature: Any) -> None:
    own.addnext(evil)


def copy_around(document: Any, own: Any, evil: Any, signature: Any) -> None:
    document.replace(own, evil)
    evil.append(own)


def copy_with_the_signature(document: Any, own: Any, evil: Any, signature: Any) -> None:
    evil.insert(1, signature)
    own.addprevious(evil)


def own_in_the_signature_of_the_copy(document: Any, own: Any, evil: Any, signature: Any) -> None:
    evil.insert(1, signature)
    document.replace(own, evil)
    signature.append(own)


def copy_in_extensions(document: Any, own: Any, evil: Any, signature: Any) -> None:
    extensions = etree.Element(f"{{{SPACES['samlp']}}}Extensions")
    extensions.append(evil)
    document.insert(1, extensions)


def own_in_an_object_of_the_copy(document: Any, own: Any, evil: Any, signature: Any) -> None:
    evil.insert(1, signature)
    document.replace(own, evil)
    put_into_object(signature, own)


def copy_of_the_same_id(document: Any, own: Any, evil: Any, signature: Any) -> None:
    evil.set("ID", own.get("ID"))
    own_in_an_object_of_the_copy(document, own, evil, deepcopy(signature))


def copy_alone(document: Any, own: Any, evil: Any, signature: Any) -> None:
    document.replace(own, evil)


def answer_in_its_signature(evil: Any, own: Any, signature: Any) -> None:
    signature.append(own)


def answer_before_its_signature(evil: Any, own: Any, signature: Any) -> None:
    signature.addprevious(own)


OF_ASSERTIONS = (
    copy_before,
    copy_after,
    copy_around,
    copy_with_the_signature,
    own_in_the_signature_of_the_copy,
    copy_in_extensions,
    own_in_an_object_of_the_copy,
    copy_of_the_same_id,
    copy_alone,
)
OF_ANSWERS = (
    answer_in_its_signature,
    answer_before_its_signature,
    lambda evil, own, signature: put_into_object(signature, own),
)
"""The known ways to move what is signed aside, and put something else in its place."""


def wrapped_assertion(move: Callable[..., None], victim: str) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        own = at(document, ASSERTION)
        move(document, own, evil_of(own, victim), own.find("ds:Signature", SPACES))

    return change


def wrapped_answer(move: Callable[..., None], victim: str) -> Callable[[Any], Any]:
    def change(document: Any) -> Any:
        evil, own = deepcopy(document), deepcopy(document)
        evil.set("ID", "_evil-response")
        assertion = at(evil, ASSERTION)
        evil.replace(assertion, evil_of(assertion, victim))
        signature = evil.find("ds:Signature", SPACES)
        own.remove(own.find("ds:Signature", SPACES))
        move(evil, own, signature)
        return evil

    return change


def test_what_is_signed_cannot_be_moved_aside_for_something_else(
    deployed: Signing, email: str
) -> None:
    eve = deployed.invited(f"eve-{new_id()}@example.org")
    deployed.invited(email)
    both, whole = {"sign_response": True}, {"sign_response": True, "sign_assertion": False}
    changes = [(wrapped_assertion(move, email), ({}, both)) for move in OF_ASSERTIONS]
    changes += [(wrapped_answer(move, email), (whole, both)) for move in OF_ANSWERS]
    for change, ways in changes:
        for signed in ways:
            text = refusal(deployed.forged(change, **ada(eve, **signed)))
            assert text.startswith("The identity provider&#39;s answer"), text
    assert deployed.entries("person.signed_in") == []


def test_a_comment_cuts_no_name_and_no_address(deployed: Signing, email: str) -> None:
    deployed.invited(email)
    longer = f"{email}.evil.example"

    def comment(path: str) -> Callable[[Any], Any]:
        def change(document: Any) -> None:
            element = at(document, path)
            text, cut = element.text, len(element.text) - len(".evil.example")
            element.text = text[:cut]
            note = etree.Comment("")
            note.tail = text[cut:]
            element.append(note)

        return change

    name = f"{ASSERTION}/saml:Subject/saml:NameID"
    address = f"{ASSERTION}//saml:Attribute[1]/saml:AttributeValue"
    for who, path in (
        (ada(longer), name),
        (ada(longer), address),
        ({"name_id": longer, "attributes": {}, "format": EMAIL}, name),
    ):
        assert "comments" in refusal(deployed.forged(comment(path), **who))
        assert "Nobody has invited" in refusal(deployed.enter(**who))
    assert deployed.person(longer) is None


def test_documents_that_read_files_or_grow_are_no_answers(deployed: Signing, email: str) -> None:
    deployed.invited(email)
    browser, form = deployed.asked(**ada(email))
    genuine = b64decode(form["SAMLResponse"]).decode().partition("?>")[2]
    laughs = "".join(
        f'<!ENTITY a{n} "{f"&a{n - 1};" * 10 if n else "ha" * 100}">' for n in range(10)
    )
    external = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    bomb = f"<!DOCTYPE r [{laughs}]>"
    named = re.sub(r"(<\w+:NameID[^>]*>)[^<]*", r"\1&x;", genuine)
    grown = re.sub(r"(<\w+:NameID[^>]*>)[^<]*", r"\1&a9;", genuine)
    attribute = genuine.replace('Version="2.0"', 'Version="&a9;"', 1)
    wide = f'<?xml version="1.0" encoding="UTF-16"?>{external}{named}'.encode("utf-16")
    documents = [
        *(text.encode() for text in (external + named, bomb + grown, bomb + attribute)),
        f'<!DOCTYPE r SYSTEM "http://127.0.0.1:1/x.dtd">{genuine}'.encode(),
        f"<?xml version='1.0' encoding='UTF-7'?>{genuine}".encode(),
        wide,
        genuine.encode("utf-16"),
        b"",
        b"<" * 60_000,
        b"<a>" * 20_000,
        b"\x00" + genuine.encode(),
        b"<r/>",
    ]
    for document in documents:
        text = refusal(deployed.send(*with_content(deployed, email, document)))
        assert "root:" not in text
    for content in ("", "%%%", "é", "AAAA\ud800".encode("utf-8", "replace").decode()):
        browser, form = deployed.asked(**ada(email))
        refusal(deployed.send(browser, form | {"SAMLResponse": content}))
    big = deployed.post(form | {"SAMLResponse": "A" * 200_000})
    assert big.status_code == 422
    twice = deployed.post(form | {"RelayState": [form["RelayState"], "x"]})
    assert twice.status_code == 422


def with_content(deployed: Signing, email: str, content: bytes) -> tuple[Browser, dict[str, str]]:
    browser, form = deployed.asked(**ada(email))
    return browser, form | {"SAMLResponse": b64encode(content).decode()}


def test_an_answer_is_good_once_and_in_the_browser_that_went_alone(
    deployed: Signing, email: str
) -> None:
    deployed.invited(email)
    browser, form = deployed.asked(**ada(email))
    victim = Browser(deployed.app, base=OWN)  # somebody sends them the answer of their own
    back = deployed.post(form).headers["location"]
    assert "not begun in this browser" in refusal(victim.get(BACK))
    victim.get(THERE)  # with a sign-in of its own under way
    assert "not begun in this browser" in refusal(victim.get(BACK))
    assert "not begun here" in refusal(deployed.post(form))
    assert browser.get(back).status_code == 303
    assert "not begun in this browser" in refusal(browser.get(back))
    other, fresh = deployed.asked(**ada(email))
    stolen = fresh | {"SAMLResponse": form["SAMLResponse"]}
    assert "InResponseTo" in refusal(deployed.send(other, stolen))
    for relay_state in ("", "x", "é", "x" * 5_000):
        assert "not begun here" in refusal(deployed.post(form | {"RelayState": relay_state}))
    assert deployed.post(form | {"RelayState": "nul\x00"}).status_code == 422


def test_nobody_comes_in_by_an_answer_that_they_let_somebody_else_fetch(
    deployed: Signing, email: str
) -> None:
    """A link to the provider with a request of the thief's, sent to who is signed in there."""
    deployed.invited(email)
    thief, form = deployed.asked(**ada(email))
    back = deployed.post(form).headers["location"]  # from the browser of who followed the link
    for path in (BACK, f"{BACK}?proof={form['RelayState']}", f"{BACK}?proof=x"):
        assert "not begun in this browser" in refusal(thief.get(path))
    other, _ = deployed.asked(**ada(email))
    assert "not begun in this browser" in refusal(other.get(back))  # nor by one of another sign-in


def test_of_many_who_bring_the_same_answer_at_once_one_comes_in(
    deployed: Signing, email: str
) -> None:
    deployed.invited(email)
    browser, form = deployed.asked(**ada(email))
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: deployed.post(form), range(16)))
        assert sorted(each.status_code for each in answers) == [303, *[401] * 15]
        (back,) = (each.headers["location"] for each in answers if each.status_code == 303)
        copies = [Browser(deployed.app, base=OWN, cookies=browser.cookies) for _ in range(16)]
        backs = list(pool.map(lambda each: each.get(back).status_code, copies))
    assert sorted(backs) == [303, *[401] * 15]
    assert len(deployed.entries("person.signed_in")) == 1


def test_a_sign_in_that_took_too_long_is_over(deployed: Signing, email: str) -> None:
    deployed.invited(email)
    browser, form = deployed.asked(**ada(email))
    platform = deployed.app.state.services.sessions.platform
    later = platform.clock() + ATTEMPT_LASTS
    object.__setattr__(platform, "clock", lambda: later)
    object.__setattr__(deployed.app.state.services.attempts, "clock", lambda: later)
    assert "took too long" in refusal(deployed.send(browser, form))


def minutes(number: float) -> str:
    return (datetime.now(UTC) + timedelta(minutes=number)).strftime("%Y-%m-%dT%H:%M:%SZ")


CONDITIONS, STATEMENT = f"{ASSERTION}/saml:Conditions", f"{ASSERTION}/saml:AuthnStatement"
AUDIENCE = f"{CONDITIONS}/saml:AudienceRestriction/saml:Audience"
NOT_OF_THIS_SIGN_IN: dict[str, tuple[str, str, Any]] = {
    # what it says: (where, the attribute, its value); no attribute is the text, None takes it away
    "Audience": (AUDIENCE, "", "https://another.example/metadata"),
    "AudienceRestriction": (f"{CONDITIONS}/saml:AudienceRestriction", "", None),
    "Recipient": (DATA, "Recipient", "https://another.example/console/saml/acs"),
    "Recipient)": (DATA, "Recipient", None),
    "Destination": ("/samlp:Response", "Destination", "https://another.example/acs"),
    "InResponseTo": (DATA, "InResponseTo", "_another"),
    "InResponseTo)": (DATA, "InResponseTo", None),
    "(InResponseTo": ("/samlp:Response", "InResponseTo", "_another"),
    "(Issuer": (f"{ASSERTION}/saml:Issuer", "", "https://another.example/idp"),
    "Issuer": ("/samlp:Response/saml:Issuer", "", "https://another.example/idp"),
    "signed nobody in": (
        "/samlp:Response/samlp:Status/samlp:StatusCode",
        "Value",
        "urn:oasis:names:tc:SAML:2.0:status:Responder",
    ),
    "NotOnOrAfter": (DATA, "NotOnOrAfter", minutes(-1.2)),
    "no end": (DATA, "NotOnOrAfter", None),
    "no zone": (DATA, "NotOnOrAfter", "2099-01-01T00:00:00"),
    "a time that is none": (CONDITIONS, "NotBefore", "soon"),
    "NotOnOrAfter)": (CONDITIONS, "NotOnOrAfter", minutes(-1.2)),
    "NotBefore": (CONDITIONS, "NotBefore", minutes(30)),
    "(NotBefore": (DATA, "NotBefore", minutes(30)),
    "session that is over": (STATEMENT, "SessionNotOnOrAfter", minutes(-2)),
    "AuthnStatement": (STATEMENT, "", None),
    "SubjectConfirmation": (
        f"{ASSERTION}/saml:Subject/saml:SubjectConfirmation",
        "Method",
        "urn:oasis:names:tc:SAML:2.0:cm:sender-vouches",
    ),
    "version": (ASSERTION, "Version", "1.1"),
    "names nobody": (f"{ASSERTION}/saml:Subject/saml:NameID", "", "two\nlines"),
    "needs one NameID": (f"{ASSERTION}/saml:Subject/saml:NameID", "", None),
    "needs one Conditions": (CONDITIONS, "", None),
}  # fmt: skip


def test_an_answer_that_is_not_of_this_sign_in_opens_nothing(deployed: Signing, email: str) -> None:
    deployed.invited(email)
    folder = deployed.provider.folder

    def resigned(path: str, name: str, value: Any, whole: bool) -> Callable[[Any], Any]:
        def change(document: Any) -> Any:
            element = at(document, path)
            if name and value is None:
                del element.attrib[name]
            elif name:
                element.set(name, value)
            elif value is None:
                element.getparent().remove(element)
            else:
                element.text = value
            again = sign(document, at(document, ASSERTION), folder)
            return sign(again, again, folder) if whole else again

        return change

    for number, (said, case) in enumerate(NOT_OF_THIS_SIGN_IN.items()):
        text = refusal(deployed.forged(resigned(*case, whole=number % 2 == 0), **ada(email)))
        assert said.strip("()") in text.replace("without a zone", "no zone"), (said, text)
    nowhere = resigned("/samlp:Response", "Destination", None, whole=True)
    assert "Destination" in refusal(deployed.forged(nowhere, **ada(email)))
    for clock in (("NotOnOrAfter", minutes(-0.3)), ("NotBefore", minutes(0.3))):  # within a minute
        change = resigned(CONDITIONS, *clock, whole=False)
        assert deployed.forged(change, **ada(email)).status_code == 303, clock


def test_an_encrypted_answer_is_refused_and_says_what_to_do(deployed: Signing, email: str) -> None:
    deployed.invited(email)

    def encrypted(document: Any) -> Any:
        assertion = at(document, ASSERTION)
        secret = etree.Element(f"{{{SPACES['saml']}}}EncryptedAssertion")
        document.replace(assertion, secret)
        return sign(document, document, deployed.provider.folder)

    text = refusal(deployed.forged(encrypted, **ada(email)))
    assert "is encrypted: let the identity provider sign, and not encrypt" in text


def unasked(document: Any, deployed: Signing) -> Any:
    """Return an answer to no request, as a provider makes it where people begin there."""
    del document.attrib["InResponseTo"]
    del at(document, DATA).attrib["InResponseTo"]
    return sign(document, at(document, ASSERTION), deployed.provider.folder)


def test_who_begins_at_the_provider_comes_in_only_where_the_deployment_says_so(
    deploy: Callable[..., Signing], email: str
) -> None:
    deployed = deploy()
    deployed.invited(email)
    for relay_state in ("", "/"):
        _, form = deployed.asked(**ada(email))
        form = changed(form, lambda each: unasked(each, deployed)) | {"RelayState": relay_state}
        assert "not begun here" in refusal(deployed.post(form))
    browser, form = deployed.asked(**ada(email))  # nor as the answer to a request
    form = changed(form, lambda each: unasked(each, deployed))
    assert "InResponseTo" in refusal(deployed.send(browser, form))

    there = deploy(saml_unasked="on")
    there.invited(other := f"bob-{new_id()}@example.org")
    goals = {
        "": "/",
        "/console/memories": "/console/memories",
        "https://evil.example/": "/",
        "//evil.example": "/",
        "/\\evil.example": "/",
        "\\\\evil.example": "/",
        "javascript:alert(1)": "/",
        "/%2f%2fevil.example": "/",
        "/console/..//evil.example": "/",
        "/console/\t/evil.example": "/",
    }
    for relay_state, goal in goals.items():
        _, form = there.asked(**ada(other))
        form = changed(form, lambda each: unasked(each, there)) | {"RelayState": relay_state}
        answer = there.post(form)
        assert (answer.status_code, answer.headers["location"]) == (303, goal), relay_state
        assert "cairn_session=" in str(answer.headers.get_list("set-cookie"))
        assert "used before" in refusal(there.post(form))
    _, form = there.asked(**ada(other))  # an answer to a request is none to nobody's
    assert "InResponseTo" in refusal(there.post(form | {"RelayState": ""}))
    _, form = there.asked(**ada(other))
    form = changed(form, lambda each: unasked(each, there)) | {"RelayState": ""}
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: there.post(form).status_code, range(16)))
    assert sorted(answers) == [303, *[401] * 15]


def test_other_sites_begin_no_sign_in_an_address_has_so_many_and_nobody_is_sent_elsewhere(
    deployed: Signing, email: str
) -> None:
    deployed.invited(email)
    for goal in ("https://evil.example", "//evil.example", "/v1/memories"):
        answer = deployed.enter(next=goal, **ada(email))
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
    deployed.stop_the_clock()
    browser = Browser(deployed.app, base=OWN)
    cross = browser.get(THERE, headers={"sec-fetch-site": "cross-site"})
    assert cross.headers["location"] == "/console/sign-in"
    assert browser.get(THERE, headers={"host": "evil.example"}).status_code == 403
    assert browser.send("POST", ANSWER, headers={"host": "evil.example"}).status_code == 403
    for _ in range(ADDRESS_ATTEMPTS):
        assert urlsplit(browser.get(THERE).headers["location"]).path == "/idp/sso"
    full = browser.get(THERE)
    assert (full.status_code, int(full.headers["retry-after"]) >= 1) == (429, True)


@pytest.mark.parametrize(("edition", "offered"), [("full", True), ("team", False)])
def test_a_server_offers_what_its_settings_say(
    provider: IdentityProvider,
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    edition: str,
    offered: bool,
) -> None:
    chosen = {"CAIRN_SIGN_IN_SAML": provider.metadata, "CAIRN_EDITION": edition}
    for name, value in (environment(database.app_url, tmp_path) | chosen).items():
        monkeypatch.setenv(name, value)
    stand_in_for_aws(monkeypatch, Cloud())
    page = Browser(create_asgi_app(), base=OWN).get("/console/sign-in")
    assert ("Sign in with 127.0.0.1" in page.text) is offered


def test_the_edition_full_has_it_and_a_deployment_without_a_provider_has_no_such_door(
    deploy: Callable[..., Signing],
) -> None:
    team = Browser(deploy(edition="team").app, base=OWN)
    nobody = Browser(deploy(saml="").app, base=OWN)
    for method, path in (("GET", THERE), ("POST", ANSWER), ("GET", BACK), ("GET", METADATA)):
        answer = team.send(method, path)
        assert answer.status_code == 403
        assert "The edition team has no SAML; the edition full has (CAIRN_EDITION)." in answer.text
        assert nobody.send(method, path).status_code == 404
