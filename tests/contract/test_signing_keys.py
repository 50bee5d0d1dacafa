"""One contract for every signing key: in a file, and in KMS (emulated)."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import boto3
import pytest
from botocore.config import Config
from botocore.stub import Stubber
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from tests.plugins.cloud import EmptyCloud

from cairn.adapters.aws.signing import KmsSigningKey
from cairn.adapters.files.signing import FileSigningKey, make_signing_key, public_key_path
from cairn.kernel.errors import Unavailable
from cairn.ledger.signing import ECDSA_P256, ED25519, Signature

pytestmark = pytest.mark.xdist_group("emulator")

SigningKey = FileSigningKey | KmsSigningKey
CONTENT = b'{"format":"test-1"}'
ARN = "arn:aws:kms:eu-west-1:111122223333:key/s"


def kms_keys(cloud: EmptyCloud) -> Callable[[], KmsSigningKey]:
    kms = cloud.client("kms")

    def make() -> KmsSigningKey:
        made = kms.create_key(KeySpec="ECC_NIST_P256", KeyUsage="SIGN_VERIFY")
        return KmsSigningKey(kms, key_arn=made["KeyMetadata"]["Arn"])

    return make


@pytest.fixture(params=["file", "kms"])
def make_key(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], SigningKey]:
    """Makes a new key at each call."""
    if request.param == "kms":
        return kms_keys(request.getfixturevalue("cloud"))

    def make() -> SigningKey:
        path = tmp_path / str(len(list(tmp_path.iterdir()))) / "signing.pem"
        make_signing_key(path)
        return FileSigningKey(path)

    return make


def test_what_was_signed_verifies(make_key: Callable[[], SigningKey]) -> None:
    key = make_key()
    signature = key.sign(CONTENT)
    assert key.verify(CONTENT, signature)
    assert signature.algorithm in (ED25519, ECDSA_P256)
    assert len(signature.key_id) == 64


def test_other_bytes_do_not_verify(make_key: Callable[[], SigningKey]) -> None:
    key = make_key()
    signature = key.sign(CONTENT)
    assert not key.verify(CONTENT + b" ", signature)
    assert not key.verify(b"", signature)


@pytest.mark.parametrize(
    "value", [b"", b"\x00" * 64, b"short", b"\x30\x06\x02\x01\x00\x02\x01\x00"]
)
def test_a_forged_signature_does_not_verify(
    make_key: Callable[[], SigningKey], value: bytes
) -> None:
    key = make_key()
    assert not key.verify(CONTENT, replace(key.sign(CONTENT), value=value))


def test_another_algorithms_name_does_not_verify(make_key: Callable[[], SigningKey]) -> None:
    key = make_key()
    signature = key.sign(CONTENT)
    for algorithm in ("none", "", {ED25519: ECDSA_P256, ECDSA_P256: ED25519}[signature.algorithm]):
        assert not key.verify(CONTENT, replace(signature, algorithm=algorithm))


def test_another_keys_signature_does_not_verify(make_key: Callable[[], SigningKey]) -> None:
    key, stranger = make_key(), make_key()
    signature = stranger.sign(CONTENT)
    assert not key.verify(CONTENT, signature)
    assert not key.verify(CONTENT, replace(signature, key_id=key.sign(CONTENT).key_id))


def test_a_kms_key_sends_a_digest_and_verifies_without_a_call() -> None:
    private = ec.generate_private_key(ec.SECP256R1())
    public = private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    kms = boto3.Session("none", "none", region_name="eu-west-1").client("kms")
    with Stubber(kms) as stub:
        stub.add_response("get_public_key", {"PublicKey": public}, {"KeyId": ARN})
        key = KmsSigningKey(kms, key_arn=ARN)
        unknown = Signature(key_id="0" * 64, algorithm=ECDSA_P256, value=b"")
        for _ in range(3):  # a second call would find no answer in the stub
            assert not key.verify(CONTENT, unknown)
        stub.assert_no_pending_responses()


def test_a_kms_key_of_another_kind_is_refused() -> None:
    public = rsa.generate_private_key(65537, 2048).public_key()
    der = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    kms = boto3.Session("none", "none", region_name="eu-west-1").client("kms")
    with Stubber(kms) as stub:
        stub.add_response("get_public_key", {"PublicKey": der}, {"KeyId": ARN})
        with pytest.raises(Unavailable) as caught:
            KmsSigningKey(kms, key_arn=ARN).sign(CONTENT)
    assert caught.value.reason == "signing-key"


def test_a_kms_that_cannot_be_reached_is_unavailable() -> None:
    quick = Config(connect_timeout=0.2, retries={"max_attempts": 0})
    session = boto3.Session("none", "none", region_name="eu-west-1")
    kms: Any = session.client("kms", endpoint_url="http://127.0.0.1:9", config=quick)
    key = KmsSigningKey(kms, key_arn=ARN)
    signature = Signature(key_id="0" * 64, algorithm=ECDSA_P256, value=b"")
    for call in (lambda: key.sign(CONTENT), lambda: key.verify(CONTENT, signature)):
        with pytest.raises(Unavailable):
            call()


def test_the_private_file_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "made" / "signing.pem"
    assert make_signing_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert {file.name for file in path.parent.iterdir()} == {"signing.pem", "signing.pem.pub"}


def test_making_a_key_again_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "signing.pem"
    make_signing_key(path)
    signature = FileSigningKey(path).sign(CONTENT)
    public_key_path(path).unlink()
    assert not make_signing_key(path)
    assert FileSigningKey(path).verify(CONTENT, signature)


def test_verifying_needs_the_public_file_only(tmp_path: Path) -> None:
    path = tmp_path / "signing.pem"
    make_signing_key(path)
    signature = FileSigningKey(path).sign(CONTENT)
    path.unlink()
    assert FileSigningKey(path).verify(CONTENT, signature)
    with pytest.raises(Unavailable):
        FileSigningKey(path).sign(CONTENT)


def test_a_replaced_keys_signatures_verify_while_its_public_half_is_kept(tmp_path: Path) -> None:
    old, new = tmp_path / "old.pem", tmp_path / "new.pem"
    make_signing_key(old)
    make_signing_key(new)
    signature = FileSigningKey(old).sign(CONTENT)
    assert not FileSigningKey(new).verify(CONTENT, signature)
    with public_key_path(new).open("ab") as file:
        file.write(public_key_path(old).read_bytes())
    assert FileSigningKey(new).verify(CONTENT, signature)
    assert FileSigningKey(new).verify(CONTENT, FileSigningKey(new).sign(CONTENT))


@pytest.mark.parametrize("content", [None, b"", b"no key", "rsa"])
def test_a_missing_or_damaged_key_is_unavailable_and_not_replaced(
    tmp_path: Path, content: bytes | str | None
) -> None:
    path = tmp_path / "signing.pem"
    if content == "rsa":
        key = rsa.generate_private_key(65537, 2048)
        content = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    if content is not None:
        path.write_bytes(cast("bytes", content))
        public_key_path(path).write_bytes(cast("bytes", content))
    with pytest.raises(Unavailable) as caught:
        FileSigningKey(path).sign(CONTENT)
    assert caught.value.reason == "signing-key"
    with pytest.raises(Unavailable):
        FileSigningKey(path).verify(
            CONTENT, Signature(key_id="0" * 64, algorithm=ED25519, value=b"")
        )


MAKE = """
import sys
from pathlib import Path
from cairn.adapters.files.signing import FileSigningKey, make_signing_key
path = Path(sys.argv[1])
make_signing_key(path)
key = FileSigningKey(path)
print(key.verify(b"x", key.sign(b"x")))
"""


def test_a_key_is_usable_from_another_process(tmp_path: Path) -> None:
    path = tmp_path / "signing.pem"
    make_signing_key(path)
    done = subprocess.run(
        [sys.executable, "-c", MAKE, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "shared")},
    )
    assert done.stdout.strip() == "True"
