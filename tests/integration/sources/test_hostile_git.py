"""Repositories that mean harm, and servers that do: refused, each with its reason."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import pytest
from dulwich.repo import Repo
from tests.support.sourcing import commit, files, serving, serving_git

from cairn.adapters.sources.opening import OpenSource
from cairn.kernel.errors import CairnError, TooLarge
from cairn.sources.reader import Limits
from cairn.sources.source import KnowledgeKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from cairn.sources.reader import Item, Reader

HERE = frozenset({"127.0.0.1"})


def reader(url: str, *, private: frozenset[str] = HERE, size: int = 10**6, **config: Any) -> Reader:
    opened = OpenSource(private_hosts=private)
    limits = Limits(items=100, bytes=size)
    return opened(KnowledgeKind.GIT, {"url": url, **config}, {}, limits)


def items(url: str, **changes: Any) -> dict[str, Item]:
    opened = reader(url, **changes)
    try:
        return {item.key: item for item in opened.page(None, lambda _: {}).items}
    finally:
        opened.close()


def reason(url: str, **changes: Any) -> str:
    with pytest.raises(CairnError) as refused:
        items(url, **changes)
    return refused.value.reason


@pytest.fixture
def repository(tmp_path: Path) -> Repo:
    return Repo.init_bare(str(tmp_path / "git"), mkdir=True)


def test_names_that_lead_elsewhere_and_links_are_refused_one_by_one(repository: Repo) -> None:
    entries = files(good="# Good") | {
        b"..": (0o100644, b"# Up"),
        b"a\x01b.md": (0o100644, b"# Control"),
        b"\xff\xfe.md": (0o100644, b"# No UTF-8"),
        b"back\\slash.md": (0o100644, b"# Backslash"),
        b"link.md": (0o120000, b"/etc/passwd"),
        b"tool": (0o160000, b"a module"),
        b"picture.png": (0o100644, b"\x89PNG"),
    }
    commit(repository, entries)
    with serving_git(repository) as url:
        seen = items(url)
    assert sorted(item.refused for item in seen.values() if item.refused) == [
        "symlink",
        *["unreadable-name"] * 4,
    ]
    assert [key for key, item in seen.items() if item.load] == ["good.md"]
    assert {key for key, item in seen.items() if item.skipped} == {"tool", "picture.png"}


def test_a_repository_that_sends_too_much_is_left_while_it_comes(
    repository: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cairn.adapters.sources.git.SPARE_BYTES", 0)
    noise = "".join(f"{number:x}" for number in range(20_000))
    commit(repository, files(one=noise))
    with serving_git(repository) as url:
        assert reason(url, size=1_000) == "repository-too-large"


def test_a_small_repository_that_unpacks_to_much_is_refused_before_it_is_unpacked(
    repository: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cairn.adapters.sources.git_wire.MOST_OBJECT_BYTES", 100_000)
    commit(repository, files(one="0" * 100_001))
    with serving_git(repository) as url:
        assert reason(url) == "file-too-large"


def test_a_bomb_is_known_by_what_its_delta_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    from io import BytesIO

    from cairn.adapters.sources.git_wire import require_small

    monkeypatch.setattr("cairn.adapters.sources.git_wire.MOST_OBJECT_BYTES", 100_000)
    copies = b"\x0a\x0a" + b"\xb0\xff\xff" * 3  # says that it makes 10 bytes; makes 196,605
    entry = bytes([0x70 | len(copies)]) + bytes(20) + zlib.compress(copies)
    with pytest.raises(TooLarge):
        require_small(BytesIO(b"PACK" + (2).to_bytes(4) + (1).to_bytes(4) + entry))


@pytest.mark.parametrize(
    "pack",
    [
        b"",
        b"NOPE",
        b"PACK" + (2).to_bytes(4) + (3).to_bytes(4),
        b"PACK" + bytes(4) + b"\0\0\0\1\x35garbage",
    ],
)
def test_what_is_no_pack_is_a_damaged_repository(pack: bytes) -> None:
    from io import BytesIO

    from cairn.adapters.sources.git_wire import require_small

    with pytest.raises(CairnError, match="damaged"):
        require_small(BytesIO(pack))


def answering(status: str, **headers: str) -> Callable[..., Iterable[bytes]]:
    def app(environ: Any, start: Any) -> Iterable[bytes]:
        start(status, [(name.replace("_", "-"), value) for name, value in headers.items()])
        return [b""]

    return app


@pytest.mark.parametrize(
    ("app", "why"),
    [
        (answering("302 Found", location="/again"), "fetch-redirects"),
        (answering("302 Found", location="http://169.254.169.254/"), "moved"),
        (answering("401 Unauthorized"), "sign-in"),
        (answering("404 Not Found"), "not-there"),
        (answering("500 Oops"), "unreachable"),
        (answering("200 OK", content_type="text/html"), "no-such-branch"),
    ],
)
def test_a_server_that_does_not_serve_is_left_with_its_reason(
    app: Callable[..., Iterable[bytes]], why: str
) -> None:
    with serving(app) as url:
        assert reason(f"{url}/x.git") == why


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/x", "https://10.0.0.1/x", "http://[::1]/x"])
def test_a_repository_inside_this_network_is_refused(url: str) -> None:
    assert reason(url, private=frozenset()) == "http-address"


def test_a_branch_that_is_not_there_is_said(repository: Repo) -> None:
    commit(repository, files(one="# One"))
    with serving_git(repository) as url:
        assert reason(url, branch="other") == "no-such-branch"
