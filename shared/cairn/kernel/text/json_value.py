"""The type of a decoded JSON value. Not a validator: `checks` and `canonical` refuse bad ones."""

from typing import TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
