"""A form as it was sent, and what is wrong with it by field, so that nothing is typed twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cairn.kernel.errors import FieldError, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import ValidationError

MOST_SHOWN = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What was typed, by field, and what is wrong with it."""

    values: Mapping[str, str] = field(default_factory=dict[str, str])
    wrong: Sequence[FieldError] = ()

    def value(self, name: str, otherwise: str = "") -> str:
        """Return what was typed into a field, cut where nobody would have typed it."""
        return self.values.get(name, otherwise)[:MOST_SHOWN]

    def of(self, name: str) -> str:
        """Return what is wrong with a field or a part of it, empty where nothing is."""
        return "; ".join(
            each.message
            for each in self.wrong
            if each.location == name or each.location.startswith(f"{name}.")
        )

    def beside(self, names: Sequence[str]) -> str:
        """Return what is wrong with none of these fields."""
        return "; ".join(
            f"{each.location} {each.message}"
            for each in self.wrong
            if not any(each.location in (name, f"{name}.") for name in names)
        )


def refused_form(values: Mapping[str, str], error: Exception, fallback: str) -> Form:
    """Return a form with what an error says of its fields; of `fallback` where it names none."""
    errors: Sequence[FieldError] = getattr(error, "errors", ())
    detail = getattr(error, "detail", "is not valid")
    return Form(values=values, wrong=errors or (FieldError(fallback, detail),))


def as_failure(error: ValidationError) -> ValidationFailed:
    """Return what a model refused as the error that use cases raise."""
    errors = [
        FieldError(".".join(str(part) for part in each["loc"]) or "name", each["msg"])
        for each in error.errors()
    ]
    first = errors[0]
    return ValidationFailed(f"{first.location}: {first.message}.", errors=errors)
