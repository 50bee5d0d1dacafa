"""Tools for what a person wants done about a memory: list, correct, delete, pin, never recall it.

Deleting asks first: the call without a confirmation changes nothing and says what it would delete.
"""

from datetime import datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from cairn.api.answers import encode
from cairn.api.dependencies import require_client
from cairn.api.fields import Body, Name
from cairn.api.mcp.tool import WRITERS, RepeatKey, Tool, ToolAnswer, repeated
from cairn.api.routes.memories import KindName, State
from cairn.api.routes.memory_edits import EditResult, MemoryCorrection, Reason
from cairn.bootstrap.api import ApiServices
from cairn.kernel.access import Principal
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.kernel.text.canonical import format_timestamp
from cairn.kernel.text.hashes import sha256
from cairn.memories.edit import Edited, Mark
from cairn.reading.views import MemoryFilter, MemoryView

CONFIRM_WITHIN = timedelta(minutes=15)
SHOWN_CHARS = 300
Id = Annotated[
    UUID, Field(strict=False, description="The memory's id, as recall and memory-list name it.")
]


class ListArguments(Body):
    """Which memories; `after` is `next_after` of the answer before."""

    client_id: Name | None = None
    type: KindName | None = None
    key: Name | None = None
    subject: Name | None = None
    session_id: Name | None = None
    state: Annotated[State, Field(description="`any` lists all states.")] = "active"
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
    confirmation: Annotated[
        str,
        Field(
            max_length=100,
            description="As the call without it gave it. Send it only after the person said yes.",
        ),
    ] = ""


class PinArguments(Body):
    """Which memory, and whether it is pinned."""

    id: Id
    pinned: Annotated[bool, Field(description="False unpins it.")] = True


class NeverRecallArguments(Body):
    """Which memory, whether it is kept from recall, and why."""

    id: Id
    never_recall: Annotated[bool, Field(description="False lets it be recalled again.")] = True
    reason: Annotated[
        Reason | None, Field(description="Needed to keep it from recall; it is kept.")
    ] = None


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
    structured = {"items": list(page.items), "next_after": page.next_after}
    return ToolAnswer(text="\n".join(lines) or "There is no such memory.", structured=structured)


def _line(memory: MemoryView) -> str:
    marks = [name for name in ("pinned", "never_recall") if getattr(memory, name)]
    marks = [memory.state, *(mark.replace("_", "-") for mark in marks)]
    text = " ".join(memory.text.split())[:SHOWN_CHARS]
    return f"[{memory.type.value}] (id: {memory.id}) {', '.join(marks)}: {text}"


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
        return _ask(services.browse.get_memory(principal, arguments.id), principal, now)
    if not confirms(arguments.confirmation, principal, arguments.id, now):
        wrong = (
            "is not the one this tool gave you for this memory in the last 15 minutes; call it "
            "without a confirmation, and ask again"
        )
        raise ValidationFailed(
            f"The confirmation {wrong}.", errors=[FieldError("confirmation", wrong)]
        )
    done = services.delete_memory(principal, arguments.id)
    structured = {"state": "deleted", "id": done.id, "position": done.position}
    return ToolAnswer(text=f"deleted: {done.id}", structured=structured)


def _ask(memory: MemoryView, principal: Principal, now: datetime) -> ToolAnswer:
    until = now + CONFIRM_WITHIN
    token = confirmation(principal, memory.id, until)
    text = (
        "Nothing is deleted yet. Show the person this memory and ask whether it is to be "
        f"deleted:\n{_line(memory)}\nOnly when they say yes, call memory-delete again with "
        f"confirmation {token}, until {format_timestamp(until)}."
    )
    structured = {
        "state": "pending",
        "id": memory.id,
        "text": memory.text,
        "confirmation": token,
        "expires_at": until,
    }
    return ToolAnswer(text=text, structured=structured)


def confirmation(principal: Principal, memory_id: UUID, until: datetime) -> str:
    """Return what the second call brings back: for one caller and memory, until a moment.

    It keeps a model from deleting in one step. It is no secret: who holds it may delete anyway.
    """
    seconds = int(until.timestamp())
    of = [str(principal.workspace_id), str(principal.principal_id), str(memory_id), seconds]
    return f"{seconds}-{sha256(encode(of)).hex()[:16]}"


def confirms(given: str, principal: Principal, memory_id: UUID, now: datetime) -> bool:
    """Return whether a confirmation is this caller's for this memory, and still good."""
    seconds = given.partition("-")[0]
    if not (seconds.isascii() and seconds.isdecimal() and len(seconds) <= len(str(10**10))):
        return False
    until = datetime.fromtimestamp(int(seconds), tz=now.tzinfo)
    good = now <= until <= now + CONFIRM_WITHIN
    return good and given == confirmation(principal, memory_id, until)


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
    structured = {name: getattr(edited, name) for name in EditResult.__annotations__}
    return ToolAnswer(text="\n".join(lines), structured=structured)


LIST = Tool(
    name="memory-list",
    title="List memories",
    description=(
        "The memories of a client, a key, a subject or a session, newest first: what a person asks "
        "for with `what do you know about me`. recall finds by meaning."
    ),
    arguments=ListArguments,
    call=_list,
    of_a_client=True,
    roles=WRITERS,
    eager=False,
)
EDIT = Tool(
    name="memory-edit",
    title="Correct a memory",
    description=(
        "Say something else in a memory's place, with the reason: a new version supersedes it, as "
        "if it had never been true. For what has changed since, remember the new fact instead."
    ),
    arguments=EditArguments,
    call=_edit,
    of_a_client=True,
    roles=WRITERS,
    reads=False,
    eager=False,
)
DELETE = Tool(
    name="memory-delete",
    title="Delete a memory",
    description=(
        "Hide a memory from recall and lists. It asks first: call it with the id, show the person "
        "what it gives, and after their yes call it again with the confirmation."
    ),
    arguments=DeleteArguments,
    call=_delete,
    of_a_client=True,
    roles=WRITERS,
    reads=False,
    destroys=True,
    eager=False,
)
PIN = Tool(
    name="memory-pin",
    title="Pin a memory",
    description="A pinned memory does not age or fade, and ranks higher. `pinned: false` unpins.",
    arguments=PinArguments,
    call=_pin,
    of_a_client=True,
    roles=WRITERS,
    reads=False,
    eager=False,
)
NEVER_RECALL = Tool(
    name="memory-never-recall",
    title="Keep a memory from recall",
    description=(
        "Keep a memory, and let no search, context or walk find it, nor what it was in the past. "
        "`never_recall: false` lets it be recalled again."
    ),
    arguments=NeverRecallArguments,
    call=_never_recall,
    of_a_client=True,
    roles=WRITERS,
    reads=False,
    eager=False,
)
