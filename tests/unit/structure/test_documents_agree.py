"""The guides name what the code has: errors, links, folders. And nothing of how they were made."""

import re
import subprocess
from pathlib import Path

import pytest

from cairn import errors

ROOT = Path(__file__).parents[3]
GUIDES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
DECISION = re.compile(r"\d{4}-[a-z0-9-]+\.md")
UNSPOKEN = re.compile(
    r"\.\./shared/|/work/|\bseed(?:s|ed)?[ -](?:document|file|text)s?\b|\bruling \d|\bissue \d",
    re.IGNORECASE,
)


def kinds(base: type[errors.CairnError]) -> list[type[errors.CairnError]]:
    return [one for sub in base.__subclasses__() for one in (sub, *kinds(sub))]


def test_every_error_is_in_the_guide() -> None:
    guide = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    own = {one.code for one in kinds(errors.CairnError) if one.__module__ == errors.__name__}
    told = set(re.findall(r"`urn:cairn:error:([a-z-]+)`", guide))
    assert own | {errors.CairnError.code} <= told


def test_every_error_has_a_code_and_a_sentence_of_its_own() -> None:
    own = [one for one in kinds(errors.CairnError) if one.__module__ == errors.__name__]
    assert len({one.code for one in own}) == len(own)
    assert all(one.__doc__ for one in own)


def test_the_tree_of_errors_in_the_docstring_is_complete() -> None:
    drawn = set(re.findall(r"── ([A-Z]\w+)", errors.__doc__ or ""))
    own = {one.__name__ for one in kinds(errors.CairnError) if one.__module__ == errors.__name__}
    assert drawn == own


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(guide: Path) -> None:
    targets = LINK.findall(guide.read_text(encoding="utf-8"))
    inside = [one for one in targets if not re.match(r"[a-z]+:", one)]
    missing = [one for one in inside if not (guide.parent / one).exists()]
    assert not missing


@pytest.mark.parametrize(
    "record", sorted((ROOT / "docs" / "decisions").iterdir()), ids=lambda path: path.name
)
def test_a_decision_says_what_was_chosen_and_why(record: Path) -> None:
    text = record.read_text(encoding="utf-8")
    assert DECISION.fullmatch(record.name)
    assert text.startswith(f"# {record.name[:4]}: ")
    assert "| Decision | Choice | Rationale |" in text


def test_decisions_are_numbered_without_gaps() -> None:
    numbers = sorted(int(path.name[:4]) for path in (ROOT / "docs" / "decisions").iterdir())
    assert numbers == list(range(1, len(numbers) + 1))


def test_nothing_speaks_of_the_planning() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "*.py", "*.md", "*.sql", "*.toml", "*.json", "Makefile"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    here = str(Path(__file__).relative_to(ROOT))
    speaking = [
        name
        for name in listed
        if name != here
        and (ROOT / name).is_file()
        and UNSPOKEN.search((ROOT / name).read_text(encoding="utf-8"))
    ]
    assert not speaking
