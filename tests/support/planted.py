"""Things of every kind whose texts try to be more than texts: markup, scripts, long words, Arabic.

For tests that look at pages which show what others wrote.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MARKUP = (
    "javascript:window.hit=1 "
    "\"'><b data-planted>bold</b><img data-planted src=x onerror='window.hit = 1'>"
    "<script>window.hit = 1</script><svg data-planted onload='window.hit = 1'>"
    "{{ 7 * 7 }}${7 * 7}"
)
LONG = "W" * 180
ARABIC = "\u202e\u0645\u0631\u062d\u0628\u0627\u202c \u0645\u0631\u062d\u0628\u0627"
NAME = f'"><b data-planted>{ARABIC}</b>{LONG[:60]}'
TEXT = f"{MARKUP} {ARABIC} {LONG * 3}"


def plant(post: Callable[[str, dict[str, Any]], Any]) -> None:
    """Make one thing of each kind that a key may make, by `post`, which returns the answer."""
    session, client = NAME, NAME
    for kind, more in (
        ("fact", {"key": NAME, "session_id": session, "source_agent": NAME}),
        ("status", {"subject": NAME, "status_value": NAME, "trace_id": NAME}),
        ("event", {"data_subjects": [f"client:{NAME}"]}),
    ):
        body = {"text": f"{kind} {TEXT}", "type": kind, "client_id": client, **more}
        post("/v1/memories", body | {"metadata": {NAME: TEXT}})
    post("/v1/memories", {"text": f"Ada of {MARKUP} met Bob of Acme.", "type": "fact"})
    for role in ("user", "assistant"):
        said = {"role": role, "text": TEXT, "sender": NAME, "client_id": client}
        post("/v1/conversations/messages", {"channel": "api", "session_id": session, **said})
    post("/v1/events", {"type": "action.failed", "text": TEXT, "session_id": session})
    post("/v1/reports", {"title": NAME, "body": TEXT, "keywords": [NAME[:60]]})
    post("/v1/tasks", {"kind": "planted", "title": NAME, "inputs": {"what": TEXT}})
    post("/v1/nodes", {"label": "Person", "properties": {"name": NAME, "text": TEXT}})
    post("/v1/tickets", {"title": NAME, "body": TEXT, "customer": NAME, "priority": "low"})
    post("/v1/keys", {"name": NAME, "role": "agent"})
    post("/v1/people", {"login": "planted@example.org", "name": NAME, "role": "reader"})
    post("/v1/agents", {"slug": "planted", "name": NAME, "description": TEXT[:400]})
    post("/v1/personas", {"name": "planted", "instructions": TEXT})
    post("/v1/incoming-webhooks", {"name": NAME})
    post("/v1/networks", {"name": NAME, "prompt": TEXT})
    known = {"name": NAME, "organisation": NAME, "title": NAME, "note": TEXT, "phone": "030 1234"}
    post("/v1/contacts", {**known, "client_id": client})
    post(
        "/v1/contacts",
        {"name": MARKUP[:200], "address": "planted@example.org", "client_id": client},
    )
    steps = [{"name": "one", "kind": "recall", "query": f"What of {NAME}?"}]
    post("/v1/workflows", {"name": "planted", "description": TEXT[:400], "steps": steps})
    post("/v1/search", {"query": TEXT[:800], "session_id": session})
