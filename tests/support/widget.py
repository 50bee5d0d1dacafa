"""The chat widget as a page of its host asks it, without a browser."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests.support.openapi import holds

from cairn.chat.challenges import solve

if TYPE_CHECKING:
    from fastapi import FastAPI
    from tests.support.front import Front

HOST = "https://shop.example"
ISSUER = "https://shop.example/login"


@dataclass
class Page:
    """A page of the host at an address, and the session it has open."""

    app: FastAPI
    widget_id: str
    origin: str | None = HOST
    address: str = "203.0.113.7"
    token: str = ""

    def ask(self, method: str, path: str = "", **given: Any) -> httpx.Response:
        """Return the answer to a request of the page."""
        headers = {"origin": self.origin} if self.origin else {}
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        given["headers"] = {**headers, **given.pop("headers", {})}

        async def call() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app, client=(self.address, 4711))
            async with httpx.AsyncClient(transport=transport, base_url="http://cairn") as client:
                return await client.request(method, f"/v1/widget/{self.widget_id}{path}", **given)

        return holds(anyio.run(call))

    def open(self, **body: Any) -> dict[str, Any]:
        """Open a session, and keep its token."""
        self.token = ""
        answer = self.ask("POST", "/sessions", json=body)
        assert answer.status_code == 201, answer.text
        opened: dict[str, Any] = answer.json()
        self.token = opened["token"]
        return opened

    def say(self, message: str = "hello", **given: Any) -> httpx.Response:
        return self.ask("POST", "/messages", json={"message": message}, **given)

    def answered(self, message: str = "hello") -> dict[str, Any]:
        """Return the answer to what must be answered."""
        answer = self.say(message)
        assert answer.status_code == 200, answer.text
        turn: dict[str, Any] = answer.json()
        return turn

    def solve(self) -> httpx.Response:
        """Solve the challenge as a browser does."""
        challenge = self.ask("GET", "/challenge").json()["challenge"]
        return self.ask("POST", "/challenge", json={"answer": solve(challenge)})

    def session(self) -> dict[str, Any]:
        shown: dict[str, Any] = self.ask("GET", "/session").json()
        return shown


def set_widget(front: Front, **settings: Any) -> dict[str, Any]:
    """Set the workspace's widget."""
    body = {"origins": [HOST], **settings}
    shown: dict[str, Any] = front.call("PUT", "/v1/widget", json=body)
    return shown


def page(front: Front, *, begun: bool = True, **settings: Any) -> Page:
    """Set a widget and return a page of its host, with a session unless not."""
    opened = Page(front.app, set_widget(front, **settings)["id"])
    if begun:
        opened.open()
    return opened


@dataclass
class Host:
    """A host that signs its customers in, with one key."""

    kid: str = "one"
    key: Any = field(default_factory=lambda: generate_private_key(SECP256R1()))

    @property
    def public(self) -> bytes:
        """The public half, as everybody may have it."""
        half: bytes = self.key.public_key().public_bytes(
            Encoding.PEM, PublicFormat.SubjectPublicKeyInfo
        )
        return half

    @property
    def settings(self) -> dict[str, Any]:
        """What the widget is told of it."""
        public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.key.public_key()))
        return {"issuer": ISSUER, "keys": [{**public, "kid": self.kid, "alg": "ES256"}]}

    def token(self, widget_id: str, **claims: Any) -> str:
        """Sign a customer in."""
        now = int(time.time())
        body = {"iss": ISSUER, "aud": widget_id, "sub": "ada", "exp": now + 600, **claims}
        body = {name: value for name, value in body.items() if value is not None}
        return jwt.encode(body, self.key, algorithm="ES256", headers={"kid": self.kid})


def signed_with_hmac(claims: dict[str, Any], secret: bytes, kid: str) -> str:
    """Sign with HS256, also with a public key as the secret, which the library refuses."""

    def part(value: bytes) -> str:
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    header = {"alg": "HS256", "typ": "JWT", "kid": kid}
    body = f"{part(json.dumps(header).encode())}.{part(json.dumps(claims).encode())}"
    return f"{body}.{part(hmac.new(secret, body.encode(), hashlib.sha256).digest())}"
