"""YAML without its surprises: no aliases, no tags, no key twice, keys are texts."""

from __future__ import annotations

from typing import Any, cast

import yaml
from yaml.constructor import ConstructorError


class PlainLoader(yaml.SafeLoader):
    """A SafeLoader that refuses what lets a small text grow or mean two things."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Refuse anchors and aliases: a text of a hundred bytes could stand for a gigabyte."""
        event = cast("Any", self).peek_event()
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise ConstructorError(None, None, "anchors and aliases are not used", event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Refuse keys that are no texts or come twice."""
        seen: set[str] = set()
        for key, _ in node.value:
            if key.tag != "tag:yaml.org,2002:str":
                raise ConstructorError(None, None, "a key must be a text", key.start_mark)
            if key.value in seen:
                raise ConstructorError(None, None, "a key stands twice", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)
