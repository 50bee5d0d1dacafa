"""What a method was given, as a body of the API. No I/O but the file that is named."""

from __future__ import annotations

import base64
import mimetypes
from pathlib import Path
from typing import Any, Literal, TypeAlias
from uuid import UUID

from cairn_memory import models

DEFAULT_URL = "http://127.0.0.1:8000"
BATCH = 500
"""How many memories a request may hold."""
MARKDOWN = "text/markdown"
"""What a text is taken for whose source does not tell; plain text is read the same."""
INLINE_BYTES = 2_900_000
"""How large a file in a request may be; a larger one is uploaded first."""
UPLOADED = 412
"""What the object store answers to an upload that it has: one whose first answer was lost."""
UPLOAD_AGAIN = frozenset({409, 500, 502, 503, 504})

Kind: TypeAlias = Literal["event", "fact", "decision", "status"]
Scope: TypeAlias = Literal["public", "shared", "admin"]
Importance: TypeAlias = int | Literal["critical", "high", "medium", "low"]
Wait: TypeAlias = Literal["stored", "embedded"]


def given(**fields: Any) -> dict[str, Any]:
    """Return the fields that were given: neither None nor an empty sequence."""
    return {name: value for name, value in fields.items() if value is not None and value != ()}


def memory_of(text: str, **fields: Any) -> models.MemoryIn:
    """Return a memory to write."""
    return models.MemoryIn.model_validate({"text": text, **given(**fields)})


def given_by(
    memory: str | models.MemoryIn, client_id: str | None, session_id: str | None
) -> dict[str, Any]:
    """Return a memory of a batch; a text is a fact, and what it leaves out is as given here."""
    written = memory_of(memory, type="fact") if isinstance(memory, str) else memory
    plain = written.model_dump(mode="json", exclude_unset=True, by_alias=True)
    return given(client_id=client_id, session_id=session_id) | plain


def subject_of(subject: str) -> dict[str, str]:
    """Return the data subject that `client:acme` names; ValueError for another form."""
    kind, colon, key = subject.partition(":")
    if not colon or kind not in ("client", "person") or not key:
        raise ValueError("subject must be client:<id> or person:<name>")
    return {"kind": kind, "natural_key": key}


def content_of(document: Path | str) -> bytes | None:
    """Return the bytes of a file; None for a text."""
    return document.read_bytes() if isinstance(document, Path) else None


def document_of(
    document: Path | str,
    content: bytes | None,
    *,
    source_uri: str | None,
    upload_id: UUID | None,
    **fields: Any,
) -> models.DocumentIn:
    """Return a document to ingest; ValueError for a text without a source."""
    if isinstance(document, str):
        if source_uri is None:
            raise ValueError("a text needs a source_uri; a file is given as a Path")
        told = mimetypes.guess_type(source_uri)[0]
        body = given(source_uri=source_uri, text=document, media_type=told or MARKDOWN, **fields)
        return models.DocumentIn.model_validate(body)
    inline = content is not None and upload_id is None
    body = given(
        source_uri=source_uri or document.resolve().as_uri(),
        media_type=mimetypes.guess_type(document.name)[0],
        content_base64=base64.b64encode(content or b"").decode("ascii") if inline else None,
        upload_id=upload_id,
        **fields,
    )
    return models.DocumentIn.model_validate(body)
