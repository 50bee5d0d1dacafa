"""The laptop's OpenSearch: what it needs, what it says without, what Maven brings."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from infra.local.layout import PROJECT, Layout
from infra.local.opensearch.node import POM, Tools, fetch, find_tools
from infra.local.processes import StartFailed
from infra.local.progress import Progress
from infra.local.stack import Stack


def program(folder: Path, name: str, script: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with nothing on it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return folder


def test_what_is_missing_is_named(path: Path) -> None:
    assert "java and mvn not found" in find_tools().missing
    program(path, "java", "echo 'openjdk version \"21.0.4\"' >&2")
    assert find_tools().missing.endswith("mvn not found on the PATH")
    program(path, "mvn", "true")
    assert find_tools() == Tools(java=str(path / "java"), maven=str(path / "mvn"))


def test_a_java_too_old_is_refused_and_java_home_comes_first(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(path, "mvn", "true")
    program(path, "java", "echo 'java version \"1.8.0_392\"' >&2")
    assert "17 or newer" in find_tools().missing
    home = tmp_path / "jdk"
    (home / "bin").mkdir(parents=True)
    program(home / "bin", "java", "echo 'openjdk version \"17\"' >&2")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert find_tools().java == str(home / "bin" / "java")


def test_libraries_are_fetched_once_and_again_when_the_pom_changes(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "calls"
    script = f"""
echo called >> {log}
for each in "$@"; do case $each in -DoutputDirectory=*) /bin/mkdir -p "${{each#*=}}";; esac; done
"""
    maven = program(path, "mvn", script)
    libraries = tmp_path / "cache" / "opensearch"
    fetch(libraries, str(maven))
    fetch(libraries, str(maven))
    assert log.read_text().count("called") == 1
    other = tmp_path / "pom.xml"
    other.write_text(POM.read_text(encoding="utf-8") + "<!-- newer -->", encoding="utf-8")
    monkeypatch.setattr("infra.local.opensearch.node.POM", other)
    fetch(libraries, str(maven))
    assert log.read_text().count("called") == 2


def test_two_that_fetch_at_once_have_maven_called_once(path: Path, tmp_path: Path) -> None:
    log = tmp_path / "calls"
    script = f"""
echo called >> {log}
for each in "$@"; do case $each in -DoutputDirectory=*) /bin/mkdir -p "${{each#*=}}";; esac; done
/bin/sleep 0.2
"""
    maven = program(path, "mvn", script)
    libraries = tmp_path / "cache" / "opensearch"
    with ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(lambda _: fetch(libraries, str(maven)), range(2)))
    assert log.read_text().count("called") == 1
    assert libraries.is_dir()


def test_what_maven_says_is_shown_when_it_fails(path: Path, tmp_path: Path) -> None:
    maven = program(path, "mvn", "echo 'could not resolve'; exit 1")
    with pytest.raises(StartFailed, match="could not resolve"):
        fetch(tmp_path / "cache" / "opensearch", str(maven))
    assert not (tmp_path / "cache" / "opensearch").exists()


def test_a_stack_without_one_shows_none(tmp_path: Path) -> None:
    stack = Stack(layout=Layout(project=PROJECT, base=tmp_path), progress=Progress(quiet=True))
    assert "opensearch" not in stack.status()["services"]
    assert list(stack.logs("opensearch")) == []
