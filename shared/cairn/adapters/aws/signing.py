"""The signing key on AWS: an ECC_NIST_P256 key of KMS that never leaves it. Not for laptops.

Signing is a call. The public key is fetched once a process; every check after that is local.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from cairn.kernel.errors import Unavailable
from cairn.ledger.signing import ECDSA_P256, Signature, holds, key_id_of, public_key_of_der

if TYPE_CHECKING:
    from collections.abc import Generator

    from mypy_boto3_kms import KMSClient

    from cairn.ledger.signing import PublicKey


class KmsSigningKey:
    """Implements `Signer` and `Verifier`; the client comes from bootstrap.

    KMS gets the SHA-256 of the content (ECDSA_SHA_256 over a digest). Raises Unavailable
    (`signing-key`) when KMS refuses, is silent, or the key is no P-256 key.
    """

    def __init__(self, kms: KMSClient, *, key_arn: str) -> None:
        self._kms = kms
        self._key_arn = key_arn

    def sign(self, content: bytes) -> Signature:
        """Ask KMS for a signature."""
        key_id = key_id_of(self._public)
        with _translated():
            answer = self._kms.sign(
                KeyId=self._key_arn,
                Message=sha256(content).digest(),
                MessageType="DIGEST",
                SigningAlgorithm="ECDSA_SHA_256",
            )
        return Signature(key_id=key_id, algorithm=ECDSA_P256, value=answer["Signature"])

    def verify(self, content: bytes, signature: Signature) -> bool:
        """Check against the key's public half, here."""
        return signature.key_id == key_id_of(self._public) and holds(
            self._public, content, signature
        )

    @cached_property
    def _public(self) -> PublicKey:
        with _translated():
            answer = self._kms.get_public_key(KeyId=self._key_arn)
        try:
            return public_key_of_der(answer["PublicKey"])
        except ValueError as exc:
            raise Unavailable("The KMS key is no P-256 key.", reason="signing-key") from exc


@contextmanager
def _translated() -> Generator[None]:
    try:
        yield
    except (ClientError, BotoCoreError) as exc:
        raise Unavailable(f"The signing key did not answer: {exc}", reason="signing-key") from exc
