"""The laptop's signing key: an Ed25519 private key in a file, its public key beside it. Not AWS.

The private key is at `path` (PKCS 8, PEM, mode 600), public keys at `path` + `.pub` (PEM, one or
more: a replaced key's public half stays there, so that what it signed can still be checked). Both
are outside the database; `make_signing_key` makes them once and never replaces them.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from cairn.kernel.errors import Unavailable
from cairn.ledger.signing import ED25519, Signature, holds, key_id_of, public_key_of_der

if TYPE_CHECKING:
    from pathlib import Path

    from cairn.ledger.signing import PublicKey

_END = b"-----END PUBLIC KEY-----"


class FileSigningKey:
    """Implements `Signer` and `Verifier` on `path`.

    Verifying reads the public keys only, signing the private key too; both are read once. Raises
    Unavailable (`signing-key`) when a file is missing or is no such key: a new key made silently
    would be one that nobody knows.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def sign(self, content: bytes) -> Signature:
        """Sign with the private key."""
        value = self._private.sign(content)
        key_id = key_id_of(self._private.public_key())
        return Signature(key_id=key_id, algorithm=ED25519, value=value)

    def verify(self, content: bytes, signature: Signature) -> bool:
        """Check against the public key the signature names."""
        key = self._public.get(signature.key_id)
        return key is not None and holds(key, content, signature)

    @cached_property
    def _private(self) -> Ed25519PrivateKey:
        try:
            key = load_pem_private_key(self._path.read_bytes(), password=None)
        except (OSError, ValueError, TypeError) as exc:
            raise _unusable(self._path) from exc
        if not isinstance(key, Ed25519PrivateKey):
            raise _unusable(self._path)
        return key

    @cached_property
    def _public(self) -> dict[str, PublicKey]:
        path = public_key_path(self._path)
        try:
            parts = path.read_bytes().split(_END)[:-1]
            keys = [_public_key(part + _END) for part in parts]
        except (OSError, ValueError) as exc:
            raise _unusable(path) from exc
        if not keys:
            raise _unusable(path)
        return {key_id_of(key): key for key in keys}


def public_key_path(path: Path) -> Path:
    """Return where the public keys of the private key at `path` are."""
    return path.with_name(path.name + ".pub")


def make_signing_key(path: Path) -> bool:
    """Make the two files unless the private key exists; return whether it was made.

    The public file is written again when it alone is missing: it follows from the private one.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    creates = not path.exists()
    if creates:
        _write_private(path)
    public = public_key_path(path)
    if not public.exists():
        key = load_pem_private_key(path.read_bytes(), password=None).public_key()
        public.write_bytes(key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return creates


def _write_private(path: Path) -> None:
    """Put a new key durably at `path`; never half a file, never readable by others."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    descriptor = os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(pem)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _public_key(pem: bytes) -> PublicKey:
    key = load_pem_public_key(pem)
    return public_key_of_der(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))


def _unusable(path: Path) -> Unavailable:
    return Unavailable(f"The signing key {path} cannot be read.", reason="signing-key")
