"""A tool that tells where published sites are. Publishing is a person's decision: no tool does."""

from typing import NotRequired

from typing_extensions import TypedDict

from cairn.api.fields import Body
from cairn.api.mcp.tool import WRITERS, Tool, ToolAnswer
from cairn.api.routes.publications import public_host_json
from cairn.bootstrap.api import ApiServices
from cairn.kernel.access import Principal


class HostResult(TypedDict):
    """Where sites are served; with a `reason` nowhere, and nothing else is said."""

    hostname: NotRequired[str]
    url: NotRequired[str]
    source: NotRequired[str]
    reason: NotRequired[str]


class HostArguments(Body):
    """Nothing: the deployment has one host of sites, or none."""


def _host(services: ApiServices, principal: Principal, arguments: HostArguments) -> ToolAnswer:
    host = services.publications.host(principal)
    text = host.url or f"This deployment serves no sites ({host.reason}): set CAIRN_SITES_URL."
    return ToolAnswer(text=text, structured={**public_host_json(host)})


HOST = Tool(
    name="public_host",
    aliases=("public-hostname",),
    title="Where published sites are",
    description=(
        "The public host of this workspace's sites, and what their addresses begin with: never "
        "guess it. A reason instead where the deployment serves none."
    ),
    arguments=HostArguments,
    parameters={},
    result=HostResult,
    call=_host,
    roles=WRITERS,
)
