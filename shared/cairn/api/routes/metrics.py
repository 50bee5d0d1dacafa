"""`GET /metrics`: the fourteen metrics in the Prometheus format, for whoever runs the machine.

They count every workspace, so a key of one does not open them: the deployment's own token does.
"""

import hmac

from fastapi import Request, Response

from cairn.api.dependencies import Options, Services
from cairn.api.problems import Refused
from cairn.api.routing import router
from cairn.kernel.errors import Unauthenticated

routes = router("operations")


@routes.get("/metrics", include_in_schema=False)
def metrics(request: Request, services: Services, options: Options) -> Response:
    """Show them; there is no such path where they are told to CloudWatch instead."""
    if options.metrics_token is None:
        raise Refused("not-found", "There is no such path.", reason="route")
    given = request.headers.get("authorization", "").encode()
    if not hmac.compare_digest(given, f"Bearer {options.metrics_token}".encode()):
        raise Unauthenticated("The token of /metrics is missing or wrong.", reason="metrics-token")
    return Response(services.show_metrics(), media_type="text/plain; version=1.0.0")
