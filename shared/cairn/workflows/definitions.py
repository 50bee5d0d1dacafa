"""Workflows of a workspace: made, changed and removed by admins, every version in the ledger."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, cast

from cairn.kernel.access import Role
from cairn.kernel.errors import Conflict, FieldError, NotFound, ValidationFailed
from cairn.kernel.text.scrub import scrub_value
from cairn.workflows.briefing import BRIEFING
from cairn.workflows.definition import Definition, Kind, Step, checked, inputs_of
from cairn.workflows.rows import WorkflowRow
from cairn.workflows.schedule import Schedule, next_due
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform
    from cairn.writing.writer import Write

MOST_WORKFLOWS = 100
CHANGED = "workflow.changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowView:
    """A workflow as it is: its definition, which version it is, and what a run is given."""

    definition: Definition
    version: int
    inputs: tuple[str, ...]
    changed_at: datetime | None
    changed_by: UUID | None
    removed: bool = False
    due_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflows:
    """The workflows of a workspace. `tools` returns the names of every tool that there is."""

    platform: Platform
    tools: Callable[[UUID], frozenset[str]]

    def all(self, principal: Principal) -> Sequence[WorkflowView]:
        """Return them by name."""
        principal.require_person()
        with self.platform.transactions.reading(principal) as stores:
            rows = stores.workflows.all()
        return [view(row) for row in rows]

    def get(self, principal: Principal, name: str) -> WorkflowView:
        """Return one; NotFound without it."""
        principal.require_person()
        with self.platform.transactions.reading(principal) as stores:
            row = stores.workflows.find(name)
        if row is None:
            raise missing(name)
        return view(row)

    def versions(self, principal: Principal, name: str) -> Sequence[WorkflowView]:
        """Return every version of one, the newest first; NotFound without any."""
        principal.require_person()
        with self.platform.transactions.reading(principal) as stores:
            rows = stores.workflows.versions(name)
        if not rows:
            raise missing(name)
        return [view(row) for row in rows]

    def create(self, principal: Principal, definition: Definition) -> WorkflowView:
        """Make one; as `put`, and Conflict (`workflow-exists`) when there is one of its name."""
        return self._put(principal, definition, new=True)

    def put(self, principal: Principal, definition: Definition) -> WorkflowView:
        """Replace one by another version; the same again changes nothing.

        Denied but for admins, NotFound without it, ValidationFailed or TooLarge naming the place.
        """
        return self._put(principal, definition, new=False)

    def ship(self, principal: Principal, definition: Definition | None, *, name: str) -> None:
        """Keep the workflow of this name that ships, as settings want it; None removes it."""

        def keep(write: Write) -> None:
            newest = _newest(write, name)
            body = body_of(definition) if definition else newest.body if newest else {}
            if body:
                removed = definition is None
                self._add(principal, write, name, newest, body=body, removed=removed)

        self._write(principal, keep)

    def _put(self, principal: Principal, definition: Definition, *, new: bool) -> WorkflowView:
        principal.require(Role.ADMIN)
        _require_own(definition.name)
        good = checked(definition)
        self._require_tools(principal.workspace_id, definition)
        body = cast("dict[str, Any]", scrub_value(body_of(good))[0])

        def put(write: Write) -> WorkflowRow:
            newest = _newest(write, definition.name)
            if new and newest is not None and not newest.removed:
                raise Conflict("A workflow of this name exists; change it.", reason="exists")
            if not new and (newest is None or newest.removed):
                raise missing(definition.name)
            if newest is not None and not newest.removed and newest.body == body:
                return newest
            if new and len(write.stores.workflows.all()) >= MOST_WORKFLOWS:
                wrong = f"is one too many: a workspace has at most {MOST_WORKFLOWS} workflows"
                raise ValidationFailed(f"name {wrong}.", errors=[FieldError("name", wrong)])
            return self._add(principal, write, definition.name, newest, body=body, removed=False)

        return view(self._write(principal, put))

    def remove(self, principal: Principal, name: str) -> None:
        """Remove one: its runs go on with the version they began with. NotFound without it."""
        principal.require(Role.ADMIN)
        _require_own(name)

        def remove(write: Write) -> None:
            newest = _newest(write, name)
            if newest is None or newest.removed:
                raise missing(name)
            self._add(principal, write, name, newest, body=newest.body, removed=True)

        self._write(principal, remove)

    def _write(self, principal: Principal, do: Callable[[Write], Any]) -> Any:
        keys = self.platform.keys.get_or_create(principal.workspace_id, (principal.workspace_id,))
        with open_write(self.platform, principal, keys=keys) as write:
            return do(write)

    def _add(
        self,
        principal: Principal,
        write: Write,
        name: str,
        newest: WorkflowRow | None,
        *,
        body: Mapping[str, Any],
        removed: bool,
    ) -> WorkflowRow:
        row = WorkflowRow(
            id=newest.id if newest else self.platform.new_id(),
            name=name,
            version=newest.version + 1 if newest else 1,
            body=body,
            removed=removed,
            changed_at=write.now,
            changed_by=principal.principal_id,
            due_at=None if removed else _due(body, write.now),
        )
        write.stores.workflows.add(row)
        meta = {"workflow_id": str(row.id), "version": row.version, "removed": removed}
        write.note(CHANGED, meta, {"definition": dict(body)})
        return row

    def _require_tools(self, workspace_id: UUID, definition: Definition) -> None:
        """Raise ValidationFailed (`unknown-tool`) for a step whose tool no connector lists."""
        tools = [
            (place, step.tool)
            for place, step in enumerate(definition.steps)
            if step.kind == Kind.TOOL and step.tool is not None
        ]
        if not tools:
            return
        listed = self.tools(workspace_id)
        for place, tool in tools:
            if tool not in listed:
                where, wrong = f"steps.{place}.tool", "is listed by no connector of this workspace"
                raise ValidationFailed(
                    f"{where} {wrong}: {tool}.",
                    reason="unknown-tool",
                    errors=[FieldError(where, wrong)],
                )


def _require_own(name: str) -> None:
    """Raise Conflict for the workflow that ships: settings switch it."""
    if name == BRIEFING:
        detail = "The daily briefing ships with Cairn; the setting workflows.briefing switches it."
        raise Conflict(detail, reason="ships")


def _newest(write: Write, name: str) -> WorkflowRow | None:
    versions = write.stores.workflows.versions(name)
    return versions[0] if versions else None


def missing(name: str) -> NotFound:
    """Return the refusal of a workflow that there is not."""
    return NotFound("There is no such workflow.", name=name)


def body_of(definition: Definition) -> dict[str, Any]:
    """Return a definition as it is kept: what was left out is left out."""
    steps = [
        {name: value for name, value in asdict(step).items() if value is not None and value != ()}
        for step in definition.steps
    ]
    return {
        "name": definition.name,
        "description": definition.description,
        "steps": [_lists(step) for step in steps],
        "schedule": _lists(asdict(definition.schedule)) if definition.schedule else None,
    }


def _lists(step: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: list(cast("tuple[Any, ...]", item)) if isinstance(item, tuple) else item
        for name, item in step.items()
    }


def definition_of(body: Mapping[str, Any]) -> Definition:
    """Return the definition that was kept."""
    return Definition(
        name=body["name"],
        description=body["description"],
        steps=tuple(step_of(step) for step in body["steps"]),
        schedule=schedule_of(body["schedule"]),
    )


def schedule_of(document: Mapping[str, Any] | None) -> Schedule | None:
    """Return the schedule of what was sent or kept."""
    if document is None:
        return None
    return Schedule(at=document["at"], timezone=document["timezone"], days=tuple(document["days"]))


def _due(body: Mapping[str, Any], now: datetime) -> datetime | None:
    schedule = schedule_of(body["schedule"])
    return next_due(schedule, now) if schedule is not None else None


_FIELDS = frozenset(field.name for field in fields(Step))


def step_of(document: Mapping[str, Any]) -> Step:
    """Return a step of what was sent or kept; fields that it has not are left out."""
    listed: dict[str, Any] = {
        name: value for name, value in document.items() if name in _FIELDS and value is not None
    }
    for name in ("needs", "keywords"):
        if name in listed:
            listed[name] = tuple(listed[name])
    return Step(**listed)


def view(row: WorkflowRow) -> WorkflowView:
    """Return a version as it is shown."""
    definition = definition_of(row.body)
    return WorkflowView(
        definition=definition,
        version=row.version,
        inputs=inputs_of(definition),
        changed_at=row.changed_at,
        changed_by=row.changed_by,
        removed=row.removed,
        due_at=row.due_at,
    )
