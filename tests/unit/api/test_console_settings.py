"""What the console says of settings is what the guide says, and every setting is there."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from cairn.api.console.settings import meanings
from cairn.workspace.documents import leaves
from cairn.workspace.settings import WorkspaceSettings

GUIDE = Path(__file__).parents[3] / "docs" / "use" / "settings.md"


def plain(text: str) -> str:
    return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text).replace("`", "")


def in_guide() -> dict[str, dict[str, str]]:
    rows: dict[str, dict[str, str]] = {}
    for line in GUIDE.read_text("utf-8").partition("## All settings")[2].splitlines():
        if line.startswith("| `"):
            path, value, _, _, meaning = re.split(r"\s*\|\s*", line.strip("| "))
            rows[plain(path)] = {"value": plain(value), "meaning": plain(meaning)}
    return rows


def test_each_setting_means_on_its_page_what_the_guide_says() -> None:
    assert dict(meanings()) == in_guide()


def test_no_setting_is_left_out() -> None:
    values: dict[str, Any] = WorkspaceSettings().model_dump(mode="json")
    paths = {".".join(path) for path, _ in leaves(values)}
    assert paths == set(meanings())


@pytest.mark.parametrize("path", sorted(meanings()))
def test_each_path_leads_to_a_field(path: str) -> None:
    model: Any = WorkspaceSettings
    for name in path.split("."):
        assert issubclass(model, BaseModel), path
        model = model.model_fields[name].annotation
