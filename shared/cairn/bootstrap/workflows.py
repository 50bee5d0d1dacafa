"""What runs of workflows are made of: for the functions of the machine, and for the API."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cairn.bootstrap.lazy import lazy, part
from cairn.investigations.run.redact_errors import redact_errors
from cairn.kernel.spans import span

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from uuid import UUID

    from cairn.bootstrap.investigations import InvestigationParts
    from cairn.connectors.host import Host
    from cairn.llm.gateway import Gateway
    from cairn.workflows.definitions import Workflows
    from cairn.workflows.moving import Runner
    from cairn.workflows.step import RunWorkflowStep, StepFunction
    from cairn.workflows.sweeping import SweepWorkflows


@dataclass(frozen=True)
class WorkflowSteps:
    """The states of the machine as its functions call them; each answers what is next.

    `steps` makes the step of each kind that its function runs.
    """

    parts: InvestigationParts
    steps: Mapping[str, Callable[[], StepFunction]] = field(
        default_factory=dict[str, "Callable[[], StepFunction]"]
    )

    @part
    def runner(self) -> Runner:
        """What reads and moves runs."""
        from cairn.workflows.moving import Runner

        return Runner(platform=self.parts.platform)

    @part
    def run(self) -> RunWorkflowStep:
        """What runs a step."""
        from cairn.workflows.definition import Kind
        from cairn.workflows.step import RunWorkflowStep

        functions = {Kind(name): lazy(make) for name, make in self.steps.items()}
        return RunWorkflowStep(runner=self.runner, steps=functions)

    @part
    def sweep(self) -> SweepWorkflows:
        """What goes on with runs that stand still."""
        from cairn.adapters.postgres.sweeping import ListWorkspaces
        from cairn.bootstrap.parts import warn
        from cairn.workflows.sweeping import SweepWorkflows

        return SweepWorkflows(
            workspaces=ListWorkspaces(self.parts.opened),
            runner=self.runner,
            report=warn(self.parts.log),
        )

    @redact_errors()
    def __call__(
        self, *, step: str, workspace_id: UUID, workflow_run_id: UUID, run: int, error: str = ""
    ) -> dict[str, Any]:
        """Do one step and return ids and what is next."""
        from cairn.workflows.definition import Kind

        run_id = workflow_run_id
        opened = self.runner.read(workspace_id, run_id)
        attributes = {
            "cairn.workspace_id": str(workspace_id),
            "cairn.workflow_run_id": str(workflow_run_id),
        }
        with span(f"workflow {step}", attributes, parent=opened.run.traceparent):
            if step == "enter":
                answer = self.run.enter(workspace_id, run_id, run=run)
            elif step == "halt":
                answer = self.run.halt(workspace_id, run_id, run=run, error=error)
            else:
                answer = self.run(workspace_id, run_id, kind=Kind(step), run=run)
        self.parts.log.info("workflow.step", extra={"step": step, **answer})
        return answer


def workflows_of(parts: InvestigationParts) -> Workflows:
    """Return what workflows are made of."""
    from cairn.workflows.definitions import Workflows

    def tools(workspace_id: UUID) -> frozenset[str]:
        manifests = (each.manifest for each in parts.connectors.connectors(workspace_id))
        return frozenset(tool.key for each in manifests if each for tool in each.tools)

    return Workflows(platform=parts.platform, tools=tools)


def thinking_steps(
    parts: InvestigationParts, models: Callable[[], Gateway | None]
) -> dict[str, Callable[[], StepFunction]]:
    """Return the steps that need neither a search nor a connector."""
    return {
        "ask": lambda: _ask(parts, models()),
        "digest": lambda: _sum_up(parts),
        "report": lambda: _report(parts),
        "notify": lambda: _notify(),
    }


def tool_steps(parts: InvestigationParts, host: Host) -> dict[str, Callable[[], StepFunction]]:
    """Return the step that calls a tool."""

    def call() -> StepFunction:
        from cairn.workflows.acting import CallToolStep
        from cairn.workflows.moving import Runner

        runner = Runner(platform=parts.platform)
        return CallToolStep(runner=runner, pipeline=parts.pipeline, host=host)

    return {"tool": call}


def _ask(parts: InvestigationParts, models: Gateway | None) -> StepFunction:
    from cairn.workflows.asking import AskModel

    return AskModel(models=models, hiding=parts.hiding)


def _sum_up(parts: InvestigationParts) -> StepFunction:
    from cairn.bootstrap.parts import session_opening
    from cairn.investigations.browse import BrowseInvestigations
    from cairn.investigations.journal import Opener
    from cairn.investigations.people.bundle import Escalations
    from cairn.workflows.doing import SumUp

    platform = parts.platform
    browse = BrowseInvestigations(
        transactions=platform.transactions,
        open=Opener(keys=platform.keys, cipher=platform.cipher),
    )
    calls = Escalations(journal=parts.journal, browse=browse)
    return SumUp(
        platform=platform,
        opening=session_opening(platform, parts.log, investigations=browse, escalations=calls),
    )


def _report(parts: InvestigationParts) -> StepFunction:
    from cairn.reports.write import WriteReport
    from cairn.workflows.doing import ReportStep

    return ReportStep(write=WriteReport(parts.platform))


def _notify() -> StepFunction:
    from cairn.workflows.doing import notify

    return notify
