"""Ten thousand calls, decided by the pipeline and by a second reading of the rules.

The oracle shares no code with the product: it expands patterns into the sets of paths they stand
for, and asks each rule's sentence by itself instead of going through them in order.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatchcase
from functools import cache
from itertools import product
from random import Random

from tests.support.safety import NOON, WORKSPACE, Stand, policy

from cairn.kernel.ids import new_id
from cairn.safety.action import Action, PersonApproval, binding
from cairn.safety.pipeline import Attempt, decided
from cairn.safety.scope import parse_scopes
from cairn.safety.tools import Autonomy, Lane, ToolSpec

COMBINATIONS = 10_000
LEVELS = ["off", "investigate", "propose", "act"]
SEGMENTS = ["users", "u1", "u2", "vip-1", "reset", "delete", "notes"]
NAMES = ["reset", "delete", "notes", "users"]
TEMPLATES = [None, "users", "users/{a}", "users/{a}/reset", "users/{a}/delete", "notes/{a}/{b}"]
PATTERNS = [
    *("users", "reset", "delete", "*", "**", "re*", "users/*", "users/**", "users/{id}/reset"),
    *(
        "users/*/delete",
        "users/vip-*/**",
        "**/delete",
        "notes/*/*",
        "notes/u1/**",
        "*/u1",
        "*/u2/*",
    ),
    *("users/u1", "vip-1", "**/vip-*/**", "n*s/**"),
]
DEEPEST = 4


@dataclass(frozen=True)
class Case:
    """One combination, in words only."""

    name: str
    lane: str | None
    dangerous: bool
    above: str | None
    forbidden: frozenset[str]
    template: str | None
    values: tuple[tuple[str, str], ...]
    scopes: tuple[tuple[str, str, tuple[str, ...]], ...]
    connector: str
    persona: str
    safe: bool
    known: bool

    @property
    def path(self) -> tuple[str, ...] | None:
        if self.template is None:
            return None
        return tuple(self.template.format(**dict(self.values)).split("/"))


def random_case(random: Random) -> Case:
    lists = tuple(
        (lane, kind, tuple(random.sample(PATTERNS, random.choice(counts))))
        for lane in ("read", "write")
        for kind, counts in (("allow", (0, 1, 2, 4)), ("deny", (0, 0, 0, 1, 2)))
    )
    return Case(
        name=random.choice(NAMES),
        lane=random.choice(["read", "read", "write", "write", "write", None]),
        dangerous=random.random() < 0.4,
        above=random.choice([None, None, *LEVELS]),
        forbidden=frozenset(level for level in LEVELS if random.random() < 0.12),
        template=random.choice(TEMPLATES),
        values=tuple((item, random.choice(SEGMENTS)) for item in "ab"),
        scopes=lists,
        connector=random.choice(["off", "investigate", "propose", "act", "act", "act"]),
        persona=random.choice(["off", "investigate", "propose", "propose", "act", "act", "act"]),
        safe=random.random() < 0.9,
        known=random.random() < 0.97,
    )


# ---- the oracle ----------------------------------------------------------------------------------


@cache
def expansion(pattern: str) -> frozenset[tuple[str, ...]]:
    """Return every path of the small world that a pattern stands for."""
    paths: set[tuple[str, ...]] = {()}
    for part in pattern.split("/"):
        if part == "**":
            tails = [tail for size in range(DEEPEST + 1) for tail in product(SEGMENTS, repeat=size)]
        else:
            glob = "*" if part.startswith("{") else part
            tails = [(segment,) for segment in SEGMENTS if fnmatchcase(segment, glob)]
        paths = {path + tail for path in paths for tail in tails if len(path + tail) <= DEEPEST}
    return frozenset(paths)


def named(case: Case, kind: str) -> bool:
    """Return whether a list of the tool's lane names the tool or its path."""
    lists = {(lane, which): patterns for lane, which, patterns in case.scopes}
    every = [expansion(item) for item in lists[str(case.lane), kind]]
    places = [(case.name,), *([case.path] if case.path else [])]
    return any(place in paths for paths in every for place in places)


def oracle(case: Case) -> tuple[str, bool]:
    """Return what the rules' sentences say, and whether an approved call runs for real."""
    level = min(
        LEVELS.index(case.connector),
        LEVELS.index(case.persona),
        LEVELS.index("act" if case.safe else "investigate"),
    )
    writes = case.lane == "write"
    refused = (
        not case.known,
        level == LEVELS.index("off"),
        case.lane is None,
        case.lane is not None and named(case, "deny"),
        case.lane is not None and not named(case, "allow"),
        LEVELS[level] in case.forbidden,
        writes and LEVELS[level] == "investigate",
    )
    if any(refused):
        return "denied", False
    above = None if case.above is None else LEVELS.index(case.above)
    person = (
        writes and LEVELS[level] == "propose",
        above is not None and level <= above,
        above is None and case.dangerous,
    )
    return ("needs_approval" if any(person) else "allowed"), True


# ---- the product ---------------------------------------------------------------------------------


@cache
def scopes_text(scopes: tuple[tuple[str, str, tuple[str, ...]], ...]) -> str:
    lanes = {
        lane: ", ".join(
            f"{kind}: [{', '.join(f'{pattern!r}' for pattern in patterns)}]"
            for which, kind, patterns in scopes
            if which == lane
        )
        for lane in ("read", "write")
    }
    return "\n".join(f"{lane}: {{{lists}}}" for lane, lists in lanes.items())


def product_of(case: Case) -> tuple[Stand, Attempt]:
    spec = ToolSpec(
        connector="desk",
        name=case.name if case.known else "other",
        description="",
        lane=Lane(case.lane) if case.lane else None,
        dangerous=case.dangerous,
        requires_approval_above_autonomy=Autonomy(case.above) if case.above else None,
        forbidden_in_autonomy=frozenset(map(Autonomy, case.forbidden)),
        resource=case.template,
    )
    held = policy(
        spec,
        autonomy=Autonomy(case.connector),
        scopes=scopes_text(case.scopes),
        safe=case.safe,
        redaction="none",
    )
    asked = Action(id=new_id(), connector="desk", tool=case.name, arguments=dict(case.values))
    return Stand(held), Attempt(
        workspace_id=WORKSPACE, action=asked, autonomy=Autonomy(case.persona)
    )


def performed(stand: Stand, attempt: Attempt, *, approve: bool) -> bool:
    """Return whether the second half calls the tool, for real."""
    decision = decided(stand.pipeline.check(attempt))
    if approve:
        expires_at = NOON + timedelta(hours=24)
        version = decision.policy_version
        approval = PersonApproval(
            approval_id=new_id(),
            binding=binding(attempt.action, policy_version=version, expires_at=expires_at),
            policy_version=version,
            expires_at=expires_at,
            by=new_id(),
        )
        attempt = Attempt(
            workspace_id=attempt.workspace_id,
            action=attempt.action,
            autonomy=attempt.autonomy,
            approval=approval,
        )
    stand.perform(attempt)
    assert not any(call.dry_run for call in stand.calls)
    return bool(stand.calls)


def test_the_pipeline_and_the_oracle_agree_on_ten_thousand_combinations() -> None:
    random = Random(38)
    pool = [random_case(random).scopes for _ in range(400)]
    seen: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    differ: list[tuple[Case, str, str]] = []
    for number in range(COMBINATIONS):
        case = random_case(random)
        case = Case(**{**vars(case), "scopes": random.choice(pool)})
        said, runs = oracle(case)
        stand, attempt = product_of(case)
        decision = decided(stand.pipeline.check(attempt))
        seen[said] += 1
        reasons[decision.reason] += 1
        if decision.outcome != said or decision.dry_run != (said == "needs_approval"):
            differ.append((case, said, decision.reason))
        elif number % 5 == 0:
            assert performed(stand, attempt, approve=False) is (said == "allowed")
            stand, attempt = product_of(case)
            assert performed(stand, attempt, approve=True) is runs
    assert differ == []
    assert all(seen[item] > 500 for item in ("denied", "needs_approval", "allowed")), seen
    assert len(reasons) == 11, reasons


def test_lowering_an_autonomy_never_allows_more() -> None:
    random = Random(39)
    order = ["denied", "needs_approval", "allowed"]
    for _ in range(1_000):
        case = random_case(random)
        if case.forbidden or case.above is not None:
            case = Case(**{**vars(case), "forbidden": frozenset()})
        for which in ("connector", "persona"):
            ranks: list[int] = []
            for level in LEVELS:
                stand, attempt = product_of(Case(**{**vars(case), which: level}))
                outcome = decided(stand.pipeline.check(attempt)).outcome
                ranks.append(order.index(outcome))
            assert ranks == sorted(ranks), (case, which, ranks)


def test_the_oracles_patterns_are_in_the_language() -> None:
    parse_scopes(scopes_text((("read", "allow", tuple(PATTERNS)), ("read", "deny", ()))))
