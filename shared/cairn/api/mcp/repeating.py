"""What makes a tool that writes repeatable: a key the caller picks, as the REST header is one."""

from typing import Annotated

from pydantic import Field

from cairn.api.answers import encode
from cairn.api.fields import Body
from cairn.kernel.text.hashes import sha256
from cairn.writing.items import IdempotencyKey

RepeatKey = Annotated[
    str,
    Field(
        pattern=r"^[\x21-\x7e]{1,255}$",
        description="The same key and arguments within 24 hours are written once.",
    ),
]


def repeated(arguments: Body, key: str | None) -> IdempotencyKey | None:
    """Return the key with the hash of the arguments it came with; None without one."""
    if key is None:
        return None
    given = arguments.model_dump(mode="json", exclude={"idempotency_key"})
    return IdempotencyKey(key=key, body_hash=sha256(encode([type(arguments).__name__, given])))
