"""Python as Lambda lays it out, as far as one machine can: in a mount namespace, as root on Linux.

The asset is /var/task, the layers lie over one another at /opt, what the runtime brings is in
/var/runtime, and Python is in /var/lang and nowhere else: it finds its library by LD_LIBRARY_PATH.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

LIBRARIES = "/var/lang/lib:/lib64:/usr/lib64:/var/runtime:/var/runtime/lib:/var/task:/var/task/lib"
PYTHON = f"/var/lang/bin/python{sys.version_info.major}.{sys.version_info.minor}"
ENVIRONMENT = {
    "LD_LIBRARY_PATH": f"{LIBRARIES}:/opt/lib",
    "PATH": "/var/lang/bin:/usr/local/bin:/usr/bin:/bin:/opt/bin",
    "LANG": "en_US.UTF-8",
    "TZ": ":UTC",
    "LAMBDA_TASK_ROOT": "/var/task",
    "LAMBDA_RUNTIME_DIR": "/var/runtime",
    "AWS_LAMBDA_FUNCTION_NAME": "cairn-prod-function",
}
LAY_OUT = """
set -e
prefix=$1 asset=$2 runtime=$3 layers=$4; shift 4
mount -t tmpfs tmpfs /var
mkdir /var/lang /var/task /var/runtime
mount --bind "$prefix" /var/lang
mount --bind "$asset" /var/task
mount -o remount,bind,ro /var/task
mount --bind "$runtime" /var/runtime
mount -t tmpfs tmpfs /opt
mkdir /tmp/.empty-$$ && layers="$layers:/tmp/.empty-$$"
mount -t overlay overlay -o "lowerdir=$layers" /opt
rmdir /tmp/.empty-$$
case "$prefix" in /usr*) ;; *) mount -t tmpfs tmpfs "$prefix";; esac
cd /var/task
exec "$@"
"""


@cache
def missing() -> str:
    """Return why there can be no such layout here; empty when there can."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return "only root with unshare can lay out a runtime"
    tried = subprocess.run(
        ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/opt"],
        check=False,
        capture_output=True,
        text=True,
    )
    return tried.stderr.strip()


def needs_its_libraries() -> bool:
    """Return whether this Python has a library of its own that the loader must find."""
    return any((Path(sys.base_prefix) / "lib").glob("libpython3*.so.1.0"))


def run(
    source: str,
    given: str,
    *,
    asset: Path,
    layers: Sequence[Path],
    runtime: Path,
    options: Sequence[str] = (),
) -> "subprocess.CompletedProcess[str]":
    """Run a script as the runtime would run a handler."""
    over = ":".join(str(layer) for layer in layers)
    places = [sys.base_prefix, str(asset), str(runtime), over]
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", LAY_OUT, "sh", *places, PYTHON, *options, "-c", source],
        input=given,
        env=ENVIRONMENT,
        check=False,
        capture_output=True,
        text=True,
    )
