"""The app package that an organisation uploads to Teams: its manifest and two icons. Pure.

https://developer.microsoft.com/json-schemas/teams/v1.19/MicrosoftTeams.schema.json
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from typing import Any

SCHEMA = "https://developer.microsoft.com/json-schemas/teams/v1.19/MicrosoftTeams.schema.json"
COLOUR, SIZE, OUTLINE_SIZE = "#0f766e", 192, 32
RSC_RESOURCE = "https://RscBasedStoreApp"
STONES = ((0.5, 0.27, 0.16, 0.09), (0.5, 0.47, 0.24, 0.1), (0.5, 0.7, 0.33, 0.12))
"""Of the icon: middle, and half of the width and the height, of each stone."""

FIRST_DAY = (2026, 1, 1, 0, 0, 0)


def manifest(app_id: str, *, name: str, website: str, hears_all: bool = False) -> dict[str, Any]:
    """Return the manifest of a bot. `hears_all`: teams consent that it need not be mentioned."""
    document: dict[str, Any] = {
        "$schema": SCHEMA,
        "manifestVersion": "1.19",
        "version": "1.0.0",
        "id": app_id,
        "developer": {
            "name": name[:32],
            "websiteUrl": website,
            "privacyUrl": website,
            "termsOfUseUrl": website,
        },
        "name": {"short": name[:30], "full": name[:100]},
        "description": {
            "short": "Answers from your documents, and asks before it acts.",
            "full": "Write to it, or mention it in a channel or a chat. Operators decide on "
            "actions by buttons, and take over chats in reply chains.",
        },
        "icons": {"color": "color.png", "outline": "outline.png"},
        "accentColor": COLOUR,
        "bots": [
            {
                "botId": app_id,
                "scopes": ["personal", "team", "groupChat"],
                "isNotificationOnly": False,
                "supportsFiles": False,
            }
        ],
        "validDomains": [],
    }
    if hears_all:
        document["webApplicationInfo"] = {"id": app_id, "resource": RSC_RESOURCE}
        permission = {"name": "ChannelMessage.Read.Group", "type": "Application"}
        document["authorization"] = {"permissions": {"resourceSpecific": [permission]}}
    return document


def package(document: dict[str, Any]) -> bytes:
    """Return the package of a manifest, the same bytes each time."""
    files = {
        "manifest.json": json.dumps(document, indent=2, ensure_ascii=False).encode(),
        "color.png": picture(SIZE, bytes.fromhex(COLOUR[1:]) + b"\xff"),
        "outline.png": picture(OUTLINE_SIZE, b"\xff\xff\xff\x00"),
    }
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, FIRST_DAY), content)
    return written.getvalue()


def picture(size: int, background: bytes) -> bytes:
    """Return a PNG of three white stones on a colour."""
    rows = b"".join(
        b"\x00" + b"".join(_dot(x / size, y / size, background) for x in range(size))
        for y in range(size)
    )
    header = struct.pack(">IIBBBBB", size, size, 8, 6, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_chunk, *zip(*parts, strict=True)))


def _dot(x: float, y: float, background: bytes) -> bytes:
    inside = any(((x - a) / w) ** 2 + ((y - b) / h) ** 2 <= 1 for a, b, w, h in STONES)
    return b"\xff\xff\xff\xff" if inside else background


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)
