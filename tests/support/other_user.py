"""Python run as another user of this machine, where that can be had: as root, by setpriv."""

import os
import shutil
import subprocess
import sys

import pytest

NOBODY = "65534"


def as_another_user(source: str, *arguments: str) -> str:
    """Return what a script of the standard library prints as nobody; skips where that cannot be."""
    setpriv = shutil.which("setpriv")
    if os.geteuid() != 0 or setpriv is None:
        pytest.skip("only root with setpriv can become another user here")
    become = [setpriv, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    for python in (sys.executable, "/usr/bin/python3"):
        tried = subprocess.run([*become, python, "-c", ""], check=False, capture_output=True)
        if tried.returncode == 0:
            command = [*become, python, "-c", source, *arguments]
            done = subprocess.run(
                command, check=True, capture_output=True, text=True, env={}, cwd="/", timeout=60
            )
            return done.stdout
    pytest.skip("no Python here that another user may run")
