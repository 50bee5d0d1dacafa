"""A form with a file, as a browser sends it without a script. Not uploads past the API.

What came is at most a request's body (`BodyLimit`), and lies on disk above a mebibyte.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException

from cairn.api.console.forms import wrong_field
from cairn.api.console.guard import (
    MAX_FORM_BYTES,
    changing_visitor,
    form_of,
    require_characters,
)
from cairn.api.problems import Refused
from cairn.kernel.errors import ValidationFailed

if TYPE_CHECKING:
    from cairn.api.console.guard import Visitor

MULTIPART = "multipart/form-data"
FIELDS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A form as it was sent: its fields, and the name and the bytes of its file."""

    fields: dict[str, str] = field(default_factory=dict[str, str])
    name: str = ""
    content: bytes = field(default=b"", repr=False)

    def visitor(self, request: Request) -> Visitor:
        """Return who sent it; refused when another page may have sent it for them."""
        return changing_visitor(request, self.fields)

    def text(self) -> str:
        """Return what the file says, and nothing without one; ValidationFailed unless UTF-8."""
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            message = "is no text in UTF-8: save it anew, as CSV UTF-8 for instance"
            raise wrong_field("file", message) from error


async def sent(request: Request) -> Sent:
    """Read a form that may have one file; ValidationFailed for what is no such form."""
    media_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if media_type != MULTIPART:
        return Sent(fields=form_of(request, await request.body()))
    try:
        async with request.form(
            max_files=1, max_fields=FIELDS, max_part_size=MAX_FORM_BYTES
        ) as form:
            return await _read(form)
    except Refused:  # the body is too large
        raise
    except (HTTPException, ValueError) as error:
        raise ValidationFailed("This is no form.", reason="body") from error


async def _read(form: FormData) -> Sent:
    items = form.multi_items()
    if len(items) != len(form):
        raise ValidationFailed("A field is given twice.", reason="body")
    fields = {name: value for name, value in items if isinstance(value, str)}
    files = [value for _, value in items if isinstance(value, UploadFile)]
    name = (files[0].filename or "") if files else ""
    require_characters([*fields.values(), name])
    return Sent(fields=fields, name=name, content=await files[0].read() if files else b"")


FileForm = Annotated[Sent, Depends(sent)]
