"""The key that signs what is kept outside the database, as the settings name it."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cairn.adapters.aws.clients import aws_client
from cairn.kernel.errors import ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from cairn.adapters.aws.signing import KmsSigningKey
    from cairn.adapters.files.signing import FileSigningKey
    from cairn.ledger.signing import Signature


class SigningSettings(Protocol):
    """`file:/absolute/path` or `kms:ARN`."""

    @property
    def signing_key(self) -> str: ...


class SigningKey:
    """Implements `ledger.signing.Signer` and `Verifier`; opened with the first use."""

    def __init__(self, make: Callable[[], FileSigningKey | KmsSigningKey]) -> None:
        self._make = make

    @cached_property
    def _key(self) -> FileSigningKey | KmsSigningKey:
        return self._make()

    def sign(self, content: bytes) -> Signature:
        """As `Signer`."""
        return self._key.sign(content)

    def verify(self, content: bytes, signature: Signature) -> bool:
        """As `Verifier`."""
        return self._key.verify(content, signature)


def signing_key(settings: SigningSettings) -> SigningKey:
    """Return the signing key; nothing is read or called yet.

    Raises ValidationFailed when the setting names no kind of key.
    """
    kind, _, place = settings.signing_key.partition(":")
    if kind == "file" and place.startswith("/"):
        return SigningKey(lambda: _in_file(Path(place)))
    if kind == "kms" and place.startswith("arn:"):
        return SigningKey(lambda: _in_kms(place))
    raise ValidationFailed("CAIRN_SIGNING_KEY is file:/absolute/path or kms:ARN.")


def _in_file(path: Path) -> FileSigningKey:
    from cairn.adapters.files.signing import FileSigningKey

    return FileSigningKey(path)


def _in_kms(key_arn: str) -> KmsSigningKey:
    from cairn.adapters.aws.signing import KmsSigningKey

    return KmsSigningKey(aws_client("kms"), key_arn=key_arn)
