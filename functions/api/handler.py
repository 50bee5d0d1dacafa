"""The API as a function: the same ASGI app that uvicorn serves, behind API Gateway.

It works at the queue of messaging channels, too: what is said there the same chat answers.
"""

from typing import Any
from uuid import UUID

from mangum import Mangum
from pydantic import BaseModel, ValidationError

from cairn.api.entry import create_asgi_app
from cairn.bootstrap.telemetry import invocation
from cairn.kernel.errors import CairnError
from cairn.kernel.spans import received

app = create_asgi_app()
application = Mangum(app, lifespan="off", api_gateway_base_path="/jwt")


class Message(BaseModel):
    """A queue message: what came in from a channel, or what one is to be told of."""

    workspace_id: UUID
    about_id: UUID
    outbox_id: UUID


@invocation
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request, or work at messages and say which are to come again."""
    if "Records" in event:
        failed = [record["messageId"] for record in event["Records"] if not _worked(record)]
        return {"batchItemFailures": [{"itemIdentifier": item} for item in failed]}
    return application(event, context)


def _worked(record: dict[str, Any]) -> bool:
    services = app.state.services
    try:
        message = Message.model_validate_json(record["body"])
    except ValidationError:
        services.log.error("channel.malformed", extra={"message_id": record["messageId"]})
        return False
    try:
        with received(record, "channel"):
            work = services.work_channel
            became = work(message.workspace_id, message.about_id, message.outbox_id)
    except CairnError as error:
        services.log.warning("channel.failed", extra={"error": error.code, "reason": error.reason})
        return False
    services.log.info("channel.worked", extra={"became": became})
    return True
