"""Check a Cairn ledger export offline: python verify_ledger.py EXPORT [--keys FILE] [--json].

With --anchors FOLDER --public-key FILE it is also held to the signed heads in FOLDER. It shares
no code with Cairn; docs/ledger.md describes what it checks and its exit status.
"""

import argparse
import base64
import hashlib
import json
import sys
import uuid
from pathlib import Path

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import load_der_public_key, load_pem_public_key


def canonical(value):
    """Return canonical JSON text: RFC 8785 with integers below 2^53 and no other numbers."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(key)}:{canonical(value[key])}" for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    too_big = isinstance(value, int) and abs(value) >= 2**53
    if too_big or isinstance(value, float) or "\0" in str(value):
        raise ValueError("a number or character without canonical form")
    return json.dumps(value, ensure_ascii=False)


def unique(pairs):
    """Return the members of a JSON object; ValueError for one with the same key twice."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("the same key twice")
    return dict(pairs)


def read_json(text):
    """Return what a JSON text says; ValueError for nesting without end and repeated keys."""
    try:
        return json.loads(text, object_pairs_hook=unique)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def is_canonical(*ids):
    """Return whether each is an id as Cairn writes it: lower case, with dashes, nothing else."""
    return all(str(uuid.UUID(each)) == each for each in ids)


def recoded(text):
    """Return the canonical form of a JSON object in text, or None when it has none."""
    try:
        return canonical(dict(read_json(text)))
    except (ValueError, TypeError, RecursionError):
        return None


def fault(entry, position, previous, recorded_at, workspace):
    """Return the reason why `entry` may not follow, or None."""
    named = [entry["id"], *entry["data_subjects"], *filter(None, [entry["parent_id"]])]
    if not is_canonical(entry["workspace_id"], *named) or type(entry["position"]) is not int:
        return "malformed"
    body = base64.b64decode(entry["body"], validate=True)
    covered = entry.keys() - {"body", "prev_hash", "hash"}
    header = canonical({name: entry[name] for name in covered}).encode()
    digest = hashlib.sha256(b"\x01" + bytes.fromhex(entry["prev_hash"]) + header).hexdigest()
    checks = (
        ("foreign-entry", entry["workspace_id"] == workspace),
        ("gap", entry["position"] == position),
        ("prev-mismatch", entry["prev_hash"] == previous),
        ("body-mismatch", hashlib.sha256(body).hexdigest() == entry["body_hash"]),
        ("meta-not-canonical", recoded(entry["meta"]) == entry["meta"]),
        ("hash-mismatch", digest == entry["hash"]),
        ("time-went-back", entry["recorded_at"] >= recorded_at),
    )
    return next((reason for reason, good in checks if not good), None)


def open_body(entry, keys):
    """Return whether the keys at hand open the body; InvalidTag when it or a key is forged."""
    sealed = base64.b64decode(entry["body"])
    subjects = entry["data_subjects"] or [entry["workspace_id"]]
    if not sealed or any(subject not in keys for subject in subjects):
        return False
    bound = uuid.UUID(entry["workspace_id"]).bytes + uuid.UUID(entry["id"]).bytes
    material = b"".join(uuid.UUID(name).bytes + bytes.fromhex(keys[name]) for name in subjects)
    key = HKDF(SHA256(), 32, None, b"cairn ledger body 1" + bound).derive(material)
    return isinstance(json.loads(AESGCM(key).decrypt(sealed[1:13], sealed[13:], bound)), dict)


def public_key(source):
    """Read a PEM or DER public key; one PEM, the first, where there are several."""
    end = b"-----END PUBLIC KEY-----"
    if end in source:
        return load_pem_public_key(source[: source.index(end) + len(end)])
    return load_der_public_key(source)


def read_anchor(stored, key):
    """Return an anchor whose signature holds, with its digest; else ValueError saying why not."""
    anchor = dict(read_json(stored))
    signature = anchor.pop("signature", None)
    if signature is None:
        raise ValueError("unsigned")
    value, content = bytes.fromhex(signature["value"]), canonical(anchor).encode()
    edwards = isinstance(key, Ed25519PublicKey)
    try:
        key.verify(value, content, *([] if edwards else [ECDSA(SHA256())]))
    except InvalidSignature:
        raise ValueError("not-authentic") from None
    if anchor["format"] != "cairn-anchor-1":
        raise ValueError("malformed")
    return anchor | {"digest": hashlib.sha256(stored).hexdigest()}


def read_anchors(folder, key, workspace):
    """Return the trusted anchors of `workspace` by number, and what is wrong with the others."""
    anchors, faults = {}, []
    for path in sorted(folder.rglob("*.json")):
        try:
            anchor = read_anchor(path.read_bytes(), key)
            if anchor["workspace_id"] != workspace:
                raise ValueError("foreign")
            anchors.setdefault(int(anchor["number"]), []).append(anchor)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
            known = (("unsigned",), ("not-authentic",), ("foreign",))
            told = exc.args[0] if exc.args in known else "malformed"
            faults.append({"file": path.name, "reason": told})
    if not anchors:
        faults.append({"reason": "unanchored"})
    for number in range(1, max(anchors, default=0) + 1):
        before = {each["digest"] for each in anchors.get(number - 1, [])} or {None}
        named = {each["previous"] for each in anchors.get(number, [])}
        if not named:
            faults.append({"number": number, "reason": "missing"})
        elif not named <= before and number - 1 in anchors:
            faults.append({"number": number - 1, "reason": "missing"})
    return [each for found in anchors.values() for each in found], faults


def held_to(found, hashes, anchors, faults):
    """Return `found` with what the anchors say: the first position that has another hash."""
    held = {"trusted": len(anchors), "faults": faults}
    found = found | {"anchors": held}
    wrong = [at["position"] for at in anchors if hashes.get(at["position"]) != at["hash"]]
    if found["ok"] and wrong:
        bad = min(min(wrong), found["checked"] + 1)
        found |= {"ok": False, "first_bad_position": bad, "reason": "head-mismatch"}
    elif found["ok"] and any(fault["reason"] != "unsigned" for fault in faults):
        found |= {"ok": False, "reason": "anchors"}
    return found


def check(lines, keys, hashes):
    """Walk the export; return what was found, with `position` and `reason` when it is bad.

    `hashes` gets the hash of each good position.
    """
    top = read_json(next(lines, ""))
    head, workspace = top["head"], top["workspace_id"]
    if top["format"] != "cairn-ledger-1" or not is_canonical(workspace):
        raise ValueError("unknown format")
    position, recorded_at, opened = 0, "", 0
    previous, reason = hashlib.sha256(uuid.UUID(workspace).bytes).hexdigest(), None
    for line in lines:
        try:
            entry = read_json(line)
            reason = fault(entry, position + 1, previous, recorded_at, workspace)
            opened += not reason and open_body(entry, keys)
        except (InvalidTag, ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
            reason = "body-not-authentic" if isinstance(exc, InvalidTag) else "malformed"
        if reason is not None:
            break
        position, previous, recorded_at = position + 1, entry["hash"], entry["recorded_at"]
        hashes[position] = previous
    bad = position + 1 if reason else None
    if reason is None and head != {"position": position, "hash": previous}:
        reason = "head-mismatch"
        bad = min(head["position"], position) + (head["position"] != position)
    found = {"ok": not reason, "first_bad_position": bad, "reason": reason, "checked": position}
    return found | {"workspace_id": workspace, "head": previous, "bodies_opened": opened}


def main():
    """Check what the command line names and return the exit status."""
    parser = argparse.ArgumentParser(description="Check a Cairn ledger export offline.")
    parser.add_argument("export", type=Path, help="NDJSON written by `cairn ledger export`")
    parser.add_argument("--keys", type=Path, help='JSON {"subject id": "key in hex"}: open bodies')
    parser.add_argument("--anchors", type=Path, help="a folder with the anchors' objects")
    parser.add_argument("--public-key", type=Path, help="PEM or DER: the key that signed them")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    if bool(given.anchors) != bool(given.public_key):
        parser.error("--anchors and --public-key go together")
    try:
        hashes = {}
        keys = read_json(given.keys.read_bytes()) if given.keys else {}
        with given.export.open(encoding="utf-8") as lines:
            found = check(lines, keys, hashes)
        if given.anchors:
            key = public_key(given.public_key.read_bytes())
            anchors = read_anchors(given.anchors, key, found["workspace_id"])
            found = held_to(found, hashes, *anchors)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        sys.stderr.write(f"not a Cairn ledger export, or not a key file: {exc!r:.200}\n")
        return 2
    good = "OK: {checked} entries, head {head}, {bodies_opened} bodies opened"
    if "anchors" in found:
        good += ", anchors: {anchors}"
    broken = found["first_bad_position"] is None
    bad = "BAD at position {first_bad_position}: {reason} ({checked} entries before are good)"
    bad = "BAD anchors: {anchors}" if broken else bad
    text = json.dumps(found) if given.json else (good if found["ok"] else bad).format(**found)
    sys.stdout.write(text + "\n")
    return 0 if found["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
