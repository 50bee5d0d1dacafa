"""One step of a run, as the machine calls it: done, its result kept, and where it leads.

Safe to call at any time and twice: the result and the move are one transaction, by
compare-and-set. What a step changes elsewhere it changes once: under a key that follows from the
run and the step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from cairn.kernel.errors import CairnError, Unavailable
from cairn.kernel.text.elements import as_data
from cairn.ledger.keys import BodyUnreadable, SubjectForgotten
from cairn.workflows.definition import Kind, Step, filled
from cairn.workflows.moving import Move, NeedsWord, Opened, Result
from cairn.workflows.rows import RunState
from cairn.workflows.views import StepNames, known

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from cairn.workflows.moving import Runner
    from cairn.workflows.rows import RunRow

FORGOTTEN = "result-forgotten"
EXPIRED = "nobody-decided"
SUPERSEDED = "superseded"
DEFAULT_HOURS = 24

StepFunction = Callable[[Opened, Step], Result]
"""Does a step whose texts are filled in; raises CairnError when it cannot, Unavailable for now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWorkflowStep:
    """Runs the steps of the kinds that its function has, and says what is next."""

    runner: Runner
    steps: Mapping[Kind, StepFunction]

    def enter(self, workspace_id: UUID, run_id: UUID, *, run: int) -> dict[str, Any]:
        """Return what an execution begins with: the next step's kind, or the run's state."""
        return answer(self.runner.read(workspace_id, run_id), run)

    def __call__(self, workspace_id: UUID, run_id: UUID, *, kind: Kind, run: int) -> dict[str, Any]:
        """Do the next step, if it is of this kind, and return what is next.

        Raises NotFound and Unavailable, for the machine to repeat.
        """
        before = self.runner.read(workspace_id, run_id)
        step = before.step
        moves = before.run.state is RunState.RUNNING and before.run.execution == run
        if not moves or step is None or step.kind != kind:
            return answer(before, run)
        began = self.runner.platform.clock()
        move = self._wait(before, step) if kind is Kind.WAIT else self._done(before, step)
        self._moved(self._now(before), replace(move, began=began))
        return answer(self.runner.read(workspace_id, run_id), run)

    def halt(
        self, workspace_id: UUID, run_id: UUID, *, run: int, error: str = ""
    ) -> dict[str, Any]:
        """Fail the step that the machine gave up on; it may be tried again."""
        before = self.runner.read(workspace_id, run_id)
        step = before.step
        if before.run.state is RunState.RUNNING and before.run.execution == run and step:
            self._moved(before, failed(before.run, step, code_of(error)))
        return answer(self.runner.read(workspace_id, run_id), run)

    def _done(self, before: Opened, step: Step) -> Move:
        try:
            result = self.steps[Kind(step.kind)](before, named_step(before, step))
        except Unavailable:
            raise
        except NeedsWord as asking:
            return asking.move
        except (SubjectForgotten, BodyUnreadable):
            return failed(self._now(before).run, step, FORGOTTEN)
        except CairnError as error:
            if error.reason == "idempotency-in-flight":  # of one that died: until its lock ends
                raise Unavailable(error.detail, reason=error.reason) from error
            now = self._now(before)
            return failed(now.run, step, error.reason or error.code, error.detail)
        return succeeded(self._now(before), step, result)

    def _now(self, before: Opened) -> Opened:
        """Return a run as its tool's call left it: begun. What else has moved stays as it was."""
        now = self.runner.read(before.workspace_id, before.run.id).run
        same = replace(
            before.run,
            began=now.began,
            input=now.input,
            data_subjects=now.data_subjects,
            moved_at=now.moved_at,
        )
        return replace(before, run=now) if now == same else before

    def _wait(self, before: Opened, step: Step) -> Move:
        try:
            named_step(before, step)
        except CairnError as error:
            return failed(before.run, step, error.reason or error.code)
        until = self.runner.platform.clock() + timedelta(hours=step.hours or DEFAULT_HOURS)
        to = replace(before.run, state=RunState.WAITING, deadline=until)
        return Move(to=to, entry="workflow.asked")

    def _moved(self, before: Opened, move: Move) -> None:
        """Move the run; where somebody it is about was forgotten meanwhile, it fails for that."""
        try:
            self.runner.move(before, move)
        except SubjectForgotten:
            step = before.step
            known_still = self.runner.platform.keys.get(
                before.workspace_id, before.run.data_subjects
            )
            about = tuple(each for each in before.run.data_subjects if each in known_still)
            run = replace(before.run, data_subjects=about)
            if step is not None:
                gone = replace(before, run=run, given={})
                self.runner.move(gone, failed(run, step, FORGOTTEN))


def named_step(before: Opened, step: Step) -> Step:
    """Return the step with its texts filled in, a prompt's as data; ResultForgotten."""
    names = known(before.run, before.definition, before.given, before.results)
    if step.prompt is not None:
        quoted = {name: as_data("data", value, name=name) for name, value in names.items()}
        return replace(step, prompt=str(filled(step.prompt, StepNames(quoted))))
    texts = {
        name: filled(getattr(step, name), names)
        for name in ("query", "message", "title", "body", "keywords", "arguments")
        if getattr(step, name) is not None
    }
    return replace(step, **texts)


def succeeded(before: Opened, step: Step, result: Result) -> Move:
    """Return the move after a step that was done."""
    run = before.run
    last = run.step + 1 >= len(before.definition.steps)
    to = replace(
        run,
        step=run.step + 1,
        seq=run.seq + 1,
        state=RunState.DONE if last else RunState.RUNNING,
        code=None,
        began=False,
        approval=None,
    )
    return Move(to=to, step=step, result=result)


def failed(run: RunRow, step: Step, code: str, detail: str = "") -> Move:
    """Return the move after a step that could not be done: it stays the next one."""
    to = replace(
        run,
        seq=run.seq + 1,
        state=RunState.FAILED,
        code=code[:100],
        deadline=None,
        began=False,
        approval=None,
    )
    output = {"detail": detail[:1_000]} if detail else {}
    return Move(to=to, step=step, result=Result(output=output, error=code[:100]))


def code_of(error: str) -> str:
    """Return the code of what a machine gave up on, such as `States.Timeout`."""
    return "".join(each if each.isalnum() else "-" for each in error).strip("-").lower() or "error"


def answer(before: Opened, run: int) -> dict[str, Any]:
    """Return ids, and what is next: a step's kind, or the state that the run is in."""
    now = before.run
    following = now.state.value
    if now.execution != run:
        following = SUPERSEDED
    elif now.state is RunState.RUNNING and before.step is not None:
        following = before.step.kind
    return {
        "workspace_id": str(before.workspace_id),
        "workflow_run_id": str(now.id),
        "run": now.execution,
        "next": following,
    }
