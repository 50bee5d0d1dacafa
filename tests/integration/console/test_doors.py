"""Every door of the console at once: no form without our origin and its token, no page in a frame.

A page that is added is held to it with the rest.
"""

# pyright: basic

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tests.integration.storage.test_console import deployed
from tests.support.console import BASE, Browser

from cairn.api.console.saml import ANSWER
from cairn.api.nouns import NOUNS
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.storage.test_console import Deployed

__all__ = ["deployed"]

BEFORE_SIGN_IN = {
    "/console/sign-in",
    "/console/link",
    "/console/passkey",
    "/console/passkey/options",
}
"""Forms that nobody has a token for yet; a page of ours has to send them all the same."""


def doors(*methods: str) -> Iterator[tuple[str, str]]:
    """Return each method and path of the console, with something where an id belongs."""
    for module in (*NOUNS[""], *NOUNS["console"]):
        for route in import_module(module).routes.routes:
            path = re.sub(r"{position(:\w+)?}", "1", route.path)
            path = re.sub(r"{\w+(:\w+)?}", str(new_id()), path)
            for method in route.methods & {*methods}:
                yield method, path


def test_no_form_counts_that_another_page_sent_or_that_has_no_token(deployed: Deployed) -> None:
    browser = deployed.person(f"doors-{new_id()}")
    token = browser.csrf()
    others: list[dict[str, str]] = [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": BASE, "sec-fetch-site": "cross-site"},
        {"origin": BASE, "sec-fetch-site": "same-site"},
        {},
    ]
    forms = {each for each in doors("POST", "PUT", "PATCH", "DELETE") if each[1] != ANSWER}
    assert len(forms) > 50
    wrong: list[Any] = []
    for method, path in sorted(forms):
        headers = others[len(path) % len(others)]
        answer = browser.send(method, path, data={"csrf": token}, headers=headers)
        if (answer.status_code, answer.headers.get("x-cairn-reason")) != (403, "origin"):
            wrong.append((method, path, headers, answer.status_code))
        if path in BEFORE_SIGN_IN:
            continue
        for csrf in ("", f"{token}x"):
            own = {"origin": BASE, "x-csrf-token": csrf}
            answer = browser.send(method, path, data={"csrf": csrf}, headers=own)
            if (answer.status_code, answer.headers.get("x-cairn-reason")) != (
                401,
                "session-rotated",
            ):
                wrong.append((method, path, csrf, answer.status_code))
    assert wrong == []
    assert browser.get("/console/account").status_code == 200


def test_no_page_can_be_framed_or_kept_by_a_cache(deployed: Deployed) -> None:
    browser, nobody = deployed.person(f"frames-{new_id()}"), Browser(deployed.app)
    pages = sorted({path for _, path in doors("GET") if not path.endswith("/live")})
    assert len(pages) > 50
    wrong: list[Any] = []
    for path in pages:
        for answer in (browser.get(path), nobody.get(path)):
            headers = answer.headers
            framed = headers["x-frame-options"] != "DENY" or headers["cache-control"] != "no-store"
            html = "text/html" in headers.get("content-type", "")
            policy = headers.get("content-security-policy", "")
            if framed or (html and "frame-ancestors 'none'" not in policy):
                wrong.append((path, answer.status_code, dict(headers)))
    assert wrong == []
