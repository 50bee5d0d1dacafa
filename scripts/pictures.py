"""Makes the pictures of the console's pages for the guide, of a running stack with the demo's data.

    make run && python -m scripts.pictures [NAME...]

The list of pages is `benchmarks.console`; a page of one thing is of the first of its list.
"""

from __future__ import annotations

import sys
from base64 import b64decode
from pathlib import Path
from typing import Any

from benchmarks.console import FIRST_OF, PAGES, paths, signed_in

FOLDER = Path(__file__).parents[1] / "docs" / "use" / "pictures"
MOST_BYTES = 60_000
QUALITIES = (80, 60, 40, 20)


def main(names: list[str]) -> None:
    """Make the pictures of these pages, of all without a name."""
    unknown = set(names) - {*PAGES, *FIRST_OF}
    if unknown:
        raise SystemExit(f"No such page: {', '.join(sorted(unknown))}.")
    FOLDER.mkdir(exist_ok=True)
    with signed_in() as (url, _, context):
        page = context.new_page()
        wire: Any = context.new_cdp_session(page)
        for name, path in paths(context, url).items():
            if names and name not in names:
                continue
            page.goto(url + path)
            page.wait_for_load_state("networkidle")
            picture = _picture(wire)
            (FOLDER / f"{name}.webp").write_bytes(picture)
            sys.stdout.write(f"{name}.webp {len(picture)} bytes\n")


def _picture(wire: Any) -> bytes:
    """Return what a page looks like, as WebP of the best quality that is small enough."""
    picture = b""
    for quality in QUALITIES:
        shot = wire.send("Page.captureScreenshot", {"format": "webp", "quality": quality})
        picture = b64decode(shot["data"])
        if len(picture) <= MOST_BYTES:
            break
    return picture


if __name__ == "__main__":
    main(sys.argv[1:])
