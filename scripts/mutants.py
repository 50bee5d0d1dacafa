# /// script
# requires-python = ">=3.13"
# dependencies = ["cosmic-ray==8.7.0"]
# ///
"""Mutants that the tests have to kill: `draw` says which, `run` tries them and prints a table.

A draw is of a seed and a commit, so that it can be made again. A mutant is found by its function,
its operator and which occurrence of it in that function, so that it survives files that move.
`run` changes a scratch copy of the project, never the project, and gives each mutant the tests that
call its function: the unit tests first, the others only when these let it live.
"""

import argparse
import collections
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests" / "mutants"
DRAWN = FOLDER / "drawn.json"
SEED = 20261122
COMMIT = "e91cd2aaeecf"
A_AREA = 12
SPARE = 8
AREAS = {
    "ledger": ("shared/cairn/ledger/*.py",),
    "tenancy": (
        "shared/cairn/access/*.py",
        "shared/cairn/api/gate.py",
        "shared/cairn/accounts/keys.py",
        "shared/cairn/api/dependencies.py",
        "shared/cairn/adapters/postgres/database.py",
        "shared/cairn/adapters/postgres/workspaces.py",
    ),
    "recall": ("shared/cairn/retrieval/*.py",),
    "safety": ("shared/cairn/safety/*.py",),
    "forgetting": (
        "shared/cairn/forgetting/rows.py",
        "shared/cairn/lifecycle/forget*.py",
        "shared/cairn/forgetting/prove.py",
        "shared/cairn/rebuild/restore.py",
        "shared/cairn/forgetting/tombstones.py",
        "shared/cairn/adapters/postgres/ledger/forgetting.py",
        "shared/cairn/adapters/postgres/ledger/purging.py",
    ),
}
ORDERS = ("Lt", "LtE", "Gt", "GtE")
OPERATORS = (
    "AddNot",
    "ExceptionReplacer",
    "NumberReplacer",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak",
    "ZeroIterationForLoop",
    "ReplaceUnaryOperator_Delete_Not",
    "ReplaceUnaryOperator_Delete_USub",
    *(f"ReplaceComparisonOperator_{a}_{b}" for a in ORDERS for b in ORDERS if a != b),
    *(
        f"ReplaceComparisonOperator_{pair}"
        for pair in ("Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is")
    ),
    *(
        f"ReplaceBinaryOperator_{pair}"
        for pair in ("Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "BitOr_BitAnd", "BitAnd_BitOr")
    ),
)
"""Those whose result a reader would call another behaviour, not another type or a crash."""

STAGES = {"unit": ("tests/unit",), "other": ("tests/contract", "tests/integration")}
NOT_SHAPE = "--ignore=tests/unit/structure"
MOST_TESTS = 400
KILLED = {1, 2, 4, -1}
"""A test failed, nothing could be imported, the named tests were not found for that, too slow."""
SECONDS = 240


def main():
    """Draw, or run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["draw", "run"])
    parser.add_argument("--only", nargs="*", help="ids of mutants")
    parser.add_argument("--at-once", type=int, default=1, help="scratch copies side by side")
    parser.add_argument("--stages", nargs="*", choices=list(STAGES), default=list(STAGES))
    parser.add_argument("--tests", nargs="*", help="only tests of these folders and files")
    parser.add_argument("--out", type=Path, help="a file for the table")
    options = parser.parse_args()
    if options.command == "draw":
        DRAWN.write_text(json.dumps(draw(), indent=1) + "\n", encoding="utf-8")
        return 0
    return run(options)


def git(*words):
    """Return what git says of this project."""
    return subprocess.check_output(["git", "-C", str(ROOT), *words], text=True)


def draw():
    """Return the drawn mutants: A_AREA of each area, and SPARE for those that change nothing."""
    files = git("ls-tree", "-r", "--name-only", COMMIT, "shared/cairn").splitlines()
    source, mutants = random.Random(SEED), []
    for area, patterns in AREAS.items():
        places = collections.defaultdict(list)
        for path in files:
            if any(PurePosixPath(path).full_match(pattern) for pattern in patterns):
                for each in positions(git("show", f"{COMMIT}:{path}")):
                    places[path, each.pop("at")].append({"path": path, **each})
        for number, place in enumerate(source.sample(sorted(places), A_AREA + SPARE)):
            mutants.append({"id": f"{area}-{number + 1:02}", **source.choice(places[place])})
    return {"seed": SEED, "commit": COMMIT, "an area": A_AREA, "mutants": mutants}


def positions(text, operators=OPERATORS):
    """Return every mutation of a module's functions: function, operator, occurrence, its line."""
    nodes, lines, everything = list(ast_nodes(get_ast(text))), text.splitlines(), []
    for name in operators:
        operator, seen, index = get_operator(f"core/{name}")(), collections.Counter(), -1
        for node in nodes:
            for start, _ in operator.mutation_positions(node):
                index += 1
                if not (function := owner(node)):
                    continue
                place = {"at": start, "function": function, "operator": name}
                place |= {"occurrence": seen[function], "line": lines[start[0] - 1].strip()}
                seen[function] += 1
                everything.append(place | ({"index": index} if operators != OPERATORS else {}))
    return everything


def owner(node):
    """Return the name of the function that a node is in, with its classes; none in annotations."""
    names = []
    while node.parent is not None:
        parent = node.parent
        if parent.type == "tfpdef" or (parent.type == "annassign" and node is parent.children[1]):
            return None
        if parent.type == "funcdef":
            if node is parent.annotation or node.type == "parameters":
                return None
            names = [parent.name.value]
        elif parent.type == "classdef" and names:
            names.insert(0, parent.name.value)
        node = parent
    return ".".join(names) or None


def locate(mutant, root):
    """Return the file and the index there of a mutant, wherever its function is now."""
    found = []
    for path in sorted((root / "shared").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if f"def {mutant['function'].split('.')[-1]}(" not in text:
            continue
        for each in positions(text, [mutant["operator"]]):
            score = tuple(each[key] == mutant[key] for key in ("line", "occurrence"))
            if each["function"] == mutant["function"] and any(score):
                same = path.name == PurePosixPath(mutant["path"]).name
                found.append((score, same, path, each["index"]))
    found.sort(key=lambda each: each[:2], reverse=True)
    if not found or (len(found) > 1 and found[0][:2] == found[1][:2]):
        raise LookupError(f"{mutant['id']}: {mutant['function']} is not where it can be found")
    return found[0][2].relative_to(root), found[0][3]


def chosen(only):
    """Return the mutants that count: the first A_AREA of each area that change a behaviour."""
    drawn = json.loads(DRAWN.read_text(encoding="utf-8"))
    if only:
        return [each for each in drawn["mutants"] if each["id"] in only]
    counted, taken = collections.Counter(), []
    for each in drawn["mutants"]:
        area = each["id"].rsplit("-", 1)[0]
        if "same because" not in each and counted[area] < A_AREA:
            counted[area] += 1
            taken.append(each)
    return taken


def run(options):
    """Try the mutants; print each as it ends, and a table; status 1 when one survives."""
    mutants = chosen(options.only)
    with tempfile.TemporaryDirectory(prefix="cairn-mutants-") as folder:
        copies = [copy(Path(folder) / str(number)) for number in range(options.at_once)]
        for each in mutants:
            each["file"], each["index"] = locate(each, copies[0])
        outcomes = {}
        for stage in options.stages:
            left = [each for each in mutants if each["id"] not in outcomes]
            if left:
                covering = calls(copies[0], left, options.tests or STAGES[stage])
                outcomes |= attempt(copies, left, covering, stage)
    return report(mutants, outcomes, options.out)


def copy(folder):
    """Return a scratch copy of what is committed or changed here, with this environment."""
    names = git("ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    for name in filter(lambda name: (ROOT / name).is_file(), names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    for name in (".venv", "build"):
        if (ROOT / name).exists():
            (folder / name).symlink_to(ROOT / name)
    return folder


def pytest(folder, *words, **variables):
    """Run pytest in a scratch copy on the code that is there; its exit status, -1 when too slow."""
    command = [str(ROOT / ".venv/bin/python"), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    environment = os.environ | {"PYTHONPATH": f"{folder}/shared:{folder}", **variables}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryFile() as output:
        try:
            return subprocess.run(
                [*command, *words],
                cwd=folder,
                env=environment,
                timeout=SECONDS if "-x" in words else None,
                stdout=output,
                stderr=subprocess.STDOUT,
            ).returncode
        except subprocess.TimeoutExpired:
            return -1


def calls(folder, mutants, tests):
    """Return the tests that call each mutant's function, those of its folder first."""
    targets = {each["id"]: f"{folder / each['file']}:{each['function']}" for each in mutants}
    called = collections.defaultdict(dict)
    with tempfile.TemporaryDirectory() as results:
        variables = {"MUTANT_TARGETS": json.dumps(list(targets.values())), "MUTANT_CALLS": results}
        words = ("-n", "2", "--dist", "loadgroup", "-p", "tests.mutants.probe", NOT_SHAPE)
        pytest(folder, *words, *tests, **variables)
        for path in Path(results).glob("*.json"):
            for target, names in json.loads(path.read_text(encoding="utf-8")).items():
                called[target] |= dict.fromkeys(names)
    near = {each["id"]: f"/{each['file'].parent.name}/" for each in mutants}
    return {
        name: sorted(called[target], key=lambda test, folder=near[name]: folder not in test)
        for name, target in targets.items()
    }


def attempt(copies, mutants, covering, stage):
    """Return the outcomes of the mutants that a stage's tests killed."""
    free, outcomes = list(copies), {}

    def one(mutant):
        folder, started = free.pop(), time.monotonic()
        path, tests = folder / mutant["file"], covering[mutant["id"]][:MOST_TESTS]
        original = path.read_text(encoding="utf-8")
        changed = mutate_code(
            original, get_operator(f"core/{mutant['operator']}")(), mutant["index"]
        )
        try:
            path.write_text(changed, encoding="utf-8")
            status = pytest(folder, "-x", "--timeout=60", *tests) if tests else 0
        finally:
            path.write_text(original, encoding="utf-8")
            free.append(folder)
        text = f"{stage}: {'alive' if status == 0 else 'killed'} ({status}) of {len(tests)} tests"
        print(f"{mutant['id']} {text} {time.monotonic() - started:.0f} s", flush=True)
        if status in KILLED:
            outcomes[mutant["id"]] = stage
        elif status != 0:
            raise RuntimeError(f"{mutant['id']}: pytest ended with {status}")

    with ThreadPoolExecutor(len(copies)) as pool:
        list(pool.map(one, mutants))
    return outcomes


def report(mutants, outcomes, out):
    """Print the table, and how many were killed."""
    lines = ["| mutant | function | operator, which | killed by |", "|---|---|---|---|"]
    for each in mutants:
        words = f"{each['operator'].replace('Replace', '')} {each['occurrence'] + 1}"
        by = f"{outcomes[each['id']]} tests" if each["id"] in outcomes else "**survived**"
        lines.append(f"| {each['id']} | `{each['function']}` | {words} | {by} |")
    killed = len(outcomes)
    lines += ["", f"{killed} of {len(mutants)} killed at {git('rev-parse', '--short', 'HEAD')}"]
    print(text := "\n".join(lines))
    if out:
        out.write_text(text, encoding="utf-8")
    return int(killed < len(mutants))


if __name__ == "__main__":
    sys.exit(main())
