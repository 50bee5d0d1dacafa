"""The app that an organisation uploads to Teams: within Teams' own limits, and whole."""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
from typing import Any

import pytest

from cairn.channels.teams.package import manifest, package, picture

APP = "c9e8c047-2a74-40a2-b28a-b162d5f5327c"


def made(**more: Any) -> dict[str, Any]:
    return manifest(APP, name="Cairn", website="https://cairn.example", **more)


@pytest.mark.parametrize("name", ["Cairn", "A bot whose name is far longer than any in Teams " * 3])
def test_a_manifest_has_what_the_schema_of_teams_needs_within_its_limits(name: str) -> None:
    document = manifest(APP, name=name, website="https://cairn.example")
    needed = {"manifestVersion", "version", "id", "developer", "name", "description", "icons"}
    assert needed | {"accentColor"} <= document.keys()
    assert document["manifestVersion"] in document["$schema"]
    for text, most in (
        (document["name"]["short"], 30),
        (document["name"]["full"], 100),
        (document["developer"]["name"], 32),
        (document["description"]["short"], 80),
        (document["description"]["full"], 4_000),
    ):
        assert 0 < len(text) <= most
    assert re.fullmatch("#[0-9a-f]{6}", document["accentColor"])
    (bot,) = document["bots"]
    assert (bot["botId"], set(bot["scopes"])) == (APP, {"personal", "team", "groupChat"})
    assert "authorization" not in document


def test_a_bot_that_hears_all_asks_the_owners_of_teams_for_that_and_no_more() -> None:
    document = made(hears_all=True)
    assert document["authorization"]["permissions"]["resourceSpecific"] == [
        {"name": "ChannelMessage.Read.Group", "type": "Application"}
    ]
    assert document["webApplicationInfo"]["id"] == APP


def test_a_package_is_the_manifest_with_two_icons_of_the_size_that_teams_asks_for() -> None:
    content = package(made())
    assert content == package(made())
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        assert json.loads(archive.read("manifest.json")) == made()
        for name, size in (("color.png", 192), ("outline.png", 32)):
            icon = archive.read(made()["icons"][name.partition(".")[0]])
            assert icon[:8] == b"\x89PNG\r\n\x1a\n"
            assert struct.unpack(">II", icon[16:24]) == (size, size)
    assert picture(32, b"\xff\xff\xff\x00") != picture(32, b"\x00\x00\x00\xff")
