"""A state of the machine, as its functions are called with it. Ids only."""

from typing import Literal
from uuid import UUID

from pydantic import BaseModel


class WorkflowStep(BaseModel):
    """What to do of which run; `run` says which execution counts."""

    step: Literal["enter", "halt", "recall", "digest", "ask", "tool", "wait", "report", "notify"]
    workspace_id: UUID
    workflow_run_id: UUID
    run: int
    error: str = ""
