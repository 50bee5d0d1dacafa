"""What a binding covers, how grants match, and what changes the version of a policy."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.safety import NOON, action, policy, tool

from cairn.kernel.errors import ValidationFailed
from cairn.kernel.ids import new_id
from cairn.kernel.text.canonical import MAX_DEPTH, canonical_bytes
from cairn.safety.action import binding, comparable, digest, same_arguments
from cairn.safety.grants import Grant, covers, declaration, exactly
from cairn.safety.rules import ConnectorPolicy, Policy
from cairn.safety.tools import Autonomy, Lane

LATER = NOON + timedelta(hours=24)
VALUES = st.recursive(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=5)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.booleans()
    | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=5,
)


def exact(value: Any) -> str:
    """Tell JSON values apart by type and digits, by Python's own means."""
    if isinstance(value, dict):
        return f"{{{','.join(f'{key!r}:{exact(value[key])}' for key in sorted(value))}}}"
    if isinstance(value, list):
        return f"[{','.join(map(exact, value))}]"
    return f"{type(value).__name__}:{value!r}"


@given(VALUES, VALUES)
def test_two_values_are_the_same_to_a_binding_when_they_are_the_same(one: Any, other: Any) -> None:
    same = canonical_bytes(comparable(one)) == canonical_bytes(comparable(other))
    assert same is (exact(one) == exact(other))


@given(VALUES)
def test_a_value_is_the_same_after_a_snapshot(value: Any) -> None:
    kept = json.loads(json.dumps(value))
    assert same_arguments({"v": value}, {"v": kept})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (1, "1"),
        (1, True),
        (0, False),
        (0.0, -0.0),
        (0.1, 0.1 + 1e-17 * 2),
        (2**53, 2**53 + 1),
        (1e308, 1e307),
        (None, "null"),
        ("i1", 1),
        ("a", "s" + "a"),
        ([1], [[1]]),
        ({"a": 1}, {"a": 1, "b": None}),
        ("\u00e9", "e\u0301"),
    ],
)
def test_what_differs_is_bound_differently(one: Any, other: Any) -> None:
    if exact(one) == exact(other):
        assert same_arguments({"v": one}, {"v": other})
    else:
        assert not same_arguments({"v": one}, {"v": other})
        assert digest(action(v=one)) != digest(action(v=other))


def test_a_binding_covers_tool_arguments_evidence_policy_and_expiry() -> None:
    asked = action(user_id="u_17", amount=0.1)
    bound = binding(asked, policy_version="v1", expires_at=LATER)
    others = [
        binding(replace(asked, tool="other"), policy_version="v1", expires_at=LATER),
        binding(replace(asked, connector="other"), policy_version="v1", expires_at=LATER),
        binding(replace(asked, arguments={}), policy_version="v1", expires_at=LATER),
        binding(replace(asked, evidence=("[doc:1]",)), policy_version="v1", expires_at=LATER),
        binding(asked, policy_version="v2", expires_at=LATER),
        binding(asked, policy_version="v1", expires_at=LATER + timedelta(microseconds=1)),
    ]
    assert bound not in others
    assert len(set(others)) == len(others)
    again = replace(asked, id=new_id(), arguments={"amount": 0.1, "user_id": "u_17"})
    assert binding(again, policy_version="v1", expires_at=LATER) == bound


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1: 2}, "\x00", b"x"])
def test_what_has_no_canonical_form_is_refused(value: Any) -> None:
    with pytest.raises(ValidationFailed):
        binding(action(v=value), policy_version="v", expires_at=LATER)


def test_arguments_without_end_are_refused() -> None:
    deep: Any = 1
    for _ in range(3_000):
        deep = {"a": deep}
    with pytest.raises(ValidationFailed):
        digest(action(v=deep))


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"a": value}])
def test_lists_and_objects_count_alike_up_to_the_deepest_level(wrap: Callable[[Any], Any]) -> None:
    deepest: Any = 1
    for _ in range(MAX_DEPTH):
        deepest = wrap(deepest)
    assert comparable(deepest) is not None
    with pytest.raises(ValidationFailed, match="nested"):
        comparable(wrap(deepest))


# ---- grants --------------------------------------------------------------------------------------

SPEC = tool("reset", schema={"properties": {"user_id": {"maximum": 1.5}}})


def grant(arguments: Any = None, **changes: Any) -> Grant:
    made = Grant(
        id=new_id(),
        tool=SPEC.key,
        declaration=declaration(SPEC),
        arguments=arguments,
        expires_at=LATER,
        max_uses=2,
        reason="r",
        made_by=new_id(),
        made_at=NOON,
    )
    return replace(made, **changes)


@pytest.mark.parametrize(
    ("pattern", "value", "matches"),
    [
        ("u_17", "u_17", True),
        ("u_17", "u_18", False),
        ("u_17", "U_17", False),
        ("*@example.org", "ada@example.org", True),
        ("*@example.org", "ada.b+c@example.org", True),
        ("*@example.org", "eve@evil.org,ada@example.org", False),
        ("*@example.org", "ada@example.org.evil.org", False),
        ("*@example.org", "a@b@example.org", False),
        ("*@example.org", "ada @example.org", False),
        ("a*", "a", True),
        ("a*b*c", "a--b--c", True),
        ("a*b*c", "a/b/c", False),
        ("**", "any thing, at all", True),
        ("a**z", "a b/c@d z", True),
        ("a**z", "a b", False),
        ("**x**", "aaxaa", True),
        ("a\\*b", "a*b", True),
        ("a\\*b", "axb", False),
        ("a\\\\b", "a\\b", True),
        ("\\", "\\", True),
        ("", "", True),
        ("", "a", False),
        ("5", 5, False),
        (5, 5, True),
        (5, 5.0, False),
        (True, True, True),
        (True, 1, False),
        (None, None, True),
        ([1, "*"], [1, "*"], True),
        ([1, "*"], [1, "x"], False),
        ({"a": 1}, {"a": 1}, True),
    ],
)
def test_an_argument_meets_its_pattern(pattern: Any, value: Any, *, matches: bool) -> None:
    held = grant({"user_id": pattern})
    assert covers(held, SPEC, {"user_id": value}, NOON) is matches


@given(st.dictionaries(st.sampled_from("ab"), st.text("a*\\", max_size=4), max_size=2), VALUES)
def test_arguments_as_they_were_asked_about_are_met_by_themselves_alone(
    arguments: dict[str, Any], other: Any
) -> None:
    held = grant(exactly(arguments))
    assert covers(held, SPEC, arguments, NOON)
    for name in arguments:
        changed = {**arguments, name: other}
        assert covers(held, SPEC, changed, NOON) is same_arguments(arguments, changed)


def test_a_grant_names_every_argument() -> None:
    held = grant({"user_id": "u_17"})
    assert covers(held, SPEC, {"user_id": "u_17"}, NOON)
    assert not covers(held, SPEC, {"user_id": "u_17", "amount": 1_000}, NOON)
    assert not covers(held, SPEC, {}, NOON)
    assert covers(grant(None), SPEC, {"user_id": "u_17", "amount": 1_000}, NOON)
    assert not covers(grant({}), SPEC, {"user_id": "u_17"}, NOON)


def test_a_grant_is_for_one_tool_as_it_was_declared_until_it_is_over() -> None:
    held, given_arguments = grant({"user_id": "u_17"}), {"user_id": "u_17"}
    assert not covers(held, replace(SPEC, name="delete"), given_arguments, NOON)
    for changed in (
        replace(SPEC, dangerous=True),
        replace(SPEC, lane=Lane.READ),
        replace(SPEC, schema={}),
        replace(SPEC, resource="users/{user_id}"),
        replace(SPEC, requires_approval_above_autonomy=Autonomy.ACT),
        replace(SPEC, forbidden_in_autonomy=frozenset({Autonomy.PROPOSE})),
    ):
        assert not covers(held, changed, given_arguments, NOON)
    assert covers(held, replace(SPEC, description="Other words."), given_arguments, NOON)
    assert not covers(held, SPEC, given_arguments, LATER)
    assert not covers(replace(held, uses=2), SPEC, given_arguments, NOON)
    assert not covers(replace(held, revoked_at=NOON), SPEC, given_arguments, NOON)


def test_hostile_patterns_take_no_time() -> None:
    held = grant({"user_id": "a*" * 400 + "b" + "**a" * 400})
    assert not covers(held, SPEC, {"user_id": "a" * 5_000}, NOON)


# ---- policies ------------------------------------------------------------------------------------


def test_every_part_that_decides_changes_the_version_and_nothing_else_does() -> None:
    held = policy()
    version = held.version("desk", Autonomy.ACT)
    others = [
        held.version("desk", Autonomy.PROPOSE),
        held.version("other", Autonomy.ACT),
        policy(autonomy=Autonomy.OFF).version("desk", Autonomy.ACT),
        policy(scopes="write: {allow: [a]}").version("desk", Autonomy.ACT),
        policy(scopes="write: {deny: [a]}").version("desk", Autonomy.ACT),
        policy(scopes="read: {allow: [a]}").version("desk", Autonomy.ACT),
        policy(redaction="none").version("desk", Autonomy.ACT),
        policy(manifest_hash="b" * 64).version("desk", Autonomy.ACT),
        policy(safe=False).version("desk", Autonomy.ACT),
    ]
    assert len({version, *others}) == len(others) + 1
    reordered = policy(scopes="write: {allow: ['**']}\nread: {allow: ['**', '**']}")
    assert reordered.version("desk", Autonomy.ACT) == version
    beside = replace(held, connectors={**held.connectors, "x": ConnectorPolicy(connector="x")})
    assert beside.version("desk", Autonomy.ACT) == version
    assert len(version) == 64


def test_a_connector_nobody_has_seen_is_off() -> None:
    assert Policy().autonomy("desk", Autonomy.ACT) is Autonomy.OFF
    unseen = Policy(connectors={"desk": ConnectorPolicy(connector="desk", autonomy=Autonomy.ACT)})
    assert unseen.autonomy("desk", Autonomy.ACT) is Autonomy.OFF
