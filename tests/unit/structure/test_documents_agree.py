"""The guides name what the code has: errors, links, folders. And nothing of how they were made."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from cairn.cli.main import app
from cairn.kernel import errors

ROOT = Path(__file__).parents[3]
GUIDES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
DECISION = re.compile(r"\d{4}-[a-z0-9-]+\.md")
UNSPOKEN = re.compile(
    r"\.\./shared/|/work/|\bseed(?:s|ed)?[ -](?:document|file|text)s?\b|\bruling \d|\bissue \d",
    re.IGNORECASE,
)


def kinds(base: type[errors.CairnError]) -> list[type[errors.CairnError]]:
    return [kind for sub in base.__subclasses__() for kind in (sub, *kinds(sub))]


def test_every_error_is_in_the_guide() -> None:
    guide = (ROOT / "docs" / "use" / "errors.md").read_text(encoding="utf-8")
    own = {kind.code for kind in kinds(errors.CairnError) if kind.__module__ == errors.__name__}
    told = set(re.findall(r"`urn:cairn:error:([a-z-]+)`", guide))
    assert own | {errors.CairnError.code} <= told


def test_every_error_has_a_code_and_a_sentence_of_its_own() -> None:
    own = [kind for kind in kinds(errors.CairnError) if kind.__module__ == errors.__name__]
    assert len({item.code for item in own}) == len(own)
    assert all(item.__doc__ for item in own)


def test_the_tree_of_errors_in_the_docstring_is_complete() -> None:
    drawn = set(re.findall(r"── ([A-Z]\w+)", errors.__doc__ or ""))
    own = {kind.__name__ for kind in kinds(errors.CairnError) if kind.__module__ == errors.__name__}
    assert drawn == own


def test_links_lead_somewhere() -> None:
    missing = [
        f"{guide.relative_to(ROOT)}: {target}"
        for guide in GUIDES
        for target in LINK.findall(guide.read_text(encoding="utf-8"))
        if not re.match(r"[a-z]+:", target) and not (guide.parent / target).exists()
    ]
    assert not missing


def test_decisions_say_what_was_chosen_and_why() -> None:
    records = sorted((ROOT / "docs" / "decisions").iterdir())
    assert not [path.name for path in records if not DECISION.fullmatch(path.name)]
    texts = {path.name: path.read_text(encoding="utf-8") for path in records}
    assert not [name for name, text in texts.items() if not text.startswith(f"# {name[:4]}: ")]
    table = "| Decision | Choice | Rationale |"
    assert not [name for name, text in texts.items() if table not in text]


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


def test_the_modules_that_guides_name_exist() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    files = [f"/{line}" for line in listed.stdout.splitlines()]
    guides = [path for path in GUIDES if "decisions" not in path.parts]
    missing = {
        f"{path.name}: {name}"
        for path in guides
        for name in re.findall(r"`([\w/]+\.py)`", path.read_text(encoding="utf-8"))
        if not any(file.endswith(f"/{name}") for file in files)
    }
    assert not missing


def commands(command: Any, *path: str) -> Iterator[tuple[tuple[str, ...], set[str]]]:
    """Yield each command's words after `cairn`, with its options."""
    below: dict[str, Any] = getattr(command, "commands", {})
    if not below:
        yield (
            path,
            {name for param in command.params for name in (*param.opts, *param.secondary_opts)},
        )
    for name, one in below.items():
        yield from commands(one, *path, name)


def test_the_guide_of_the_command_line_has_every_command_and_no_option_that_is_none() -> None:
    guide = (ROOT / "docs" / "use" / "cli.md").read_text(encoding="utf-8")
    cells = [line.split(" | ")[0] for line in guide.splitlines() if line.startswith("| `cairn ")]
    named = {cell: set(re.findall(r"[a-z][a-z-]+", cell)) for cell in cells}
    missing, options = list[str](), dict[str, set[str]]()
    for path, known in commands(typer.main.get_command(app)):
        rows = [cell for cell, words in named.items() if words >= set(path)]
        missing += [] if rows else [" ".join(path)]
        for cell in rows:
            options.setdefault(cell, set()).update(known)
    assert not missing
    unknown = {
        option
        for cell in cells
        if "`cairn bench" not in cell
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", cell)
        if option not in options[cell]
    }
    assert not unknown


def test_every_command_that_a_guide_names_exists() -> None:
    paths = {path for path, _ in commands(typer.main.get_command(app))}
    groups = {path[:-1] for path in paths}
    missing = {
        f"{guide.name}: cairn {' '.join(words)}"
        for guide in GUIDES
        if "decisions" not in guide.parts
        for words in _commands_in(guide.read_text(encoding="utf-8"))
        if words[:1] not in paths | groups
        or (words[:1] in groups and words[:2] not in paths | groups)
    }
    assert not missing


def _commands_in(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the first words of each command that stands in code or begins a line of a block."""
    for line in re.findall(r"(?:`|^\s*(?:\$ )?)cairn((?: [a-z][a-z-]*)+)", text, re.MULTILINE):
        yield tuple(line.split())
