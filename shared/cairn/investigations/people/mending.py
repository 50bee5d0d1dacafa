"""What has to be authorised again before a ticket goes on, and how that is done. Pure."""

from __future__ import annotations

from cairn.investigations.people.views import MendView


def mends(waits_for: str | None) -> tuple[MendView, ...]:
    """Return what a ticket waits for, as `connector:<name>` or `source:<name>` says it."""
    kind, _, name = (waits_for or "").partition(":")
    if not name:
        return ()
    if kind == "connector":
        path, command = f"/v1/connectors/{name}", f"cairn connectors set {name} --secret NAME"
    else:
        path, command = "/v1/ticket-sources", f"cairn ticket-sources set {name} --secret NAME"
    return (MendView(kind=kind, name=name, path=path, command=command),)
