"""Tools over what an agent is given before it asks: its snapshot, read and baked anew."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.fields import Body, Name
from cairn.api.mcp.tool import ADMINS, Effect, Tool, ToolAnswer
from cairn.bootstrap.api import ApiServices
from cairn.kernel.access import Principal
from cairn.sessions.knowledge import Form, KnowledgeView

NOTHING = "The snapshot is empty."


class SnapshotArguments(Body):
    """Whose, and how it is to be shown."""

    agent: Name | None = None
    form: Annotated[Form, Field(strict=False)] | None = None


class BakeArguments(Body):
    """Whose, and how it is shown from now on."""

    agent: Name
    summary: bool = False


class SnapshotRead(TypedDict):
    """A snapshot: `missing` of its nodes may no longer be shown."""

    agent: str
    version: int
    form: str
    missing: NotRequired[int]
    nodes: int


def _read(services: ApiServices, principal: Principal, arguments: SnapshotArguments) -> ToolAnswer:
    return _answer(services.knowledge.read(principal, arguments.agent, form=arguments.form))


def _bake(services: ApiServices, principal: Principal, arguments: BakeArguments) -> ToolAnswer:
    baked = services.knowledge.bake(principal, arguments.agent, summary=arguments.summary)
    return _answer(baked)


def _answer(view: KnowledgeView) -> ToolAnswer:
    structured = {
        "agent": view.agent,
        "version": view.version,
        "form": view.form.value,
        "missing": view.missing or None,
        "nodes": len(view.node_ids),
    }
    return ToolAnswer(text=view.text or NOTHING, structured=structured)


READ = Tool(
    name="knowledge_read",
    title="Read what you were given",
    description="Read the snapshot of knowledge that was baked for an agent.",
    arguments=SnapshotArguments,
    parameters={
        "agent": "Whose; your own.",
        "form": "full, or summary: a line of each; the snapshot's own.",
    },
    result=SnapshotRead,
    call=_read,
    of_a_client=True,
)
BAKE = Tool(
    name="knowledge_bake",
    title="Bake what an agent is given",
    description="Keep a new snapshot of what is tagged for an agent and found by its subscription.",
    arguments=BakeArguments,
    parameters={
        "agent": "Whose.",
        "summary": "Show a line of each instead of all.",
    },
    result=SnapshotRead,
    call=_bake,
    roles=ADMINS,
    effect=Effect.CHANGE,
    repeatable=False,
)
