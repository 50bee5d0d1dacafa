"""A form as it was sent, and what is wrong with it by field, so that nothing is typed twice."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from cairn.kernel.errors import Conflict, FieldError, ValidationFailed
from cairn.kernel.text.canonical import parse_timestamp
from cairn.tickets.adapter import DeskForm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

ModelT = TypeVar("ModelT", bound=BaseModel)
MOST_SHOWN, MOST_WRITTEN = 2_000, 65_536
SECRETS = "secrets"
"""The field that is never shown again, not even where it was wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What was typed, by field, and what is wrong with it."""

    values: Mapping[str, str] = field(default_factory=dict[str, str])
    wrong: Sequence[FieldError] = ()

    def value(self, name: str, otherwise: str = "") -> str:
        """Return what was typed into a field, cut where nobody would have typed it."""
        return self.values.get(name, otherwise)[:MOST_SHOWN]

    def text(self, name: str, otherwise: str = "") -> str:
        """Return what was written into a field of several lines."""
        return self.values.get(name, otherwise)[:MOST_WRITTEN]

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


def wrong_field(field: str, message: str) -> ValidationFailed:
    """Return the error of one field."""
    return ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])


def day_of(text: str, field: str) -> datetime | None:
    """Return the beginning of a day (UTC) that a field has; None for an empty one."""
    if not text:
        return None
    try:
        return parse_timestamp(f"{text}T00:00:00Z")
    except ValidationFailed as error:
        raise wrong_field(field, "is a day such as 2026-01-31") from error


def number_of(text: str) -> int | None:
    """Return the number of a page's link; None for an empty text and for what is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None


def number_or_text(text: str) -> int | str:
    """Return the number that a field has; the text where it is none, for the model to refuse."""
    number = number_of(text)
    return text if number is None else number


def refused_form(values: Mapping[str, str], error: Exception, fallback: str) -> Form:
    """Return a form with what an error says of its fields; of `fallback` where it names none."""
    errors: Sequence[FieldError] = getattr(error, "errors", ())
    detail = getattr(error, "detail", "is not valid")
    return Form(values=values, wrong=errors or (FieldError(fallback, detail),))


def refused_deed(
    values: Mapping[str, str], error: Conflict | ValidationFailed, fallback: str
) -> dict[str, Any]:
    """Return the form of a deed that was refused, and the page's status. Secrets are left out."""
    shown = {name: text for name, text in values.items() if name.partition(".")[0] != SECRETS}
    status = 409 if isinstance(error, Conflict) else 422
    return {"form": refused_form(shown, error, fallback), "status": status}


def typed(text: str, fits: Callable[[object], bool]) -> object:
    """Return the value that fits what was typed: a text, several after commas, or JSON."""
    several = [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    return next((each for each in (text, value, several) if fits(each)), text)


def as_typed(value: object) -> str:
    """Return a value as `typed` reads it."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(each, str) for each in cast("list[Any]", value)):
        return ", ".join(cast("list[str]", value))
    return json.dumps(value, ensure_ascii=False)


def json_object(form: Mapping[str, str], name: str) -> dict[str, Any]:
    """Return a field that is a JSON object, nothing for an empty one."""
    text = form.get(name, "").strip()
    try:
        value: Any = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        message = 'is no JSON object, such as {"name": "value"}'
        raise ValidationFailed(f"{name} {message}.", errors=[FieldError(name, message)])
    return cast("dict[str, Any]", value)


def secrets_of(form: Mapping[str, str]) -> dict[str, str]:
    """Return the secrets of a form, one a line as name=value; an empty value is an empty text."""
    pairs = [line.partition("=") for line in form.get(SECRETS, "").splitlines() if line.strip()]
    if any(not name.strip() or not equals for name, equals, _ in pairs):
        message = "are lines such as token=abc"
        raise ValidationFailed(f"secrets {message}.", errors=[FieldError(SECRETS, message)])
    return {name.strip(): value.strip() for name, _, value in pairs}


NO_KIND = DeskForm(config=(), secrets=())
"""What one of a kind that there is not is made of: the API says so."""


def kind_config_of(form: Mapping[str, str], kind: DeskForm) -> dict[str, object]:
    """Return the settings that a form has, of a kind that says which there are."""
    texts = [(each, form.get(f"config.{each.name}", "").strip()) for each in kind.config]
    return {each.name: typed(text, each.fits) for each, text in texts if text}


def kind_secrets_of(form: Mapping[str, str], kind: DeskForm) -> dict[str, str]:
    """Return the secrets that a form has, of a kind that says which there are."""
    texts = {each.name: form.get(f"secrets.{each.name}", "").strip() for each in kind.secrets}
    return {name: text for name, text in texts.items() if text}


def checked(model: type[ModelT], values: Mapping[str, Any]) -> ModelT:
    """Return what a form says as the API takes it; ValidationFailed names each wrong field."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise as_failure(error) from error


def as_failure(error: ValidationError) -> ValidationFailed:
    """Return what a model refused as the error that use cases raise."""
    errors = [
        FieldError(".".join(str(part) for part in each["loc"]) or "name", each["msg"])
        for each in error.errors()
    ]
    first = errors[0]
    return ValidationFailed(f"{first.location}: {first.message}.", errors=errors)
