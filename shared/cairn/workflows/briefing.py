"""The workflow that ships: what is new and what waits, by rules, as a report each day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.workflows.definition import Definition, Step
from cairn.workflows.schedule import Schedule

if TYPE_CHECKING:
    from cairn.workspace.settings import BriefingSettings

BRIEFING = "daily-briefing"


def briefing(settings: BriefingSettings) -> Definition:
    """Return the daily briefing of a workspace."""
    return Definition(
        name=BRIEFING,
        description="What is new since yesterday and what waits, as a report. It ships with Cairn.",
        steps=(
            Step(name="digest", kind="digest", hours=24),
            Step(
                name="report",
                kind="report",
                title="Daily briefing {{ run.date }}",
                body="{{ steps.digest.text }}",
                keywords=(BRIEFING, "{{ run.date }}"),
            ),
        ),
        schedule=Schedule(at=settings.at, timezone=settings.timezone),
    )
