"""The console as a browser sees it, without one: cookies are kept, forms carry their token."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import anyio
import httpx
from tests.support.embedding import HASHING

from cairn.kernel.access import PersonRole
from cairn.kernel.access.system import system_principal

if TYPE_CHECKING:
    from uuid import UUID

    from fastapi import FastAPI
    from tests.plugins.postgres import Database

    from cairn.accounts.people import PersonLink

BASE = "http://127.0.0.1:8080"
PASSWORD = "a heap of stones on a hill"
CSRF = re.compile(r'name="csrf" (?:content|value)="([^"]+)"')


@dataclass
class Browser:
    """Somebody's browser, with its cookies and address. `base` is where its pages come from."""

    app: FastAPI
    base: str = BASE
    address: str = field(default_factory=lambda: f"2001:db8:{token_hex(2)}:{token_hex(2)}::1")
    cookies: httpx.Cookies = field(default_factory=httpx.Cookies)

    def send(self, method: str, path: str, **given: Any) -> httpx.Response:
        """Return the answer, and keep what cookies it sets."""

        async def call() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app, client=(self.address, 4711))
            async with httpx.AsyncClient(
                transport=transport, base_url=self.base, cookies=self.cookies
            ) as client:
                answer = await client.request(method, path, **given)
                self.cookies = client.cookies
                return answer

        return anyio.run(call)

    def get(self, path: str, **given: Any) -> httpx.Response:
        return self.send("GET", path, **given)

    def post(self, path: str, *, origin: str | None = None, **form: str) -> httpx.Response:
        """Send a form as a page of `origin` does, by default of our own."""
        headers = {"origin": origin or self.base}
        return self.send("POST", path, data=form, headers=headers)

    def csrf(self, path: str = "/console/account") -> str:
        """Return the token that forms of a page carry."""
        match = CSRF.search(self.get(path).text)
        assert match is not None
        return match[1]

    def submit(self, path: str, **form: str) -> httpx.Response:
        """Send a form with the token of the session."""
        return self.post(path, csrf=self.csrf(), **form)

    def sign_in(self, login: str, password: str = PASSWORD, **more: str) -> httpx.Response:
        return self.post("/console/sign-in", login=login, password=password, **more)


def register_hashing(database: Database) -> None:
    """Let the database have vectors of the hashing embedder."""
    with database.connect_as_superuser() as root:
        root.execute(
            """INSERT INTO embedding_model (id, name, dimensions) VALUES (%s, %s, %s)
               ON CONFLICT DO NOTHING""",
            (HASHING.id, HASHING.name, HASHING.dimensions),
        )
        root.commit()


def add_person(
    app: FastAPI, workspace_id: UUID, login: str, role: PersonRole = PersonRole.OWNER
) -> PersonLink:
    """Add somebody as the deployment does; returns their first link."""
    system = system_principal(workspace_id)
    return app.state.services.people.add(system, login=login, name=login.title(), role=role)


def signed_in(
    app: FastAPI, workspace_id: UUID, login: str, role: PersonRole = PersonRole.OWNER
) -> Browser:
    """Return the browser of somebody who came by a link and set a password."""
    link = add_person(app, workspace_id, login, role)
    browser = Browser(app)
    answer = browser.post("/console/link", token=link.token)
    assert answer.status_code == 303, answer.text
    done = browser.submit("/console/account", password=PASSWORD)
    assert done.status_code == 303, done.text
    return browser
