"""Has the embedding model built once, by the script that also fills the model layer."""

import os
import shutil
import subprocess
import sys

from infra.local.layout import Layout
from infra.local.processes import StartFailed
from infra.local.progress import Progress


def build_model(layout: Layout, progress: Progress) -> None:
    """Fetch the pinned model unless it is there; checked by hash either way."""
    own = layout.project / ".local" / "uv" / "bin" / "uv"
    uv = str(own) if own.exists() else shutil.which("uv") or ""
    with progress.step("embedding model, bge-small-en-v1.5"):
        done = subprocess.run(
            [sys.executable, str(layout.project / "layers" / "model.py")],
            env={**os.environ, **({"UV": uv} if uv else {})},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise StartFailed(f"the embedding model could not be fetched\n{done.stderr}")
