"""One memory of two, and a memory given to other readers. Not its correction (`memories.py`).

Each puts a new memory in the place of what was named, so an id says which version was meant: what
somebody else did meanwhile is told, and what was typed stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.guard import form_from
from cairn.api.console.memories import MEMORIES, collision, id_of, memory_page
from cairn.api.console.memory_deeds import Deed, done_query
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.kernel.access import Scope
from cairn.kernel.errors import Conflict, NotFound, ValidationFailed
from cairn.memories.edit import Move, both_texts
from cairn.memories.edit_plan import EDITABLE
from cairn.reading.views import MemoryFilter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cairn.api.console.guard import Visitor
    from cairn.reading.views import MemoryView

OFFERED = 10
UNKNOWN = "There is no such memory, or you may not see it."

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(MEMORIES + "/{memory_id}/merge")
def show_merge(memory_id: str, request: Request, visitor: Reader) -> Response:
    """Show two memories and what one in their place would say, or what may be the other."""
    other = request.query_params.get("other", "").strip()
    return _merge_page(request, visitor, id_of(memory_id), other)


@routes.post(MEMORIES + "/{memory_id}/merge")
def merge(memory_id: str, request: Request, body: Body) -> Response:
    """Put one memory in the place of two; what somebody else did meanwhile is told."""
    visitor, form = form_from(request, body)
    id_, other = id_of(memory_id), form.get("other", "")
    try:
        edited = visitor.services.edit_memories.merge(
            visitor.principal,
            id_,
            id_of(other),
            text=form.get("text", "").replace("\r\n", "\n"),
            reason=form.get("reason", ""),
        )
    except Conflict as error:
        ids = _standing((id_, id_of(other)), error)
        wrong = collision(error)
        return _merge_page(request, visitor, *ids, status=409, wrong=wrong, draft=form)
    except ValidationFailed as error:
        wrong = error.detail
        return _merge_page(request, visitor, id_, other, status=422, wrong=wrong, draft=form)
    return pages.go_to(f"{MEMORIES}/{edited.id}?{done_query(Deed.MERGED, [edited.id])}")


def _standing(ids: tuple[UUID, UUID], error: Conflict) -> tuple[UUID, str]:
    """Return the two that were named, what stands now in the place of the one that was replaced."""
    changed, by = error.fields.get("memory_id"), error.fields.get("superseded_by")
    first, other = (str(by) if by and str(each) == changed else str(each) for each in ids)
    return UUID(first), other


def _merge_page(
    request: Request,
    visitor: Visitor,
    memory_id: UUID,
    other: str,
    *,
    status: int = 200,
    wrong: str = "",
    draft: Mapping[str, str] | None = None,
) -> Response:
    first = visitor.services.browse.get_memory(visitor.principal, memory_id)
    second = _other(visitor, other)
    if other and second is None:
        status, wrong = 404, UNKNOWN
    elif second is not None and second.id == first.id:
        status, wrong, second = 422, "These are the same memory; two become one.", None
    return shown(
        request,
        visitor,
        "memory_merge.html",
        status=status,
        wrong=wrong,
        first=first,
        second=second,
        other=other[:100],
        both=both_texts(first.text, second.text) if second else "",
        editable=all(each.state in EDITABLE for each in (first, second) if each),
        offered=() if second else _offered(visitor, first),
        draft=draft or {},
        here=f"{MEMORIES}/{first.id}",
    )


def _other(visitor: Visitor, text: str) -> MemoryView | None:
    try:
        return visitor.services.browse.get_memory(visitor.principal, UUID(text)) if text else None
    except (NotFound, ValueError):
        return None


def _offered(visitor: Visitor, memory: MemoryView) -> Sequence[Any]:
    """Return the newest memories of the same client and kind, which alone merge with one."""
    where = MemoryFilter(type=memory.type, client_id=memory.client_id, state="active")
    page = visitor.services.browse.list_memories(
        visitor.principal, where, limit=OFFERED + 1, after=None
    )
    return [each for each in page.items if each.id != memory.id][:OFFERED]


@routes.post(MEMORIES + "/{memory_id}/move")
def move(memory_id: str, request: Request, body: Body) -> Response:
    """Give a memory to another client, scope or agents."""
    visitor, form = form_from(request, body)
    id_ = id_of(memory_id)
    try:
        edited = visitor.services.edit_memories.move(
            visitor.principal, id_, _move_of(form), reason=form.get("reason", "")
        )
    except Conflict as error:
        standing = error.fields.get("superseded_by") if error.reason == "replaced" else memory_id
        there, wrong = UUID(str(standing)), collision(error)
        return memory_page(request, visitor, there, status=409, wrong=wrong, moving=form)
    except ValidationFailed as error:
        return memory_page(request, visitor, id_, status=422, wrong=error.detail, moving=form)
    return pages.go_to(f"{MEMORIES}/{edited.id}?{done_query(Deed.MOVED, [edited.id])}")


def _move_of(form: Mapping[str, str]) -> Move:
    """Return where a form moves a memory; no agents tags it for everyone."""
    return Move(
        client_id=form.get("client_id", "").strip() or None,
        scope=pages.choice(Scope, form["scope"]) if form.get("scope") else None,
        agents=tuple(each.strip() for each in form.get("agents", "").split(",") if each.strip()),
    )
