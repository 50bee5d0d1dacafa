"""Tools for what a person wants done about memories: list, correct, delete, forget, pin, exclude.

Deleting and forgetting ask first: the call without a confirmation changes nothing, and says what
would go.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, NotRequired
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.answers import encode
from cairn.api.dependencies import require_client
from cairn.api.fields import Body, Name
from cairn.api.mcp.tool import (
    ADMINS,
    WRITERS,
    Effect,
    RepeatKey,
    Tool,
    ToolAnswer,
    repeated,
)
from cairn.api.routes.forget import SubjectIn
from cairn.api.routes.memories import KindName, State
from cairn.api.routes.memory_edits import MemoryCorrection
from cairn.api.routes.memory_edits import Reason as WhyText
from cairn.bootstrap.api import ApiServices
from cairn.forgetting.forget import Target
from cairn.forgetting.ports import Reason
from cairn.kernel.access import Principal
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.kernel.text.canonical import format_timestamp
from cairn.kernel.text.hashes import sha256
from cairn.memories.edit import Edited, Mark
from cairn.reading.views import MemoryFilter, MemoryView

CONFIRM_WITHIN = timedelta(minutes=15)
SHOWN_CHARS = 300
NAMED = "As memory_recall names it"
Id = Annotated[UUID, Field(strict=False)]
Confirmation = Annotated[str, Field(max_length=100)]


class ListedMemory(TypedDict):
    """A memory in a list; what is not set is left out."""

    id: str
    type: str
    text: str
    state: str
    key: NotRequired[str]
    subject: NotRequired[str]
    occurred_at: NotRequired[str]
    pinned: NotRequired[bool]
    never_recall: NotRequired[bool]


class MemoryPage(TypedDict):
    """Memories, newest first, and where the next page begins."""

    items: list[ListedMemory]
    next_after: NotRequired[int]


class EditedMemory(TypedDict):
    """What became of an edit: the memory that stands now, and those it stands in the place of."""

    outcome: str
    id: UUID
    position: int
    replaced: NotRequired[list[UUID]]
    warnings: NotRequired[list[str]]


class PendingEdit(TypedDict):
    """A question that waits for the person's yes, or what was done after it."""

    state: Literal["pending", "deleted"]
    id: str
    text: NotRequired[str]
    position: NotRequired[int]
    confirmation: NotRequired[str]
    expires_at: NotRequired[str]


class AskedToForget(TypedDict):
    """What would go, with its confirmation; or the forgetting that was done."""

    state: Literal["pending", "forgotten"]
    id: NotRequired[str]
    nodes: NotRequired[int]
    confirmation: NotRequired[str]
    expires_at: NotRequired[str]


class ListArguments(Body):
    """Which memories; `after` is `next_after` of the answer before."""

    client_id: Name | None = None
    type: KindName | None = None
    key: Name | None = None
    subject: Name | None = None
    session_id: Name | None = None
    state: State = "active"
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    after: Annotated[int, Field(ge=1, le=2**53 - 1)] | None = None


class EditArguments(MemoryCorrection):
    """Which memory, what it is to say otherwise, and why. What is left out stays; null clears."""

    id: Id
    idempotency_key: RepeatKey | None = None

    def changes(self) -> dict[str, Any]:
        """Return the fields that were given."""
        about = ("id", "idempotency_key")
        return {name: value for name, value in super().changes().items() if name not in about}


class DeleteArguments(Body):
    """Which memory, and the person's yes."""

    id: Id
    confirmation: Confirmation = ""


class ForgetArguments(SubjectIn):
    """Who is to be forgotten, and the person's yes."""

    confirmation: Confirmation = ""


class PinArguments(Body):
    """Which memory, and whether it is pinned."""

    id: Id
    pinned: bool = True


class NeverRecallArguments(Body):
    """Which memory, whether it is kept from recall, and why."""

    id: Id
    never_recall: bool = True
    reason: WhyText | None = None


def _list(services: ApiServices, principal: Principal, arguments: ListArguments) -> ToolAnswer:
    require_client(services, principal, arguments.client_id)
    where = MemoryFilter(
        client_id=arguments.client_id,
        type=arguments.type,
        key=arguments.key,
        subject=arguments.subject,
        session_id=arguments.session_id,
        state=None if arguments.state == "any" else arguments.state,
    )
    page = services.browse.list_memories(
        principal, where, limit=arguments.limit, after=arguments.after
    )
    lines = [_line(memory) for memory in page.items]
    if page.next_after is not None:
        lines.append(f"more: ask again after {page.next_after}")
    structured = {"items": [_item(each) for each in page.items], "next_after": page.next_after}
    return ToolAnswer(text="\n".join(lines) or "There is no such memory.", structured=structured)


def _item(memory: MemoryView) -> dict[str, Any]:
    shown = {name: getattr(memory, name) for name in ListedMemory.__annotations__}
    marks = {name: True if shown[name] else None for name in ("pinned", "never_recall")}
    return {**shown, "type": memory.type.value, **marks}


def _line(memory: MemoryView) -> str:
    marks = [name for name in ("pinned", "never_recall") if getattr(memory, name)]
    text = " ".join(memory.text.split())[:SHOWN_CHARS]
    return f"[{memory.type.value}] {text} ({', '.join([memory.state, *marks, str(memory.id)])})"


def _edit(services: ApiServices, principal: Principal, arguments: EditArguments) -> ToolAnswer:
    repeat = repeated(arguments, arguments.idempotency_key)
    return _edited(
        services.edit_memories.correct(
            principal,
            arguments.id,
            arguments.changes(),
            reason=arguments.reason,
            idempotency=repeat,
        )
    )


def _delete(services: ApiServices, principal: Principal, arguments: DeleteArguments) -> ToolAnswer:
    now = utc_now()
    if not arguments.confirmation:
        memory = services.browse.get_memory(principal, arguments.id)
        confirmation = _pending_answer(principal, str(memory.id), now)
        summary = f"Nothing is deleted yet. Ask the person whether it is to be:\n{_line(memory)}"
        structured = {"id": memory.id, "text": memory.text, **confirmation}
        return ToolAnswer(
            text=_question(summary, "memory_delete", confirmation), structured=structured
        )
    _require_confirmed(arguments.confirmation, principal, str(arguments.id), now)
    done = services.delete_memory(principal, arguments.id)
    structured = {"state": "deleted", "id": done.id, "position": done.position}
    return ToolAnswer(text=f"deleted: {done.id}", structured=structured)


def _forget(services: ApiServices, principal: Principal, arguments: ForgetArguments) -> ToolAnswer:
    now, whom = utc_now(), f"{arguments.kind}:{arguments.natural_key}"
    target = Target(owner=(arguments.kind, arguments.natural_key))
    if not arguments.confirmation:
        plan = services.forget.plan(principal, target)
        confirmation = _pending_answer(principal, whom, now)
        summary = (
            f"Nothing is forgotten yet. {len(plan.node_ids)} nodes of the {whom} would go, and "
            "nobody could bring them back. Ask the person whether they are to go."
        )
        structured = {"nodes": len(plan.node_ids), **confirmation}
        return ToolAnswer(
            text=_question(summary, "memory_forget", confirmation), structured=structured
        )
    _require_confirmed(arguments.confirmation, principal, whom, now)
    done = services.forget(principal, target, Reason.REQUEST).forgetting
    structured = {"state": "forgotten", "id": done.id}
    return ToolAnswer(text=f"forgotten: {done.id}", structured=structured)


def _pending_answer(principal: Principal, target: str, now: datetime) -> dict[str, str]:
    until = now + CONFIRM_WITHIN
    return {
        "state": "pending",
        "confirmation": confirmation(principal, target, until),
        "expires_at": format_timestamp(until),
    }


def _question(summary: str, tool: str, confirmation: Mapping[str, str]) -> str:
    return (
        f"{summary}\nOnly when they say yes, call {tool} again with confirmation "
        f"{confirmation['confirmation']}, until {confirmation['expires_at']}."
    )


def confirmation(principal: Principal, target: str, until: datetime) -> str:
    """Return what the second call brings back: for one caller and target, until a moment.

    It keeps a model from deleting in one step. It is no secret: who holds it may delete anyway.
    """
    seconds = int(until.timestamp())
    of = [str(principal.workspace_id), str(principal.principal_id), target, seconds]
    return f"{seconds}-{sha256(encode(of)).hex()[:16]}"


def _require_confirmed(token: str, principal: Principal, target: str, now: datetime) -> None:
    if not confirms(token, principal, target, now):
        wrong = (
            "is not the one this tool gave you for this in the last 15 minutes; call it without a "
            "confirmation, and ask again"
        )
        raise ValidationFailed(
            f"The confirmation {wrong}.", errors=[FieldError("confirmation", wrong)]
        )


def confirms(token: str, principal: Principal, target: str, now: datetime) -> bool:
    """Return whether a confirmation is this caller's for this target, and still good."""
    seconds = token.partition("-")[0]
    if not (seconds.isascii() and seconds.isdecimal() and len(seconds) <= len(str(10**10))):
        return False
    until = datetime.fromtimestamp(int(seconds), tz=now.tzinfo)
    good = now <= until <= now + CONFIRM_WITHIN
    return good and token == confirmation(principal, target, until)


def _pin(services: ApiServices, principal: Principal, arguments: PinArguments) -> ToolAnswer:
    mark = Mark.PINNED if arguments.pinned else Mark.UNPINNED
    return _edited(services.edit_memories.mark(principal, arguments.id, mark))


def _never_recall(
    services: ApiServices, principal: Principal, arguments: NeverRecallArguments
) -> ToolAnswer:
    if not arguments.never_recall:
        return _edited(services.edit_memories.mark(principal, arguments.id, Mark.RECALL))
    if arguments.reason is None:
        wrong = "is needed to keep a memory from recall"
        raise ValidationFailed(f"reason {wrong}.", errors=[FieldError("reason", wrong)])
    return _edited(
        services.edit_memories.mark(
            principal, arguments.id, Mark.NEVER_RECALL, reason=arguments.reason
        )
    )


def _edited(edited: Edited) -> ToolAnswer:
    lines = [f"{edited.outcome.value}: {edited.id}"]
    lines += [f"in the place of {each}" for each in edited.replaced]
    lines += [f"note: {each}" for each in edited.warnings]
    structured = {name: getattr(edited, name) for name in EditedMemory.__annotations__}
    return ToolAnswer(text="\n".join(lines), structured=structured)


LIST = Tool(
    name="memory_list",
    aliases=("memory-list",),
    title="List memories",
    description=(
        "The memories of a client, key or subject, newest first: what a person asks for with "
        "`what do you know about me`."
    ),
    arguments=ListArguments,
    parameters={
        "client_id": "Whose",
        "subject": "Of statuses",
        "key": "Of facts",
        "limit": "50 if null",
        "after": "next_after of the page before",
    },
    result=MemoryPage,
    call=_list,
    of_a_client=True,
    roles=WRITERS,
)
CORRECT = Tool(
    name="memory_correct",
    aliases=("memory-edit",),
    title="Correct a memory",
    description=(
        "Say something else in a memory's place, as if it had never been true. What has changed "
        "since is a new memory."
    ),
    arguments=EditArguments,
    parameters={"id": NAMED, "reason": "Why", "text": "What it says now", "key": "A fact's"},
    result=EditedMemory,
    call=_edit,
    of_a_client=True,
    roles=WRITERS,
    effect=Effect.CHANGE,
)
DELETE = Tool(
    name="memory_delete",
    aliases=("memory-delete",),
    title="Delete a memory",
    description=(
        "Hide a memory. It asks first: call it with the id, show the person what it gives, and "
        "after their yes call it again with the confirmation."
    ),
    arguments=DeleteArguments,
    parameters={"id": NAMED, "confirmation": "As it gave it"},
    result=PendingEdit,
    call=_delete,
    of_a_client=True,
    roles=WRITERS,
    effect=Effect.DELETE,
)
FORGET = Tool(
    name="memory_forget",
    title="Forget somebody",
    description=(
        "Destroy all that is held about somebody. It asks first: show the person what would go, "
        "and after their yes call it again with the confirmation."
    ),
    arguments=ForgetArguments,
    parameters={
        "kind": "What it is",
        "natural_key": "The name it is known by",
        "confirmation": "As it gave it",
    },
    result=AskedToForget,
    call=_forget,
    roles=ADMINS,
    effect=Effect.DELETE,
)
PIN = Tool(
    name="memory_pin",
    aliases=("memory-pin",),
    title="Pin a memory",
    description="A pinned memory does not age or fade, and ranks higher.",
    arguments=PinArguments,
    parameters={"id": NAMED, "pinned": "False unpins it"},
    result=EditedMemory,
    call=_pin,
    of_a_client=True,
    roles=WRITERS,
    effect=Effect.CHANGE,
)
EXCLUDE = Tool(
    name="memory_exclude",
    aliases=("memory-never-recall",),
    title="Keep a memory from recall",
    description="Keep a memory, and let no search, context or walk find it.",
    arguments=NeverRecallArguments,
    parameters={
        "id": NAMED,
        "never_recall": "False lets it be recalled again",
        "reason": "Why; needed to keep it from recall",
    },
    result=EditedMemory,
    call=_never_recall,
    of_a_client=True,
    roles=WRITERS,
    effect=Effect.CHANGE,
)
