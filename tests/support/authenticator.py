"""An authenticator as WebAuthn has it, in software: makes passkeys and signs with them.

What it gives a page is what a browser's `credential.toJSON()` gives, with whatever a test changes.
"""

# pyright: basic

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from secrets import token_bytes
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


def encoded(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class Authenticator:
    """One passkey. `origin` is the page the browser shows; `count` rises with each use."""

    origin: str
    flags: int = PRESENT | VERIFIED
    count: int = 0
    counts: bool = True
    credential_id: bytes = field(default_factory=lambda: token_bytes(32))
    user_id: str = ""
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    def make(self, options: dict[str, Any], **changes: Any) -> str:
        """Return what a browser answers to the options of a new passkey."""
        self.user_id = options["user"]["id"]
        numbers = self.key.public_key().public_numbers()
        cose = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)}
        length = len(self.credential_id).to_bytes(2)
        attested = bytes(16) + length + self.credential_id + cbor2.dumps(cose)
        content = self._content(options["rp"]["id"], self.flags | ATTESTED) + attested
        statement = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": content})
        client = self._client("webauthn.create", options["challenge"], changes)
        return self._credential(
            {"clientDataJSON": encoded(client), "attestationObject": encoded(statement)}
        )

    def sign(self, options: dict[str, Any], name: str | None = None, **changes: Any) -> str:
        """Return what a browser answers to the options of a sign-in."""
        self.count += self.counts
        client = self._client("webauthn.get", options["challenge"], changes)
        content = self._content(name or options["rpId"], self.flags)
        signature = self.key.sign(content + hashlib.sha256(client).digest(), ec.ECDSA(SHA256()))
        return self._credential(
            {
                "clientDataJSON": encoded(client),
                "authenticatorData": encoded(content),
                "signature": encoded(signature),
                "userHandle": self.user_id,
            }
        )

    def _content(self, name: str, flags: int) -> bytes:
        return hashlib.sha256(name.encode()).digest() + bytes([flags]) + self.count.to_bytes(4)

    def _client(self, type_: str, challenge: str, changes: dict[str, Any]) -> bytes:
        said = {"type": type_, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps(said | changes).encode()

    def _credential(self, response: dict[str, str]) -> str:
        name = encoded(self.credential_id)
        return json.dumps(
            {
                "id": name,
                "rawId": name,
                "type": "public-key",
                "response": response,
                "clientExtensionResults": {},
            }
        )
