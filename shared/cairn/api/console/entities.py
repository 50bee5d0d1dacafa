"""Entities: who and what is spoken of, and correcting their names: aliases, merging, parting.

What a walk around one shows is `graph.py`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.cited import ENTITIES, page_of
from cairn.api.console.forms import Form, checked, refused_deed, wrong_field
from cairn.api.console.guard import form_from, id_of
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.api.routes.entities import AliasIn, MergeIn, SplitIn
from cairn.graph.edge import Relation
from cairn.kernel.errors import Conflict, NotFound, ValidationFailed
from cairn.nodes.views import EntityFilter, Split

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.api.console.guard import Visitor
    from cairn.nodes.views import EntityChanged, EntityDetail, EntityView

PER_PAGE, OFFERED = 50, 10
FIELDS = ("alias", "into", "name", "type", "mentions")
DONE = {
    "named": "The name means it from now on.",
    "unnamed": "The name means it no longer; what was made of it stays.",
    "merged": "They are one from now on: mentions, relations and names are here.",
    "parted": "It stands for itself again, with what was its own.",
    "split": "What you ticked means this one from now on.",
}
routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(ENTITIES)
def show_entities(request: Request, visitor: Reader) -> Response:
    """List entities by name, narrowed by a part of it and by type."""
    query = request.query_params
    q, kind = query.get("q", "").strip()[:200], query.get("type", "").strip()[:64]
    entities = visitor.services.nodes.entities(
        visitor.principal,
        EntityFilter(q=q or None, type=kind or None),
        limit=PER_PAGE + 1,
        after=_place_of(query.get("after", "")),
    )
    chosen = {name: text for name, text in (("q", q), ("type", kind)) if text}
    last = entities[PER_PAGE - 1] if len(entities) > PER_PAGE else None
    following = {**chosen, "after": f"{last.id}.{last.sort_key}"} if last else None
    return shown(
        request,
        visitor,
        "entities.html",
        entities=entities[:PER_PAGE],
        following=f"{ENTITIES}?{urlencode(following)}" if following else None,
        q=q,
        kind=kind,
        path=pages.with_query("/v1/entities", chosen),
    )


def _place_of(text: str) -> tuple[str, UUID] | None:
    """Return where a list goes on, as its link says it."""
    entity_id, _, sort_key = text.partition(".")
    return (sort_key, id_of(entity_id)) if text else None


@routes.get(ENTITIES + "/{entity_id}")
def show_entity(entity_id: str, request: Request, visitor: Reader) -> Response:
    """Show one with its names, what mentions it, and what can be corrected."""
    return _entity(request, visitor, id_of(entity_id))


@routes.post(ENTITIES + "/{entity_id}/alias")
def add_alias(entity_id: str, request: Request, body: Body) -> Response:
    """Let one more name mean it."""
    visitor, form = form_from(request, body)

    def do(id_: UUID) -> EntityChanged:
        alias = checked(AliasIn, {"alias": form.get("alias", "")}).alias
        return visitor.services.entities.add_alias(visitor.principal, id_, alias)

    return _corrected(request, visitor, entity_id, form, do, "named")


@routes.post(ENTITIES + "/{entity_id}/alias/remove")
def remove_alias(entity_id: str, request: Request, body: Body) -> Response:
    """Take a name from it."""
    visitor, form = form_from(request, body)

    def do(id_: UUID) -> EntityChanged:
        visitor.services.nodes.entity(visitor.principal, id_)
        try:
            return visitor.services.entities.remove_alias(
                visitor.principal, id_, form.get("alias", "")
            )
        except NotFound as error:
            raise Conflict("Somebody took this name away meanwhile.", reason="gone") from error

    return _corrected(request, visitor, entity_id, form, do, "unnamed")


@routes.post(ENTITIES + "/{entity_id}/merge")
def merge(entity_id: str, request: Request, body: Body) -> Response:
    """Make it part of another; the page of that one takes it back."""
    visitor, form = form_from(request, body)

    def do(id_: UUID) -> EntityChanged:
        into = form.get("other", "").strip() or form.get("into", "")
        chosen = checked(MergeIn, {"into": into}).into
        try:
            return visitor.services.entities.merge(visitor.principal, id_, chosen)
        except NotFound as error:
            if error.fields.get("entity_id") == str(id_):
                raise
            raise wrong_field("into", "is no entity that you may see") from error

    return _corrected(request, visitor, entity_id, form, do, "merged")


@routes.post(ENTITIES + "/{entity_id}/split")
def split(entity_id: str, request: Request, body: Body) -> Response:
    """Undo a merge into it, or let some mentions mean another one."""
    visitor, form = form_from(request, body)
    undo = form.get("undo", "")

    def do(id_: UUID) -> EntityChanged:
        chosen = checked(SplitIn, {"undo": undo} if undo else _parted(form))
        parts = Split(
            undo=chosen.undo, name=chosen.name, type=chosen.type, mentions=tuple(chosen.mentions)
        )
        return visitor.services.entities.split(visitor.principal, id_, parts)

    return _corrected(request, visitor, entity_id, form, do, "parted" if undo else "split")


def _parted(form: Mapping[str, str]) -> dict[str, Any]:
    """Return what a form says that other mentions mean."""
    mentions = [name.removeprefix("mention.") for name in form if name.startswith("mention.")]
    mentions += form.get("mentions", "").replace(",", " ").split()
    if not mentions:
        raise wrong_field("mentions", "are missing: tick what means the other one")
    kind = form.get("type", "").strip()
    name = form.get("name", "").strip()
    if not name:
        raise wrong_field("name", "is missing")
    return {"name": name, "mentions": mentions, **({"type": kind} if kind else {})}


def _corrected(
    request: Request,
    visitor: Visitor,
    entity_id: str,
    form: Mapping[str, str],
    do: Callable[[UUID], EntityChanged],
    done: str,
) -> Response:
    """Do it and show what stands then, or the page again with what was wrong and what was typed."""
    id_ = id_of(entity_id)
    try:
        stands = do(id_).id
    except Conflict as error:
        return _entity(request, visitor, id_, form=Form(values=form), **pages.refusal(error))
    except ValidationFailed as error:
        return _entity(request, visitor, id_, **refused_deed(form, error, "alias"))
    more = {"of": form.get("alias", "")[:200]} if done in ("named", "unnamed") else {"of": str(id_)}
    return pages.go_to(f"{ENTITIES}/{stands}?{urlencode({'done': done, **more})}")


def _entity(
    request: Request,
    visitor: Visitor,
    entity_id: UUID,
    *,
    form: Form | None = None,
    wrong: str = "",
    status: int = 200,
) -> Response:
    services, who = visitor.services, visitor.principal
    entity = services.nodes.entity(who, entity_id)
    edges = services.nodes.node(who, entity_id).edges
    strongest = edges.strongest if edges else ()
    done = request.query_params.get("done", "")
    return shown(
        request,
        visitor,
        "entity.html",
        status=status,
        each=entity,
        mentions=[
            edge
            for edge in strongest
            if edge.relation == Relation.REFERENCES and edge.direction == "in"
        ],
        merged=_merged(visitor, entity_id, strongest),
        offered=_offered(visitor, entity) if visitor.works else (),
        page_of=page_of,
        wrong=wrong,
        form=form or Form(),
        fields=FIELDS,
        done=DONE.get(done, ""),
        undo=_undo(done, request.query_params.get("of", "")),
        here=f"{ENTITIES}/{entity_id}",
    )


def _undo(done: str, of: str) -> tuple[str, str, str] | None:
    """Return the form that takes back what was done: its path, its field and the value."""
    back = {
        "named": ("alias/remove", "alias"),
        "unnamed": ("alias", "alias"),
        "merged": ("split", "undo"),
    }
    return (*back[done], of) if done in back and of else None


def _merged(visitor: Visitor, entity_id: UUID, edges: Sequence[Any]) -> list[EntityDetail]:
    """Return the entities that became part of one, each to be parted again."""
    same = [edge.node.id for edge in edges if edge.relation == Relation.SAME_AS]
    details = [visitor.services.nodes.entity(visitor.principal, each) for each in same]
    return [each for each in details if each.superseded_by == entity_id]


def _offered(visitor: Visitor, entity: EntityDetail) -> Sequence[EntityView]:
    """Return entities with a like name, which it may be another name of."""
    word = entity.name.split()[0] if entity.name.split() else ""
    entities = visitor.services.nodes.entities(
        visitor.principal, EntityFilter(q=word or None), limit=OFFERED + 1, after=None
    )
    like = [each for each in entities if (each.scope, each.agents) == (entity.scope, entity.agents)]
    return [each for each in like if each.id != entity.id][:OFFERED]
