"""The pages of audit: who did what to whom signs in, keys, settings and the rest; and the checks.

What is shown are entries of the ledger, read newest first; nothing is kept of its own.
"""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from cairn.api.console import pages
from cairn.api.console.guard import Visitor
from cairn.api.console.routes import ConsoleRoute, Reader, shown
from cairn.kernel.access import Role
from cairn.kernel.errors import CairnError, NotFound, ValidationFailed
from cairn.reading.views import LedgerEntryView

AUDIT = "/console/audit"
SHOWN, EXPORTED, BATCH = 50, 10_000, 500
GROUPS: Mapping[str, str] = {
    "people": "person.added person.changed person.removed person.link_made person.attempted "
    "person.signed_in person.session_renewed person.signed_out person.password_set "
    "person.passkey_added person.passkey_removed person.linked person.tied person.untied "
    "scim.token_made scim.token_revoked scim.user_removed scim.user_renamed scim.group_added "
    "scim.group_changed scim.group_removed scim.group_role_set",
    "keys": "key.created key.revoked key.bound",
    "agents": "agent.registered agent.changed agent.baked persona.changed grant.made grant.revoked "
    "approval.granted approval.edited approval.rejected workflow.changed workflow.decided",
    "settings": "settings.changed redaction.changed escalation.channel_added "
    "escalation.channel_removed widget.set widget.removed channel.added channel.changed "
    "channel.removed channel.tied channel.untied",
    "connections": "connector.registered connector.changed connector.checked connector.restarted "
    "connector.removed connector.sign_in_begun connector.signed_in connector.signed_out "
    "ticket_source.registered ticket_source.changed ticket_source.removed "
    "ticket_source.sign_in_begun ticket_source.signed_in ticket_source.signed_out "
    "webhook.created webhook.removed incoming_webhook.created incoming_webhook.rotated "
    "incoming_webhook.removed",
    "data": "export.made subject.forgotten source.forgotten taint.applied taint.extended "
    "taint.lifted rebuild.completed reindex.requested workspace.created workspace.deleted",
}
"""The entries of each part of the page."""
COLUMNS = ("position", "recorded_at", "type", "actor_kind", "actor_id", "who", "meta", "hash")

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A check of the deployment: what it says, and what to do where it is not well."""

    name: str
    ok: bool
    says: str
    advice: str = ""


@routes.get(AUDIT)
def show_audit(
    request: Request, visitor: Reader, part: str = "all", before: str | None = None
) -> Response:
    """Show who did what, the newest first."""
    entries = visitor.services.browse.list_newest(
        visitor.principal, _types(part), before=_position(before), limit=SHOWN + 1
    )
    names = _names(visitor)
    return shown(
        request,
        visitor,
        "audit.html",
        entries=[(each, _who(each, names)) for each in entries[:SHOWN]],
        older=entries[SHOWN - 1].position if len(entries) > SHOWN else None,
        part=part,
        parts=["all", *GROUPS],
        namespace=_types(part)[0].partition(".")[0],
    )


@routes.get(AUDIT + "/export.{form}")
def export_audit(
    visitor: Reader, form: str, part: str = "all", before: str | None = None
) -> Response:
    """Return the newest entries of a part as a file; `before` goes on below a position."""
    visitor.principal.require(Role.ADMIN)
    if form not in ("csv", "jsonl"):
        raise NotFound("There is no such export; csv and jsonl there are.")
    rows = _rows(visitor, _types(part), _position(before))
    lines = _csv(rows) if form == "csv" else (json.dumps(row) + "\n" for row in rows)
    media_type = "text/csv; charset=utf-8" if form == "csv" else "application/x-ndjson"
    headers = {"content-disposition": f'attachment; filename="cairn-audit-{part}.{form}"'}
    return StreamingResponse(lines, media_type=media_type, headers={**pages.HEADERS, **headers})


@routes.get(AUDIT + "/checks")
def show_checks(request: Request, visitor: Reader, run: str = "") -> Response:
    """Show the checks; the page asks for what they say once it stands."""
    visitor.principal.require(Role.ADMIN)
    checks = [_checked(visitor, name, check) for name, check in _CHECKS] if run else None
    return shown(request, visitor, "checks.html", checks=checks)


def _types(part: str) -> Sequence[str]:
    if part != "all" and part not in GROUPS:
        raise ValidationFailed(f"There is no such part; choose all, {', '.join(GROUPS)}.")
    return (" ".join(GROUPS.values()) if part == "all" else GROUPS[part]).split()


def _position(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 15):
        raise ValidationFailed("before is a position of the ledger.")
    return int(text)


def _names(visitor: Visitor) -> Mapping[str, str]:
    """Return who signs in, by id."""
    return {str(each.id): each.name for each in visitor.services.people.all(visitor.principal)}


def _who(entry: LedgerEntryView, names: Mapping[str, str]) -> str:
    """Return who did it, for people."""
    if entry.actor_kind == "system":
        return "Cairn"
    return names.get(entry.actor_id, "a key, or somebody who is gone")


def _rows(visitor: Visitor, types: Sequence[str], before: int | None) -> Iterator[dict[str, Any]]:
    """Yield entries as rows of a file, EXPORTED at most."""
    names, left = _names(visitor), EXPORTED
    while left:
        batch = visitor.services.browse.list_newest(
            visitor.principal, types, before=before, limit=min(BATCH, left)
        )
        for each in batch:
            row = {name: getattr(each, name, None) for name in COLUMNS}
            moment = each.recorded_at.isoformat()
            yield row | {"recorded_at": moment, "who": _who(each, names)}
        if len(batch) < BATCH:
            return
        before, left = batch[-1].position, left - len(batch)


def _csv(rows: Iterator[dict[str, Any]]) -> Iterator[str]:
    """Yield lines of CSV; what a spreadsheet would take for a formula begins with an apostrophe."""
    yield ",".join(COLUMNS) + "\r\n"
    for row in rows:
        line = io.StringIO()
        values = [row[name] for name in COLUMNS]
        texts = [json.dumps(each) if isinstance(each, dict) else str(each) for each in values]
        csv.writer(line).writerow(
            [f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text for text in texts]
        )
        yield line.getvalue()


# Checks


def _checked(visitor: Visitor, name: str, check: Callable[[Visitor], Check]) -> Check:
    try:
        return check(visitor)
    except CairnError as error:
        return Check(name=name, ok=False, says=error.detail, advice="cairn logs")


def _work(visitor: Visitor) -> Check:
    backlog = visitor.services.check_ready()
    says = f"{backlog.topic} has waited {backlog.minutes}" if backlog.topic else "nothing waits"
    advice = "cairn doctor says which worker is down" if backlog.behind else ""
    return Check(name="work", ok=not backlog.behind, says=says, advice=advice)


def _vectors(visitor: Visitor) -> Check:
    status = visitor.services.browse.get_status(visitor.principal)
    says = f"{status.pending_embeddings} wait for a vector, {status.failed_embeddings} failed"
    advice = "cairn reindex --wait" if status.failed_embeddings else ""
    return Check(name="vectors", ok=not status.failed_embeddings, says=says, advice=advice)


def _discovery(visitor: Visitor) -> Check:
    status = visitor.services.browse.get_status(visitor.principal)
    says = (
        f"{status.failing_discovery} fail again and again, "
        f"{status.intents_in_no_network} active intents are in no network"
    )
    ok = not status.failing_discovery and not status.intents_in_no_network
    return Check(name="discovery", ok=ok, says=says, advice="" if ok else "cairn feed maintain")


def _agents(visitor: Visitor) -> Check:
    agents = visitor.services.agents.all(visitor.principal)
    drifted = [each.slug for each in agents if each.disabled == "tool-drift"]
    says = f"{len(agents)} registered"
    if drifted:
        says += f"; their lists name what is no tool: {', '.join(drifted)}"
    advice = "cairn agents set SLUG --tool NAME" if drifted else ""
    return Check(name="agents", ok=not drifted, says=says, advice=advice)


def _connectors(visitor: Visitor) -> Check:
    connectors = visitor.services.connectors.all(visitor.principal)
    ill = [each.connector.name for each in connectors if not each.is_well]
    says = f"{len(connectors)} connectors" + (f"; not well: {', '.join(ill)}" if ill else "")
    advice = "look at them under Connectors" if ill else ""
    return Check(name="connectors", ok=not ill, says=says, advice=advice)


def _sources(visitor: Visitor) -> Check:
    sources = visitor.services.ticket_sources.all(visitor.principal)
    ill = [each.name for each in sources if each.error]
    says = f"{len(sources)} help desks" + (f"; not well: {', '.join(ill)}" if ill else "")
    advice = "look at them under Ticket sources" if ill else ""
    return Check(name="ticket sources", ok=not ill, says=says, advice=advice)


def _orphans(visitor: Visitor) -> Check:
    orphans = visitor.services.find_orphans(visitor.principal)
    lost = [
        f"{each.count} {kind.replace('_', ' ')}" for kind, each in orphans.items() if each.count
    ]
    says = ", ".join(lost) or "no row lost what it belongs to"
    return Check(name="rows", ok=not lost, says=says, advice="cairn rebuild" if lost else "")


def _ledger(visitor: Visitor) -> Check:
    result = visitor.services.verify_anchors(visitor.principal)
    faults = sorted({each.reason.value for each in result.anchors.faults})
    says = f"{result.checked} entries hold, {result.anchors.trusted} anchors agree"
    if result.first_bad_position is not None:
        says = f"broken at {result.first_bad_position}: {result.reason}"
    elif result.missing_keys:
        says = f"{len(result.missing_keys)} keys are gone though nobody was forgotten"
    says += f"; of anchors: {', '.join(faults)}" if faults else ""
    advice = "" if result.ok else "compare with an earlier export; do not write on"
    return Check(name="ledger", ok=result.ok, says=says, advice=advice)


_CHECKS: Sequence[tuple[str, Callable[[Visitor], Check]]] = (
    ("work", _work),
    ("vectors", _vectors),
    ("discovery", _discovery),
    ("agents", _agents),
    ("connectors", _connectors),
    ("ticket sources", _sources),
    ("rows", _orphans),
    ("ledger", _ledger),
)
