"""Check a Cairn ledger export offline, without Cairn's code; the rules: docs/operate/ledger.md."""

import argparse
import json
import sys
from base64 import b64decode
from functools import partial
from hashlib import sha256
from pathlib import Path
from uuid import UUID

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

MALFORMED = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


def canonical(value, without=()):
    """Return canonical JSON text: RFC 8785 with integers below 2^53 and no other numbers."""
    if isinstance(value, dict):
        keys = sorted(value.keys() - without, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(key)}:{canonical(value[key])}" for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    too_big = isinstance(value, int) and abs(value) >= 2**53
    if too_big or isinstance(value, float) or "\0" in str(value):
        raise ValueError("a number or character without canonical form")
    return json.dumps(value, ensure_ascii=False)


def distinct(members):
    """Return the members of a JSON object; ValueError when a key comes twice."""
    if len(dict(members)) < len(members):
        raise ValueError("the same key twice")
    return dict(members)


parsed = partial(json.loads, object_pairs_hook=distinct)


def read(text, checks):
    """Return the JSON object in `text` and the name of the first check it fails, or None."""
    found, name = None, "malformed"
    try:
        found = dict(parsed(text).items())
        for name, holds in checks.items():
            if not holds(found):
                return found, name
    except (InvalidSignature, InvalidTag, *MALFORMED):
        return found, name
    return found, None


def is_well_formed(entry):
    """Return whether ids are in lower case with dashes, and what is encoded can be decoded."""
    b64decode(entry["body"], validate=True), bytes.fromhex(entry["prev_hash"])
    ids = [entry["id"], entry["workspace_id"], entry["parent_id"], *entry["data_subjects"]]
    known = all(id_ is None or str(UUID(id_)) == id_ for id_ in ids)
    return known and type(entry["position"]) is int


def opens(entry, keys):
    """Return whether the keys at hand open the body; InvalidTag when it or a key is forged."""
    sealed, subjects = b64decode(entry["body"]), entry["data_subjects"] or [entry["workspace_id"]]
    if not sealed or not keys.keys() >= {*subjects}:
        return False
    bound = UUID(entry["workspace_id"]).bytes + UUID(entry["id"]).bytes
    material = b"".join(UUID(name).bytes + bytes.fromhex(keys[name]) for name in subjects)
    key = HKDF(SHA256(), 32, None, b"cairn ledger body 1" + bound).derive(material)
    return isinstance(json.loads(AESGCM(key).decrypt(sealed[1:13], sealed[13:], bound)), dict)


def check_chain(lines, keys):
    """Return what was found in an export, and the hash of every position; 0 is the genesis."""
    top = parsed(next(lines, ""))
    head, workspace, last = top["head"], top["workspace_id"], ""
    if top["format"] != "cairn-ledger-1" or str(UUID(workspace)) != workspace:
        raise ValueError("unknown format")
    hashes, opened, reason = [sha256(UUID(workspace).bytes).hexdigest()], 0, None

    def digest(entry):
        header = canonical(entry, without={"body", "prev_hash", "hash"}).encode()
        return sha256(b"\x01" + bytes.fromhex(hashes[-1]) + header).hexdigest()

    checks = {
        "malformed": is_well_formed,
        "foreign-entry": lambda e: e["workspace_id"] == workspace,
        "gap": lambda e: e["position"] == len(hashes),
        "prev-mismatch": lambda e: e["prev_hash"] == hashes[-1],
        "body-mismatch": lambda e: e["body_hash"] == sha256(b64decode(e["body"])).hexdigest(),
        "meta-not-canonical": lambda e: canonical(dict(parsed(e["meta"]))) == e["meta"],
        "hash-mismatch": lambda e: e["hash"] == digest(e),
        "time-went-back": lambda e: e["recorded_at"] >= last,
        "body-not-authentic": lambda e: opens(e, keys) is not None,
    }
    for line in lines:
        entry, reason = read(line, checks)
        if reason:
            break
        hashes.append(entry["hash"])
        last, opened = entry["recorded_at"], opened + opens(entry, keys)
    checked, bad = len(hashes) - 1, len(hashes) if reason else None
    if not reason and head != {"position": checked, "hash": hashes[-1]}:
        reason = "head-mismatch"
        bad = min(head["position"], checked) + (head["position"] != checked)
    found = {"ok": not reason, "first_bad_position": bad, "reason": reason, "checked": checked}
    return found | {"workspace_id": workspace, "head": hashes[-1], "bodies_opened": opened}, hashes


def check_anchors(folder, public, found, hashes):
    """Return what was found in an export with what the signed heads in `folder` say of it."""
    pem = b"-----BEGIN" in public
    key = (serialization.load_pem_public_key if pem else serialization.load_der_public_key)(public)
    how = [] if isinstance(key, ed25519.Ed25519PublicKey) else [ec.ECDSA(SHA256())]

    def is_signed(at):
        content, value = canonical(at, without={"signature"}), at["signature"]["value"]
        return key.verify(bytes.fromhex(value), content.encode(), *how) is None

    checks = {
        "unsigned": lambda at: "signature" in at,
        "not-authentic": is_signed,
        "malformed": lambda at: at["format"] == "cairn-anchor-1",
        "foreign": lambda at: at["workspace_id"] == found["workspace_id"],
    }
    trusted, faults = {}, []
    for path in sorted(folder.rglob("*.json")):
        stored = path.read_bytes()
        anchor, reason = read(stored, checks)
        if reason:
            faults.append({"file": path.name, "reason": reason})
        else:
            trusted[anchor["number"], sha256(stored).hexdigest()] = anchor
    there = {number for number, _ in trusted}
    before = {(at["number"] - 1, at["previous"]) for at in trusted.values()} - {(0, None)}
    missing = {*range(1, max(there, default=0))} - there | {
        number for number, _ in before - trusted.keys()
    }
    faults += [{"number": number, "reason": "missing"} for number in sorted(missing)]
    faults += [] if trusted else [{"reason": "unanchored"}]
    anchors = [(at["position"], at["hash"]) for at in trusted.values()]
    wrong = [position for position, hash_ in anchors if hashes[position:][:1] != [hash_]]
    if found["ok"] and wrong:
        bad = min(*wrong, len(hashes))
        found |= {"ok": False, "first_bad_position": bad, "reason": "head-mismatch"}
    elif found["ok"] and any(fault["reason"] != "unsigned" for fault in faults):
        found |= {"ok": False, "reason": "anchors"}
    return found | {"anchors": {"trusted": len(trusted), "faults": faults}}


def main():
    """Check what the command line names and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("export", type=Path, help="NDJSON written by `cairn ledger export`")
    parser.add_argument("--keys", type=Path, help='JSON {"subject id": "key in hex"}: open bodies')
    parser.add_argument("--anchors", type=Path, help="a folder with the anchors' objects")
    parser.add_argument("--public-key", type=Path, help="PEM or DER: the key that signed them")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    if bool(given.anchors) != bool(given.public_key):
        parser.error("--anchors and --public-key go together")
    try:
        keys = dict(parsed(given.keys.read_bytes())) if given.keys else {}
        with given.export.open(encoding="utf-8") as lines:
            found, hashes = check_chain(lines, keys)
        if given.anchors:
            found = check_anchors(given.anchors, given.public_key.read_bytes(), found, hashes)
    except (OSError, *MALFORMED) as exc:
        sys.stderr.write(f"not a Cairn ledger export, or not a key file: {exc!r:.200}\n")
        return 2
    good = "OK: {checked} entries, head {head}, {bodies_opened} bodies opened"
    bad = "BAD at position {first_bad_position}: {reason} ({checked} entries before are good)"
    bad = bad if found["first_bad_position"] is not None else "BAD anchors"
    told = (good if found["ok"] else bad).format(**found)
    told += f", anchors: {found['anchors']}" if given.anchors else ""
    sys.stdout.write((json.dumps(found) if given.json else told) + "\n")
    return 0 if found["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
