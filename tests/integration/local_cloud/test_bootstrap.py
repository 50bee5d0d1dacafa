"""The script that makes the project's environment with nothing but a system Python."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from infra.local import bootstrap


def fake_python(folder: Path, script: str) -> str:
    path = folder / "python3.13"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_a_shim_that_exists_but_fails_is_no_python(tmp_path: Path) -> None:
    shim = fake_python(tmp_path, 'echo "python3.13: version not installed" >&2; exit 127')
    assert bootstrap.probe(shim) is None


def test_a_working_python_is_found_behind_its_shim(tmp_path: Path) -> None:
    shim = fake_python(tmp_path, f'exec {sys.executable} "$@"')
    found = bootstrap.probe(shim)
    assert found is not None
    assert found[1] == sys.version_info[:2]


def test_the_preferred_python_wins_and_an_older_one_serves_where_it_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bootstrap, "fetch_python", lambda _uv: None)
    older = [("/usr/bin/python3.11", (3, 11)), ("/opt/python3.12", (3, 12))]
    monkeypatch.setattr(bootstrap, "candidates", lambda _uv: older)
    assert bootstrap.choose_python("uv") == ("/opt/python3.12", (3, 12))
    monkeypatch.setattr(bootstrap, "candidates", lambda _uv: [*older, ("/a", (3, 13))])
    assert bootstrap.choose_python("uv") == ("/a", (3, 13))


def test_without_any_python_the_message_says_which_versions_serve(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bootstrap, "fetch_python", lambda _uv: None)
    monkeypatch.setattr(bootstrap, "candidates", lambda _uv: [])
    with pytest.raises(bootstrap.BootstrapFailed, match=r"3\.11 to 3\.13"):
        bootstrap.choose_python("uv")


def test_downloads_that_the_user_forbids_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")
    assert bootstrap.fetch_python("/does/not/exist/uv") is None


def test_a_folder_that_was_moved_gets_a_new_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv = tmp_path / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to(sys.executable)
    monkeypatch.setattr(bootstrap, "VENV", venv)
    monkeypatch.setattr(bootstrap, "MARKER", venv / ".cairn")
    here = bootstrap.fingerprint()
    bootstrap.MARKER.write_text(here, encoding="utf-8")
    assert not bootstrap.moved(here)
    bootstrap.MARKER.write_text(f"/elsewhere\n{here.splitlines()[1]}\n", encoding="utf-8")
    assert bootstrap.moved(here)


def test_it_runs_on_the_standard_library_alone_and_says_nothing_when_all_is_current() -> None:
    script = Path(bootstrap.__file__)
    program = "import runpy, sys; sys.argv = [sys.argv[1]]; runpy.run_path(sys.argv[0])"
    subprocess.run([sys.executable, "-I", "-S", "-c", program, script], check=True)


def test_pips_settings_reach_uv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://packages.example/simple")
    monkeypatch.delenv("UV_DEFAULT_INDEX", raising=False)
    monkeypatch.setenv("VIRTUAL_ENV", "/another")
    env = bootstrap.environment()
    assert env["UV_DEFAULT_INDEX"] == "https://packages.example/simple"
    assert "VIRTUAL_ENV" not in env
    assert os.environ["VIRTUAL_ENV"] == "/another"
