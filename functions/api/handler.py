"""The API as a function: the same ASGI app that uvicorn serves, behind API Gateway."""

from typing import Any

from mangum import Mangum

from cairn.api.entry import create_asgi_app
from cairn.bootstrap.telemetry import invocation

application = Mangum(create_asgi_app(), lifespan="off", api_gateway_base_path="/jwt")


@invocation
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return application(event, context)
