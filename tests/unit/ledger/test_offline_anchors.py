"""The offline verifier with anchors: it finds what Cairn's own verification finds."""

import base64
import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests.support.anchoring import Anchored
from tests.unit.ledger.chains import OTHER_WORKSPACE, WORKSPACE, new_entry
from tests.unit.ledger.test_export import export, run

from cairn.adapters.files.signing import public_key_path
from cairn.kernel.text.canonical import canonical_bytes
from cairn.ledger.anchors import AnchorFault
from cairn.ledger.chain import empty_head, seal
from cairn.ledger.entry import Entry
from cairn.ledger.signing import ECDSA_P256, Signature, holds, key_id_of


class KmsLike:
    """Signs as KMS does, without KMS."""

    def __init__(self) -> None:
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.public = self.private.public_key()

    def sign(self, content: bytes) -> Signature:
        value = self.private.sign(sha256(content).digest(), ec.ECDSA(Prehashed(SHA256())))
        return Signature(key_id=key_id_of(self.public), algorithm=ECDSA_P256, value=value)

    def verify(self, content: bytes, signature: Signature) -> bool:
        return holds(self.public, content, signature)


@pytest.fixture
def anchored(tmp_path: Path) -> Anchored:
    made = Anchored(tmp_path)
    for _ in range(3):
        made.day()
    return made


def check(anchored: Anchored, folder: Path, key: Path | None = None) -> tuple[int, dict[str, Any]]:
    objects = folder / "anchors"
    objects.mkdir(exist_ok=True)
    for path in objects.iterdir():
        path.unlink()
    for name, content in anchored.store.objects.items():
        (objects / name.rpartition("/")[2]).write_bytes(content)
    public = key or public_key_path(anchored.folder / "signing.pem")
    file = export(folder, anchored.chain.entries)
    status, out, err = run(file, "--anchors", objects, "--public-key", public, "--json")
    assert status in (0, 1), err
    return status, json.loads(out)


def test_a_chain_left_alone_agrees(anchored: Anchored, tmp_path: Path) -> None:
    status, found = check(anchored, tmp_path)
    assert (status, found["anchors"]) == (0, {"trusted": 3, "faults": []})


def test_a_rewritten_chain_fails_at_the_first_anchored_position(
    anchored: Anchored, tmp_path: Path
) -> None:
    anchored.chain.rewrite(4)
    assert run(export(tmp_path, anchored.chain.entries))[0] == 0
    status, found = check(anchored, tmp_path)
    assert (status, found["first_bad_position"], found["reason"]) == (1, 6, "head-mismatch")


def test_a_cut_chain_fails_behind_its_end(anchored: Anchored, tmp_path: Path) -> None:
    del anchored.chain.entries[7:]
    status, found = check(anchored, tmp_path)
    assert (status, found["first_bad_position"]) == (1, 8)


def test_a_changed_and_a_missing_anchor_are_named(anchored: Anchored, tmp_path: Path) -> None:
    first, second, _ = anchored.store.keys("")
    stored = anchored.store.objects[first]
    anchored.store.objects[first] = stored.replace(b'"position":3', b'"position":2')
    status, found = check(anchored, tmp_path)
    assert (status, found["reason"]) == (1, "anchors")
    assert [fault["reason"] for fault in found["anchors"]["faults"]] == ["not-authentic", "missing"]
    anchored.store.objects[first] = stored
    del anchored.store.objects[second]
    status, found = check(anchored, tmp_path)
    assert (status, found["anchors"]["faults"]) == (1, [{"number": 2, "reason": "missing"}])


def test_a_forged_chain_does_not_evade_its_anchors_by_the_form_of_its_ids(
    anchored: Anchored, tmp_path: Path
) -> None:
    """As the database's owner could: every id in another form, and all hashes made to fit."""
    check(anchored, tmp_path)
    key = public_key_path(anchored.folder / "signing.pem")
    given = ["--anchors", tmp_path / "anchors", "--public-key", key, "--json"]
    for other in (str(WORKSPACE).upper(), f"urn:uuid:{WORKSPACE}", WORKSPACE.hex):
        file = forged(anchored.chain.entries, tmp_path, other)
        status, out, err = run(file, *given)
        assert status == 2, out
        assert "not a Cairn ledger export" in err


def forged(entries: list[Entry], folder: Path, workspace: str) -> Path:
    """An export in which the workspace is written otherwise and all hashes agree."""
    file = export(folder, entries)
    top, *lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    previous = sha256(WORKSPACE.bytes).hexdigest()
    written: list[Any] = []
    for line in lines:
        body = {"body": line.pop("body")}
        header = {k: v for k, v in line.items() if k not in ("prev_hash", "hash")}
        header["workspace_id"] = workspace
        seal = sha256(b"\x01" + bytes.fromhex(previous) + canonical_bytes(header)).hexdigest()
        written.append(header | body | {"prev_hash": previous, "hash": seal})
        previous = seal
    top |= {"workspace_id": workspace, "head": {"position": len(lines), "hash": previous}}
    file.write_text("\n".join(map(json.dumps, [top, *written])), encoding="utf-8")
    return file


def test_a_chain_without_an_anchor_of_its_own_fails(anchored: Anchored, tmp_path: Path) -> None:
    """No anchors at all, another workspace's, and unsigned ones: held to nothing."""
    kept = dict(anchored.store.objects)
    anchored.store.objects.clear()
    status, found = check(anchored, tmp_path)
    assert (status, found["reason"]) == (1, "anchors")
    assert found["anchors"] == {"trusted": 0, "faults": [{"reason": "unanchored"}]}
    anchored.store.objects["heads/w/old.json"] = b'{"hash": "00", "position": 1}'
    status, found = check(anchored, tmp_path)
    assert (status, found["anchors"]["trusted"]) == (1, 0)
    anchored.store.objects = kept
    others = [replace(new_entry(n), workspace_id=OTHER_WORKSPACE) for n in range(9)]
    chain, anchored.chain.entries = (
        anchored.chain.entries,
        seal(empty_head(OTHER_WORKSPACE), others, anchored.now),
    )
    status, found = check(anchored, tmp_path)
    assert (status, found["anchors"]["trusted"]) == (1, 0)
    assert {fault["reason"] for fault in found["anchors"]["faults"]} == {"foreign", "unanchored"}
    anchored.chain.entries = chain
    assert check(anchored, tmp_path)[0] == 0


def test_an_anchor_with_a_key_twice_is_malformed(anchored: Anchored, tmp_path: Path) -> None:
    """Which of the two was signed must not be a matter of who reads it."""
    key = anchored.store.keys("")[0]
    stored = anchored.store.objects[key]
    anchored.store.objects[key] = b'{"position":1,' + stored[1:]
    status, found = check(anchored, tmp_path)
    assert (status, found["anchors"]["faults"][0]["reason"]) == (1, "malformed")
    assert AnchorFault.MALFORMED in [fault.reason for fault in anchored.verify().anchors.faults]


def test_unsigned_ones_are_told_and_other_rubbish_fails(anchored: Anchored, tmp_path: Path) -> None:
    anchored.store.objects["heads/w/old.json"] = b'{"hash": "00", "position": 1}'
    status, found = check(anchored, tmp_path)
    assert (status, found["anchors"]["faults"][0]["reason"]) == (0, "unsigned")
    anchored.store.objects["heads/w/odd.json"] = b"\xff\xfe"
    status, found = check(anchored, tmp_path)
    assert (status, found["anchors"]["faults"][0]["reason"]) == (1, "malformed")


def test_anchors_signed_by_kms_are_checked_with_its_public_key(tmp_path: Path) -> None:
    made, key = Anchored(tmp_path), KmsLike()
    made.key = key  # type: ignore[assignment]
    made.day()
    made.day()
    public = tmp_path / "kms.der"
    der = key.public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    public.write_bytes(der)
    assert made.verify().ok
    assert check(made, tmp_path, public)[0] == 0
    wrong = public_key_path(tmp_path / "signing.pem")
    status, found = check(made, tmp_path, wrong)
    assert (status, found["anchors"]["trusted"]) == (1, 0)


def test_anchors_without_a_key_or_with_a_file_that_is_none_are_told(
    anchored: Anchored, tmp_path: Path
) -> None:
    file = export(tmp_path, anchored.chain.entries)
    assert run(file, "--anchors", tmp_path)[0] == 2
    junk = tmp_path / "junk.pem"
    junk.write_bytes(base64.b64encode(b"junk"))
    assert run(file, "--anchors", tmp_path, "--public-key", junk)[0] == 2
