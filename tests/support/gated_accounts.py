"""A connector of one locked account, as a process without the SDK, that waits where it is told to.

    python gated_accounts.py FOLDER [repeats]

FOLDER tells and is told everything: `calls` has a line for each call of a tool, `effects` a line
for each time the account was really unlocked. While `hold-before` or `hold-after` is there, an
unlock waits before or after its effect and says so in `held`. It knows keys, and unlocks once under
one, unless it `repeats`. It ends with whoever started it.
"""

import json
import os
import sys
import time
from pathlib import Path

FOLDER = Path(sys.argv[1])
REPEATS = len(sys.argv) > 2
USER = {
    "user_id": "u-1",
    "email": "ada@harbour.example",
    "name": "Ada",
    "status": "locked",
    "failed_sign_ins": 7,
}
TEXT = {"type": "string"}


def declared(scope, **more):
    return {"_meta": {"cairn/tool": {"scope": scope, **more}}}


def schema(**properties):
    needed = [name for name in properties if name not in ("reason", "idempotency_key", "dry_run")]
    return {"inputSchema": {"type": "object", "properties": properties, "required": needed}}


TOOLS = [
    {"name": "find_user", **schema(email=TEXT), **declared("read")},
    {"name": "sign_ins", **schema(user_id=TEXT), **declared("read")},
    {
        "name": "unlock_user",
        **schema(user_id=TEXT, reason=TEXT, idempotency_key=TEXT, dry_run={"type": "boolean"}),
        **declared("write", idempotent=not REPEATS, supports_dry_run=True),
    },
]


def add(name, line):
    with (FOLDER / name).open("a", encoding="utf-8") as lines:
        lines.write(line + "\n")


def lines(name):
    path = FOLDER / name
    return path.read_text("utf-8").splitlines() if path.exists() else []


def hold(name):
    """Wait while the file is there; an orphan ends, and what it was about to do is not done."""
    if (FOLDER / name).exists():
        add("held", name)
    parent = os.getppid()
    while (FOLDER / name).exists() and os.getppid() == parent:
        time.sleep(0.01)
    if os.getppid() != parent:
        sys.exit(1)


def unlock(key):
    hold("hold-before")
    if REPEATS or key not in lines("effects"):
        add("effects", key)
    hold("hold-after")
    return {"user_id": USER["user_id"], "after": {"status": "active"}}


def called(name, given):
    add("calls", f"{name} {given.get('idempotency_key', '')}".strip())
    if name == "find_user":
        return {"users": [{**USER, "status": "active" if lines("effects") else "locked"}]}
    if name == "sign_ins":
        failed = {"outcome": "failed", "address": "203.0.113.7", "at": "2026-03-01T12:00:00Z"}
        return {"user_id": USER["user_id"], "sign_ins": [failed] * 7}
    if given.get("dry_run"):
        return {"dry_run": True, "user_id": USER["user_id"], "after": {"status": "active"}}
    return unlock(given.get("idempotency_key", "none"))


def answered(method, given):
    if method == "initialize":
        return {
            "protocolVersion": given["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "gated", "version": "1.0.0"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        text = json.dumps(called(given["name"], given.get("arguments") or {}))
        return {"content": [{"type": "text", "text": text}]}
    return {}


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") is None:
            continue
        result = answered(message["method"], message.get("params") or {})
        sys.stdout.write(
            json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\n"
        )
        sys.stdout.flush()


main()
