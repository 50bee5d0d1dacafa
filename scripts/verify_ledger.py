"""Check a Cairn ledger export offline: python verify_ledger.py EXPORT [--keys FILE] [--json].

It shares no code with Cairn; docs/ledger.md describes what it checks and its exit status.
"""

import argparse
import base64
import hashlib
import json
import sys
import uuid
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


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


def recoded(text):
    """Return the canonical form of a JSON object in text, or None when it has none."""
    try:
        return canonical(dict(json.loads(text)))
    except (ValueError, TypeError, RecursionError):
        return None


def fault(entry, position, previous, recorded_at, workspace):
    """Return the reason why `entry` may not follow, or None."""
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


def check(lines, keys):
    """Walk the export; return what was found, with `position` and `reason` when it is bad."""
    top = json.loads(next(lines, ""))
    head, workspace = top["head"], top["workspace_id"]
    if top["format"] != "cairn-ledger-1":
        raise ValueError("unknown format")
    position, recorded_at, opened = 0, "", 0
    previous, reason = hashlib.sha256(uuid.UUID(workspace).bytes).hexdigest(), None
    for line in lines:
        try:
            entry = json.loads(line)
            reason = fault(entry, position + 1, previous, recorded_at, workspace)
            opened += not reason and open_body(entry, keys)
        except (InvalidTag, ValueError, KeyError, TypeError, AttributeError) as exc:
            reason = "body-not-authentic" if isinstance(exc, InvalidTag) else "malformed"
        if reason is not None:
            break
        position, previous, recorded_at = position + 1, entry["hash"], entry["recorded_at"]
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
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    try:
        keys = json.loads(given.keys.read_bytes()) if given.keys else {}
        with given.export.open(encoding="utf-8") as lines:
            found = check(lines, keys)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        sys.stderr.write(f"not a Cairn ledger export, or not a key file: {exc!r:.200}\n")
        return 2
    good = "OK: {checked} entries, head {head}, {bodies_opened} bodies opened"
    bad = "BAD at position {first_bad_position}: {reason} ({checked} entries before are good)"
    text = json.dumps(found) if given.json else (good if found["ok"] else bad).format(**found)
    sys.stdout.write(text + "\n")
    return 0 if found["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
