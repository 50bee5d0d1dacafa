"""Approvals: the inbox of questions to people, one of them to decide on, and standing grants.

A yes is sent with the binding of what was shown, so nobody approves what they did not see. Not the
rules: `investigations.approvals` takes the decision.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.guard import Visitor, form_from, id_of
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.investigations.approvals import AlreadyDecided
from cairn.investigations.ports import ApprovalState, QuestionView
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import CairnError, Conflict, FieldError, NotFound, ValidationFailed
from cairn.safety.grants import MAX_DAYS, MAX_USES, NewGrant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.investigations.views import ApprovalView
    from cairn.kernel.text.json_value import JsonValue

INBOX, GRANTS = "/console/approvals", "/console/grants"
SHOWN = 20
ARGUMENT = "argument."
LONG_TEXT = 60
"""Characters of a text above which it is edited over several lines."""

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A question in the inbox; `content` is None for who does not decide, and once forgotten."""

    question: QuestionView
    content: ApprovalView | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """A value that may be changed before it is approved; `is_json` unless it is a text."""

    name: str
    text: str
    is_json: bool

    @property
    def rows(self) -> int:
        """Return how many lines it is edited over; 0 for one that fits a line."""
        lines = self.text.count("\n") + 1 + len(self.text) // LONG_TEXT
        return min(lines, 12) if lines > 1 else 0


@routes.get(INBOX)
def show_inbox(
    request: Request, visitor: Reader, state: str = "pending", before: str | None = None
) -> Response:
    """Show what people were asked, by default what waits."""
    questions = visitor.services.investigations.approvals(
        visitor.principal,
        state=pages.choice_or_all(ApprovalState, state),
        before=id_of(before) if before else None,
        limit=SHOWN + 1,
    )
    return shown(
        request,
        visitor,
        "approvals.html",
        items=[_item(visitor, each) for each in questions[:SHOWN]],
        older=questions[SHOWN - 1].id if len(questions) > SHOWN else None,
        state=state,
        states=pages.choices(ApprovalState, "pending"),
        address=f"{INBOX}?{request.url.query}" if request.url.query else INBOX,
    )


def _item(visitor: Visitor, question: QuestionView) -> Item:
    content = None
    if visitor.works and question.state is ApprovalState.PENDING:
        try:
            content = visitor.services.approvals.get(visitor.principal, question.id)
        except NotFound:
            content = None  # whom it was about was forgotten meanwhile
    return Item(question=question, content=content)


@routes.get(INBOX + "/{approval_id}")
def show_question(request: Request, visitor: Reader, approval_id: str) -> Response:
    """Show everything to decide on, and how it was decided."""
    return _question(request, visitor, id_of(approval_id), {})


@routes.post(INBOX + "/{approval_id}/{decision}")
def decide(request: Request, body: Body, approval_id: str, decision: str) -> Response:
    """Take a decision; whoever comes second is told who was first, and what they wrote stays."""
    (visitor, form), question = form_from(request, body), id_of(approval_id)
    if decision not in ("approve", "edit", "reject"):
        raise NotFound("There is no such decision.")
    try:
        _DECISIONS[decision](visitor, question, form)
    except (Conflict, ValidationFailed) as error:
        return _question(
            request, visitor, question, form, **pages.refusal(error, _explained(visitor, error))
        )
    return pages.go_to(f"{INBOX}/{question}")


def _question(
    request: Request,
    visitor: Visitor,
    approval_id: UUID,
    form: Mapping[str, str],
    *,
    wrong: str = "",
    status: int = 200,
) -> Response:
    services = visitor.services
    view = services.approvals.get(visitor.principal, approval_id)
    waiting = services.investigations.approvals(
        visitor.principal, state=ApprovalState.PENDING, before=None, limit=SHOWN
    )
    return shown(
        request,
        visitor,
        "approval.html",
        status=status,
        view=view,
        open=view.state is ApprovalState.PENDING and view.expires_at > utc_now(),
        who=_who(visitor, view.decided_by),
        next=next((each.id for each in reversed(waiting) if each.id != approval_id), None),
        fields=[_field(name, value, form) for name, value in view.arguments.items()],
        form=form,
        wrong=wrong,
        most=(MAX_USES, MAX_DAYS),
    )


def _who(visitor: Visitor, principal_id: UUID | None) -> str:
    """Return who decided, for people: a name, or that it was a key."""
    if principal_id is None:
        return ""
    if principal_id == visitor.principal.principal_id:
        return "You"
    name = visitor.services.people.name_of(visitor.principal, principal_id)
    return name or f"Somebody with a key ({principal_id})"


def _explained(visitor: Visitor, error: CairnError) -> str:
    """Return what went wrong, and what happened instead."""
    if isinstance(error, AlreadyDecided):
        by = error.fields.get("decided_by")
        who = _who(visitor, id_of(str(by))) if by else "Nobody in time"
        return f"{who} decided before you: {error.fields['decision']}. Nothing of yours was done."
    details = [f"{each.location}: {each.message}" for each in getattr(error, "errors", ())]
    return " ".join([error.detail, *details])


def _field(name: str, value: JsonValue, form: Mapping[str, str]) -> Argument:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    typed = form.get(f"{ARGUMENT}{name}")
    return Argument(name=name, text=text if typed is None else typed, is_json=text is not value)


# Decisions


def _approve(visitor: Visitor, approval_id: UUID, form: Mapping[str, str]) -> None:
    reason, uses = form.get("reason", "").strip(), _number(form, "uses", MAX_USES)
    days = _number(form, "days", MAX_DAYS)
    if uses and not (reason and days):
        raise _wrong("reason", "say why agents need not ask again, and for how many days")
    visitor.services.approvals.approve(
        visitor.principal, approval_id, binding=form.get("binding", ""), reason=reason
    )
    if uses:
        _grant(visitor, approval_id, uses=uses, days=days, reason=reason)


def _grant(visitor: Visitor, approval_id: UUID, *, uses: int, days: int, reason: str) -> None:
    """Let agents do the same, with these arguments exactly, without asking."""
    view = visitor.services.approvals.get(visitor.principal, approval_id)
    new = NewGrant(
        tool=view.tool,
        arguments=None,
        expires_at=utc_now() + timedelta(days=days),
        max_uses=uses,
        reason=reason,
        approval_id=approval_id,
    )
    try:
        visitor.services.make_grant(visitor.principal, new, as_asked=True)
    except CairnError as error:
        raise Conflict(
            f"You approved it this once. The standing grant was not made: {error.detail}",
            reason=error.reason,
        ) from error


def _reject(visitor: Visitor, approval_id: UUID, form: Mapping[str, str]) -> None:
    reason = form.get("reason", "").strip()
    if not reason:
        raise _wrong("reason", "say why: the agent is told, and tries another way")
    visitor.services.approvals.reject(visitor.principal, approval_id, reason=reason)


def _edit(visitor: Visitor, approval_id: UUID, form: Mapping[str, str]) -> None:
    reason = form.get("reason", "").strip()
    if not reason:
        raise _wrong("reason", "say why you changed it: the agent is told")
    before = visitor.services.approvals.get(visitor.principal, approval_id).arguments
    arguments = {name: _value(name, value, form) for name, value in before.items()}
    arguments |= _more(form.get("more", "").strip())
    if arguments == dict(before):
        raise _wrong("arguments", "nothing was changed; approve it as it is")
    visitor.services.approvals.edit(
        visitor.principal,
        approval_id,
        binding=form.get("binding", ""),
        arguments=arguments,
        reason=reason,
    )


_DECISIONS = {"approve": _approve, "edit": _edit, "reject": _reject}


def _value(name: str, before: JsonValue, form: Mapping[str, str]) -> JsonValue:
    """Return an argument as it was typed; browsers send lines with carriage returns."""
    text = form.get(f"{ARGUMENT}{name}")
    if text is None:
        return before
    if isinstance(before, str):
        return text if "\r" in before else text.replace("\r\n", "\n")
    return _parsed(name, text)


def _more(text: str) -> dict[str, Any]:
    if not text:
        return {}
    parsed = _parsed("more", text)
    if not isinstance(parsed, dict):
        raise _wrong("more", 'is no JSON object, such as {"notify": true}')
    return cast("dict[str, Any]", parsed)


def _parsed(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _wrong(name, "is no JSON: a number, true, null, or a text in quotes") from error


def _number(form: Mapping[str, str], name: str, most: int) -> int:
    text = form.get(name, "").strip() or "0"
    if not (text.isascii() and text.isdecimal() and len(text) <= 6 and int(text) <= most):
        raise _wrong(name, f"is a number up to {most}")
    return int(text)


def _wrong(field: str, message: str) -> ValidationFailed:
    return ValidationFailed(
        "Nothing was done yet.", reason="form", errors=[FieldError(field, message)]
    )


# Standing grants


@routes.get(GRANTS)
def show_grants(request: Request, visitor: Reader, before: str | None = None) -> Response:
    """Show what agents may do without asking, and how often they did."""
    grants = visitor.services.grants.page(
        visitor.principal, before=id_of(before) if before else None, limit=SHOWN + 1
    )
    return shown(
        request,
        visitor,
        "grants.html",
        grants=_with_makers(visitor, grants[:SHOWN]),
        older=grants[SHOWN - 1].id if len(grants) > SHOWN else None,
    )


def _with_makers(visitor: Visitor, grants: Sequence[Any]) -> list[tuple[Any, str, bool]]:
    """Return each grant, who made it, and whether it is in force."""
    makers = {each.made_by: "" for each in grants}
    names = {maker: _who(visitor, maker) for maker in makers}
    now = utc_now()
    return [(each, names[each.made_by], each.in_force(now)) for each in grants]


@routes.post(GRANTS + "/{grant_id}/revoke")
def revoke_grant(request: Request, body: Body, grant_id: str) -> Response:
    """Revoke one at once."""
    visitor, _ = form_from(request, body)
    visitor.services.grants.revoke(visitor.principal, id_of(grant_id))
    return pages.go_to(GRANTS)
