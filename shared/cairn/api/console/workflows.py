"""The pages of workflows: what they are made of, their runs, run now, answered, ended, defined.

Operators run, answer and end; owners and admins define. The use cases and the database hold to it.
"""

import json
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.forms import Form, checked, json_object, refused_deed
from cairn.api.console.guard import Visitor, form_from, id_of, require_meant
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.api.routes.workflows import NewWorkflowIn, WorkflowIn, definition_of
from cairn.kernel.errors import Conflict, NotFound, ValidationFailed
from cairn.workflows.definition import Definition
from cairn.workflows.definitions import body_of
from cairn.workflows.rows import RunState
from cairn.workflows.runs import NewRun

WORKFLOWS, RUNS = "/console/workflows", "/console/workflow-runs"
SHOWN = 20
INPUT = "input."
DONE = {
    "made": "It can be run.",
    "changed": "This version holds from now on; runs under way go on with theirs.",
    "removed": "No new run of it begins.",
}
_SCHEMA: Any = NewWorkflowIn.model_config.get("json_schema_extra")
EXAMPLE = pages.as_json(_SCHEMA["examples"][0])
"""A definition to begin with."""

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(WORKFLOWS)
def show_workflows(
    request: Request, visitor: Reader, state: str = "all", before: str | None = None
) -> Response:
    """Show every workflow, and runs, the newest first."""
    return _list(request, visitor, state=state, before=before)


@routes.post(WORKFLOWS)
def define(request: Request, body: Body) -> Response:
    """Make a workflow of a definition in JSON."""
    visitor, form = form_from(request, body)
    try:
        created = visitor.services.workflows.create(visitor.principal, _written(form, None))
    except (Conflict, ValidationFailed) as error:
        return _list(request, visitor, **refused_deed(form, error, "definition"))
    return pages.go_to(f"{WORKFLOWS}/{created.definition.name}?done=made")


@routes.get(WORKFLOWS + "/{name}")
def show_workflow(
    request: Request, visitor: Reader, name: str, before: str | None = None
) -> Response:
    """Show one with its steps, versions and runs."""
    return _workflow(request, visitor, name, before=before)


@routes.post(WORKFLOWS + "/{name}/change")
def change(request: Request, name: str, body: Body) -> Response:
    """Replace one by another version."""
    visitor, form = form_from(request, body)
    try:
        visitor.services.workflows.put(visitor.principal, _written(form, name))
    except (Conflict, ValidationFailed) as error:
        return _workflow(request, visitor, name, **refused_deed(form, error, "definition"))
    return pages.go_to(f"{WORKFLOWS}/{name}?done=changed")


@routes.post(WORKFLOWS + "/{name}/remove")
def remove(request: Request, name: str, body: Body) -> Response:
    """Remove one; its runs stay."""
    visitor, form = form_from(request, body)
    require_meant(form)
    visitor.services.workflows.remove(visitor.principal, name)
    return pages.go_to(f"{WORKFLOWS}?done=removed")


@routes.post(WORKFLOWS + "/{name}/run")
def run_now(request: Request, name: str, body: Body) -> Response:
    """Begin a run with what the form gives it."""
    visitor, form = form_from(request, body)
    values = {
        field.removeprefix(INPUT): value.replace("\r\n", "\n")
        for field, value in form.items()
        if field.startswith(INPUT)
    }
    new = NewRun(input=values, client_id=form.get("client_id", "").strip() or None)
    try:
        run = visitor.services.workflow_runs.start(visitor.principal, name, new)
    except (Conflict, ValidationFailed) as error:
        return _workflow(request, visitor, name, **refused_deed(form, error, "client_id"))
    return pages.go_to(f"{RUNS}/{run.id}")


@routes.get(RUNS + "/{run_id}")
def show_run(request: Request, visitor: Reader, run_id: str) -> Response:
    """Show where a run is, and what came of its steps."""
    return _run(request, visitor, id_of(run_id))


@routes.post(RUNS + "/{run_id}/{deed}")
def do_to_run(request: Request, run_id: str, deed: str, body: Body) -> Response:
    """Answer, end or go on with a run; whoever comes second is told so."""
    (visitor, form), id_ = form_from(request, body), id_of(run_id)
    runs, caller = visitor.services.workflow_runs, visitor.principal
    try:
        if deed in ("approve", "reject"):
            comment = form.get("comment", "").replace("\r\n", "\n").strip()
            runs.decide(caller, id_, approve=deed == "approve", comment=comment)
        elif deed == "cancel":
            runs.cancel(caller, id_)
        elif deed == "resume":
            runs.resume(caller, id_)
        else:
            raise NotFound("There is no such deed.")
    except (Conflict, ValidationFailed) as error:
        return _run(request, visitor, id_, form=form, **pages.refusal(error))
    return pages.go_to(f"{RUNS}/{id_}")


def _written(form: dict[str, str], name: str | None) -> Definition:
    """Return the definition of a form: of a new workflow, or of the one of this name."""
    document = json_object(form, "definition")
    if name is None:
        new = checked(NewWorkflowIn, document)
        return definition_of(new.name, new)
    if document.pop("name", name) != name:
        raise ValidationFailed("The name of a workflow stays; make another one.")
    return definition_of(name, checked(WorkflowIn, document))


def _list(
    request: Request,
    visitor: Visitor,
    *,
    state: str = "all",
    before: str | None = None,
    form: Form | None = None,
    status: int = 200,
) -> Response:
    services, caller = visitor.services, visitor.principal
    runs = services.workflow_runs.page(
        caller,
        state=pages.choice_or_all(RunState, state),
        before=id_of(before) if before else None,
        limit=SHOWN + 1,
    )
    return shown(
        request,
        visitor,
        "workflows.html",
        status=status,
        workflows=services.workflows.all(caller),
        **pages.cut("runs", runs, SHOWN),
        state=state,
        states=pages.choices(RunState),
        form=form or Form(),
        example=EXAMPLE,
        done=DONE.get(request.query_params.get("done", ""), ""),
    )


def _workflow(
    request: Request,
    visitor: Visitor,
    name: str,
    *,
    before: str | None = None,
    form: Form | None = None,
    status: int = 200,
) -> Response:
    services, caller = visitor.services, visitor.principal
    view = services.workflows.get(caller, name)
    runs = services.workflow_runs.page(
        caller, name=name, before=id_of(before) if before else None, limit=SHOWN + 1
    )
    document = body_of(view.definition)
    return shown(
        request,
        visitor,
        "workflow.html",
        status=status,
        view=view,
        steps=document["steps"],
        written=json.dumps(document, ensure_ascii=False, indent=2),
        versions=services.workflows.versions(caller, name),
        **pages.cut("runs", runs, SHOWN),
        form=form or Form(),
        done=DONE.get(request.query_params.get("done", ""), ""),
    )


def _run(
    request: Request,
    visitor: Visitor,
    run_id: UUID,
    *,
    form: dict[str, str] | None = None,
    wrong: str = "",
    status: int = 200,
) -> Response:
    return shown(
        request,
        visitor,
        "workflow_run.html",
        status=status,
        run=visitor.services.workflow_runs.get(visitor.principal, run_id),
        comment=(form or {}).get("comment", ""),
        wrong=wrong,
    )
