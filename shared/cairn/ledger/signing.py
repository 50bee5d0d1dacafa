"""Signed statements that are kept outside the database: who signs, who checks, in what bytes.

Not key storage (adapters live in `storage`), and not what is said: anchors and tombstones bring
their own fields. A statement is one JSON object with a `format`; its `signature` member covers the
canonical JSON of all other members, so a signature of one format is never one of another.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol, cast

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_der_public_key,
)

from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.canonical import canonical_bytes, unique_members
from cairn.kernel.text.json_value import JsonValue

ED25519 = "ed25519"
"""RFC 8032, over the statement's bytes themselves."""

ECDSA_P256 = "ecdsa-p256-sha256"
"""FIPS 186-5 on P-256 over SHA-256 of the bytes; the value is the DER sequence KMS returns."""

LARGEST_STATEMENT = 64 * 1024
PublicKey = Ed25519PublicKey | EllipticCurvePublicKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """`key_id` names the public key (`key_id_of`), `algorithm` is one of the two above."""

    key_id: str
    algorithm: str
    value: bytes


class Signer(Protocol):
    """Holds a private key outside the database.

    Raises Unavailable (`signing-key`) when the key cannot be reached or is damaged.
    """

    def sign(self, content: bytes) -> Signature:
        """Sign at most 64 KiB."""
        ...


class Verifier(Protocol):
    """Knows public keys; needs no secret and no call for each check.

    Raises Unavailable (`signing-key`) when the public keys cannot be read at all.
    """

    def verify(self, content: bytes, signature: Signature) -> bool:
        """Return whether a known key made `signature` over exactly these bytes."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What was read: the `fields` without the signature, and the signature if there is one."""

    fields: Mapping[str, JsonValue]
    signature: Signature | None

    def content(self) -> bytes:
        """Return the bytes a signature covers."""
        return canonical_bytes(self.fields)


def sign_statement(signer: Signer, fields: Mapping[str, JsonValue]) -> bytes:
    """Return `fields` with their signature as canonical JSON: what is stored.

    `fields` names its `format` and has no `signature`; ValueError otherwise.
    """
    if "signature" in fields or not fields.get("format"):
        raise ValueError("a statement has a format, and gets its signature here")
    signed = signer.sign(canonical_bytes(fields))
    signature = {
        "key_id": signed.key_id,
        "algorithm": signed.algorithm,
        "value": signed.value.hex(),
    }
    return canonical_bytes({**fields, "signature": signature})


def read_statement(stored: bytes) -> Statement:
    """Read what `sign_statement` made, or an object without a signature; nothing is verified.

    Raises ValidationFailed (`malformed-statement`) for any other bytes.
    """
    try:
        if len(stored) > LARGEST_STATEMENT:
            raise ValueError("too large")
        read: Any = json.loads(stored.decode(), object_pairs_hook=unique_members)
        if not isinstance(read, dict):
            raise ValueError("not an object")
        fields = cast("dict[str, JsonValue]", read)
        signature = _signature(fields.pop("signature", None))
        canonical_bytes(fields)
    except (ValueError, TypeError, KeyError, RecursionError, ValidationFailed) as exc:
        raise ValidationFailed(
            "These bytes are no signed statement.", reason="malformed-statement"
        ) from exc
    return Statement(fields=fields, signature=signature)


def is_signed(verifier: Verifier, statement: Statement, kind: str) -> bool:
    """Return whether `statement` is of the format `kind` and a known key signed all of it."""
    if statement.signature is None or statement.fields.get("format") != kind:
        return False
    return verifier.verify(statement.content(), statement.signature)


def key_id_of(public_key: PublicKey) -> str:
    """Return SHA-256 over the key's DER SubjectPublicKeyInfo, in hex: anyone can compute it."""
    der = public_key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return sha256(der).hexdigest()


def public_key_of_der(der: bytes) -> PublicKey:
    """Read a SubjectPublicKeyInfo; ValueError unless it is Ed25519 or P-256."""
    key = load_der_public_key(der)
    if isinstance(key, Ed25519PublicKey):
        return key
    if isinstance(key, EllipticCurvePublicKey) and isinstance(key.curve, SECP256R1):
        return key
    raise ValueError("a public key here is Ed25519 or ECDSA on P-256")


def holds(public_key: PublicKey, content: bytes, signature: Signature) -> bool:
    """Return whether this key made `signature` over `content`, by the key's one algorithm."""
    try:
        if isinstance(public_key, Ed25519PublicKey):
            is_known = signature.algorithm == ED25519
            public_key.verify(signature.value, content)
        else:
            is_known = signature.algorithm == ECDSA_P256
            public_key.verify(signature.value, content, ECDSA(SHA256()))
    except InvalidSignature:
        return False
    return is_known


def _signature(read: JsonValue) -> Signature | None:
    if read is None:
        return None
    if not isinstance(read, dict) or read.keys() != {"key_id", "algorithm", "value"}:
        raise ValueError("members of a signature")
    key_id, algorithm, value = read["key_id"], read["algorithm"], read["value"]
    if not (isinstance(key_id, str) and isinstance(algorithm, str) and isinstance(value, str)):
        raise TypeError("a signature's members are strings")
    return Signature(key_id=key_id, algorithm=algorithm, value=bytes.fromhex(value))
