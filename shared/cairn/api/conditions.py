"""Conditions on memories' metadata: a list in a body, the same as JSON in a query parameter."""

from typing import Annotated

from fastapi import Query
from pydantic import Field, TypeAdapter, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from cairn.api.fields import Body, Name
from cairn.graph.conditions import MAX_CONDITIONS, MAX_STEPS, Condition, Op, fault_of
from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.nodes.properties import PropertyCondition, ValueType, fault_of_type

Scalar = str | float | int | bool | None
MAX_CHARS = 8_000


class ConditionIn(Body):
    """What a value of a memory's metadata must be."""

    path: Annotated[list[Name], Field(min_length=1, max_length=MAX_STEPS)]
    op: Annotated[Op, Field(strict=False)] = Op.EQ
    value: Scalar | list[Scalar] = None

    @model_validator(mode="after")
    def comparable(self) -> "ConditionIn":
        """Refuse a value that the operator cannot compare."""
        if wrong := fault_of(self.record()):
            raise PydanticCustomError("condition", "{wrong}", {"wrong": wrong})
        return self

    def record(self) -> Condition:
        """Return the use case's record."""
        return Condition(path=tuple(self.path), op=self.op, value=self.value)


class PropertyConditionIn(ConditionIn):
    """What a property of a node must be."""

    type: Annotated[ValueType, Field(strict=False)] | None = None

    @model_validator(mode="after")
    def of_its_type(self) -> "PropertyConditionIn":
        """Refuse a value that is not of the type it says."""
        if wrong := fault_of_type(self.record()):
            raise PydanticCustomError("condition", "{wrong}", {"wrong": wrong})
        return self

    def record(self) -> PropertyCondition:
        """Return the use case's record."""
        return PropertyCondition(
            path=tuple(self.path), op=self.op, value=self.value, type=self.type
        )


Properties = Annotated[list[PropertyConditionIn], Field(max_length=MAX_CONDITIONS)]
Where = Annotated[list[ConditionIn], Field(max_length=MAX_CONDITIONS)]
WhereParameter = Annotated[str | None, Query(max_length=MAX_CHARS)]
_WHERE: TypeAdapter[list[ConditionIn]] = TypeAdapter(Where)


def conditions_of(text: str | None) -> tuple[Condition, ...]:
    """Return the conditions of a query parameter; ValidationFailed that says what is wrong."""
    if text is None:
        return ()
    try:
        return tuple(each.record() for each in _WHERE.validate_json(text))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(["where", *(str(step) for step in first["loc"])])
        raise ValidationFailed(
            f'{where}: {first["msg"]}; such as [{{"path": ["colour"], "value": "red"}}].',
            errors=[FieldError(where, first["msg"])],
        ) from error
