"""Makes the project's own Python environment, from nothing but a Python of 3.11 or newer.

Run by whatever `python3` the machine has, so standard library only, and no import of the rest of
the project. Everything goes into the project folder: uv into `.local/uv`, packages into `.venv`.
Usage: python3 infra/local/bootstrap.py; quiet and quick when nothing is to be done.
With `oldest` it makes a second environment, of the oldest Python the code supports, for its tests.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCAL = ROOT / ".local"
VENV = ROOT / ".venv"
OLDEST_VENV = LOCAL / "oldest"
MARKER = VENV / ".cairn"
PYENV = Path.home() / ".pyenv" / "versions"
BEST = (3, 13)
ACCEPTED = ((3, 13), (3, 12), (3, 11))
FETCH_SECONDS = 90
PROBE = (
    "import sys, ssl, sqlite3, ctypes, zlib, venv; v = sys.version_info; "
    "print(v[0], v[1], getattr(sys, '_base_executable', '') or sys.executable)"
)


class BootstrapFailed(Exception):
    """The environment cannot be made; the message says what the user can do."""


def main() -> int:
    """Bring the environment up to date; exit status 1 with one clear sentence when impossible."""
    if sys.version_info[:2] < ACCEPTED[-1]:
        print(
            f"cairn needs Python 3.11 or newer, this is {sys.version.split()[0]}", file=sys.stderr
        )
        return 1
    try:
        if sys.argv[1:] == ["oldest"]:
            return prepare_oldest()
        prepare_environment()
    except BootstrapFailed as exc:
        print(f"\n{exc}", file=sys.stderr)
        return 1
    return 0


def prepare_environment() -> None:
    """Install uv, find a Python, install the locked packages; nothing when all that is current."""
    current = fingerprint()
    if is_current(current):
        return
    LOCAL.mkdir(mode=0o700, exist_ok=True)
    with Step("uv, the package installer") as step:
        uv = find_or_install_uv()
        step.says(output([uv, "--version"]) or "")
    with Step("a Python for the project") as step:
        python, version = choose_python(uv)
        step.says(f"{version[0]}.{version[1]}, {python}")
    with Step("the locked packages, into .venv"):
        if moved(current):
            shutil.rmtree(VENV)
        sync(uv, python)
        MARKER.write_text(current, encoding="utf-8")


def prepare_oldest() -> int:
    """Make `.local/oldest`; status 3 when this machine has no such Python, an error under CI."""
    uv, version = find_or_install_uv(), ACCEPTED[-1]
    python = next((path for path, each in candidates(uv) if each == version), None)
    if python:
        sync(uv, python, OLDEST_VENV)
        return 0
    reason = f"no Python {version[0]}.{version[1]} is installed"
    if os.environ.get("CI"):
        raise BootstrapFailed(f"{reason}: the unit tests must pass on it, too")
    print(f"skipped on the oldest supported Python: {reason}")
    return 3


def fingerprint() -> str:
    """What the environment is made of: folder, lock and project file; a moved folder differs."""
    digest = hashlib.sha256()
    for name in ("uv.lock", "pyproject.toml"):
        digest.update((ROOT / name).read_bytes())
    return f"{ROOT}\n{digest.hexdigest()}\n"


def is_current(fingerprint_now: str) -> bool:
    """True when the marker says so and the interpreter still works."""
    if not MARKER.is_file() or MARKER.read_text(encoding="utf-8") != fingerprint_now:
        return False
    return probe(str(VENV / "bin" / "python")) is not None


def moved(fingerprint_now: str) -> bool:
    """True when `.venv` cannot be kept: made in another folder, or its interpreter is gone."""
    if not VENV.is_dir():
        return False
    if MARKER.is_file():
        there = MARKER.read_text(encoding="utf-8").splitlines()[:1]
        if there != fingerprint_now.splitlines()[:1]:
            return True
    return probe(str(VENV / "bin" / "python")) is None


def find_or_install_uv() -> str:
    """The project's own uv, made if missing; one from PATH only when that fails."""
    own = LOCAL / "uv" / "bin" / "uv"
    if output([str(own), "--version"]):
        return str(own)
    shutil.rmtree(LOCAL / "uv", ignore_errors=True)
    attempts = (
        [[sys.executable, "-m", "venv", str(LOCAL / "uv")],
         [str(LOCAL / "uv" / "bin" / "python"), "-m", "pip", "install", "-q", "uv"]],
        [[sys.executable, "-m", "pip", "install", "-q", "--target", str(LOCAL / "uv"), "uv"]],
    )  # fmt: skip
    reasons: list[str] = []
    for commands in attempts:
        failures = [reason for command in commands if (reason := run(command, environment()))]
        if output([str(own), "--version"]):
            return str(own)
        reasons += failures
    elsewhere = shutil.which("uv")
    if elsewhere and output([elsewhere, "--version"]):
        return elsewhere
    raise BootstrapFailed(
        "uv could not be installed: this Python has neither a working venv nor pip, or the package "
        f"registry does not answer.\n{reasons[-1] if reasons else ''}"
    )


def choose_python(uv: str) -> tuple[str, tuple[int, int]]:
    """Python 3.13 where it is installed or can be fetched, else the newest accepted one."""
    by_version = dict(reversed([(version, path) for path, version in candidates(uv)]))
    if BEST not in by_version:
        fetched = fetch_python(uv)
        if fetched:
            by_version[BEST] = fetched
    for version in ACCEPTED:
        if version in by_version:
            return by_version[version], version
    raise BootstrapFailed("no working Python of 3.11 to 3.13 was found, and none could be fetched")


def candidates(uv: str) -> list[tuple[str, tuple[int, int]]]:
    """Interpreters that really start (a version manager's shim may not), the preferred first."""
    paths: list[str] = []
    for major, minor in ACCEPTED:
        name = f"{major}.{minor}"
        paths += [path for path in [shutil.which(f"python{name}")] if path]
        paths += [
            str(path) for path in sorted(PYENV.glob(f"{name}*/bin/python{name}"), reverse=True)
        ]
        managed = output([uv, "python", "find", "--no-python-downloads", "--no-project", name])
        paths += [managed] if managed else []
    working = [version for path in [*paths, sys.executable] if (version := probe(path))]
    return [(path, version) for path, version in working if version in ACCEPTED]


def fetch_python(uv: str) -> str | None:
    """Python 3.13 downloaded by uv into the project, or None; short, and quiet about failing."""
    if os.environ.get("UV_PYTHON_DOWNLOADS", "automatic").lower() in {"never", "false", "0"}:
        return None
    env = {**environment(), "UV_PYTHON_DOWNLOADS": "manual", "UV_HTTP_RETRIES": "0"}
    name = f"{BEST[0]}.{BEST[1]}"
    install = [uv, "python", "install", "--no-bin", "-q", name]
    if run(install, env, seconds=FETCH_SECONDS):
        return None
    return output([uv, "python", "find", "--no-project", name], env)


def sync(uv: str, python: str, venv: Path = VENV) -> None:
    """Install exactly the lock, every group, and the project itself as editable, into `venv`."""
    command = [uv, "sync", "--frozen", "--quiet", "--python", python]
    made_for = {"UV_PYTHON_DOWNLOADS": "never", "UV_PROJECT_ENVIRONMENT": str(venv)}
    reason = run(command, {**environment(), **made_for})
    if reason:
        raise BootstrapFailed(f"the packages could not be installed\n{reason}")


def environment() -> dict[str, str]:
    """The user's environment without another virtual environment; uv follows pip's settings."""
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in {"VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME"}
    }
    env["UV_PROJECT_ENVIRONMENT"] = str(VENV)
    env["UV_PYTHON_INSTALL_DIR"] = str(LOCAL / "python")
    env["UV_NO_PROGRESS"] = "1"
    if "PIP_INDEX_URL" in env:
        env.setdefault("UV_DEFAULT_INDEX", env["PIP_INDEX_URL"])
    if "PIP_CERT" in env:
        env.setdefault("SSL_CERT_FILE", env["PIP_CERT"])
    env.setdefault("UV_HTTP_TIMEOUT", "120")
    return env


def probe(python: str) -> tuple[str, tuple[int, int]] | None:
    """(the interpreter behind `python`, its version), or None when it does not work."""
    text = output([python, "-c", PROBE])
    if not text:
        return None
    major, minor, path = text.split(" ", 2)
    return path, (int(major), int(minor))


def output(command: list[str], env: dict[str, str] | None = None) -> str | None:
    """What a command prints, or None when it cannot run or fails."""
    try:
        done = subprocess.run(
            command,
            env=env or environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def run(command: list[str], env: dict[str, str], *, seconds: int = 1800) -> str | None:
    """Run a command in the project; None when it succeeds, else the end of what it said."""
    try:
        done = subprocess.run(
            command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=False
        )
    except (OSError, subprocess.SubprocessError) as exc:
        return str(exc)
    if done.returncode == 0:
        return None
    return "\n".join((done.stdout + done.stderr).splitlines()[-20:]) or f"status {done.returncode}"


class Step:
    """One line of progress with its seconds."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.detail = ""
        self.started = time.monotonic()

    def __enter__(self) -> "Step":
        if sys.stdout.isatty():
            print(f"  … {self.title}", end="", flush=True)
        return self

    def says(self, detail: str) -> None:
        """Add `detail` to the line."""
        self.detail = f" ({detail})"

    def __exit__(self, kind: object, *_: object) -> None:
        start = "\r\033[K" if sys.stdout.isatty() else ""
        mark = "✓" if kind is None else "✗"
        seconds = time.monotonic() - self.started
        print(f"{start}  {mark} {self.title}{self.detail}  {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
