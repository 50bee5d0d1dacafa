"""The file of samples that `cairn connectors test` takes. Not what is asked with them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cairn.bundled.contract import Call, Samples, WriteSample
from cairn.kernel.errors import FieldError, ValidationFailed


class _Call(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)

    def made(self) -> Call:
        return Call(tool=self.tool, arguments=self.arguments)


class _Write(BaseModel):
    model_config = ConfigDict(extra="forbid")

    write: _Call
    shown_by: _Call


class _Samples(BaseModel):
    model_config = ConfigDict(extra="forbid")

    arguments: dict[str, dict[str, Any]] = Field(default_factory=dict)
    large: _Call | None = None
    writes: list[_Write] = Field(default_factory=list[_Write])


def read_samples(text: str | bytes) -> Samples:
    """Return the samples of a JSON text; ValidationFailed names what is wrong with it."""
    try:
        given = _Samples.model_validate_json(text)
    except ValidationError as error:
        places = [
            FieldError(".".join(str(part) for part in one["loc"]) or "$", one["msg"])
            for one in error.errors(include_url=False, include_input=False)
        ]
        said = "; ".join(f"{place.location}: {place.message}" for place in places)
        raise ValidationFailed(f"The samples cannot be read: {said}.", errors=places) from None
    return Samples(
        arguments=given.arguments,
        large=given.large.made() if given.large else None,
        writes=[
            WriteSample(write=one.write.made(), shown_by=one.shown_by.made())
            for one in given.writes
        ],
    )
