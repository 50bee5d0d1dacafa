"""What scopes match, what they are spelled like, and what no argument can make of them."""

import time
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.kernel.errors import TooLarge, ValidationFailed
from cairn.safety.scope import (
    ScopeAnswer,
    Scopes,
    UnsafeResource,
    parse_pattern,
    parse_scopes,
    readings,
    scoped,
)
from cairn.safety.tools import Lane, ToolSpec

ALLOWED, DENIED = ScopeAnswer.ALLOWED, ScopeAnswer.DENIED
UNLISTED, UNSAFE = ScopeAnswer.UNLISTED, ScopeAnswer.UNSAFE

PUBLISHED = """
connector: m365
scopes:
  read:
    allow: ["users/*", "mailboxes/*"]
  write:
    allow: ["users/{id}/reset_password"]
    deny:  ["users/{id}/delete"]
"""


def write(name: str, resource: str | None = None) -> ToolSpec:
    return ToolSpec(connector="m365", name=name, description="", lane=Lane.WRITE, resource=resource)


def asked(text: str, tool: ToolSpec, **arguments: Any) -> ScopeAnswer:
    return scoped(parse_scopes(text), tool, arguments).answer


def writes(*, allow: str, deny: str = "") -> str:
    return f"write: {{allow: [{allow}], deny: [{deny}]}}"


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("users", "users", True),
        ("users", "Users", False),
        ("users", "users/1", False),
        ("users/*", "users/1", True),
        ("users/*", "users", False),
        ("users/*", "users/1/delete", False),
        ("users/{id}", "users/1", True),
        ("users/{id}/reset_password", "users/u_17/reset_password", True),
        ("users/{id}/reset_password", "users/reset_password", False),
        ("*", "query_users", True),
        ("*", "a/b", False),
        ("**", "a/b/c", True),
        ("**", "a", True),
        ("users/**", "users", True),
        ("users/**", "users/1/2/3", True),
        ("users/**", "groups/1", False),
        ("**/delete", "users/1/delete", True),
        ("**/delete", "delete", True),
        ("**/delete", "delete/users", False),
        ("a/**/b/**/c", "a/x/b/y/z/c", True),
        ("a/**/b/**/c", "a/x/y/z/c", False),
        ("vip-*", "vip-1", True),
        ("vip-*", "vip-", True),
        ("vip-*", "vip", False),
        ("*-vip", "x-vip", True),
        ("a*b*c", "a--b--c", True),
        ("a*b*c", "abc", True),
        ("a*b*c", "acb", False),
        ("a*a", "a", False),
        ("query_*", "query_users", True),
        ("x.y", "xzy", False),
        ("a+", "aa", False),
        ("~root", "~root", True),
    ],
)
def test_patterns_match_as_documented(pattern: str, path: str, *, matches: bool) -> None:
    assert parse_pattern(pattern, "p").matches(tuple(path.split("/"))) is matches


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "/users",
        "users/",
        "a//b",
        "a/../b",
        "./a",
        "a***",
        "a/**b",
        "u?",
        "[ab]",
        "{a,b}",
        "x{id}",
        "{}",
        "!users",
        "a b",
        "a\\b",
        "a\x00b",
        "x" * 513,
        "/".join("x" * 33),
        7,
        None,
        ["users"],
    ],
)
def test_what_has_no_meaning_in_a_pattern_is_refused(pattern: object) -> None:
    with pytest.raises(ValidationFailed) as refused:
        parse_pattern(pattern, "scopes.read.allow.0")
    assert refused.value.errors[0].location == "scopes.read.allow.0"
    assert refused.value.reason == "scope-pattern"


def test_yaml_json_and_the_short_form_say_the_same() -> None:
    long = parse_scopes(PUBLISHED, connector="m365")
    short = parse_scopes(dedent(PUBLISHED.partition("scopes:\n")[2]))
    as_json = parse_scopes(
        '{"connector": "m365", "scopes": {"read": {"allow": ["mailboxes/*", "users/*"]},'
        ' "write": {"allow": ["users/{id}/reset_password"], "deny": ["users/{id}/delete"]}}}'
    )
    assert long.canonical() == as_json.canonical() == short.canonical()


@pytest.mark.parametrize("text", ["", "  \n", "{}", "scopes: {}", "scopes:", "read:", "read: {}"])
def test_scopes_that_say_nothing_allow_nothing(text: str) -> None:
    assert parse_scopes(text) == Scopes()
    assert asked(text, write("anything")) is UNLISTED


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("- users/*", "scopes"),
        ("users/*", "scopes"),
        ("7", "scopes"),
        ("raed: {allow: []}", "scopes.raed"),
        ("read: {alow: []}", "scopes.read.alow"),
        ("read: [users]", "scopes.read"),
        ("read: {allow: users}", "scopes.read.allow"),
        ("read: {allow: [1]}", "scopes.read.allow.0"),
        ("read: {allow: [[a]]}", "scopes.read.allow.0"),
        ("read: {allow: [a, 'b c']}", "scopes.read.allow.1"),
        ("connector: stripe\nscopes: {}", "connector"),
        ("scopes: {}\nextra: 1", "extra"),
        ("read: {allow: [a]}\nread: {allow: [b]}", "scopes"),
        ("read: {allow: &x [a]}\nwrite: {allow: *x}", "scopes"),
        ("read: !!python/object/apply:os.system [ls]", "scopes"),
        ("1: {}", "scopes"),
        ("true: {}", "scopes"),
        ("read: {allow: [", "scopes"),
        ("\x00", "scopes"),
        ("[" * 3_000, "scopes"),
        (f"read: {{allow: [{','.join(['a'] * 501)}]}}", "scopes.read.allow"),
    ],
)
def test_texts_outside_the_language_are_refused_with_the_place(text: str, place: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        parse_scopes(text, connector="m365")
    assert refused.value.errors[0].location == place


def test_a_text_without_end_is_refused_at_once() -> None:
    with pytest.raises(TooLarge):
        parse_scopes("a" * 65_537)


def test_the_published_example_says_what_it_says() -> None:
    reset = write("reset_password", "users/{user_id}/reset_password")
    delete = write("delete_user", "users/{user_id}/delete")
    assert asked(PUBLISHED, reset, user_id="u_17") is ALLOWED
    assert asked(PUBLISHED, delete, user_id="u_17") is DENIED
    assert asked(PUBLISHED, write("other"), user_id="u_17") is UNLISTED
    read = ToolSpec(
        connector="m365", name="q", description="", lane=Lane.READ, resource="users/{id}"
    )
    assert asked(PUBLISHED, read, id=17) is ALLOWED
    assert asked(PUBLISHED, ToolSpec(connector="m365", name="q", description=""), id=17) is UNLISTED


def test_a_lane_says_nothing_about_the_other() -> None:
    text = "read: {allow: ['**'], deny: [secret]}\nwrite: {allow: [note]}"
    assert asked(text, write("note")) is ALLOWED
    assert asked(text, write("other")) is UNLISTED
    assert asked("read: {deny: ['**']}\nwrite: {allow: ['**']}", write("note")) is ALLOWED


def test_denies_beat_allows_by_name_and_by_path() -> None:
    tool = write("reset", "users/{id}/reset")
    assert asked(writes(allow="reset"), tool, id="7") is ALLOWED
    assert asked(writes(allow="reset", deny="reset"), tool, id="7") is DENIED
    assert asked(writes(allow="reset", deny="users/7/**"), tool, id="7") is DENIED
    assert asked(writes(allow="'**'", deny="users/vip-*/**"), tool, id="vip-1") is DENIED
    assert asked(writes(allow="'**'", deny="users/vip-*/**"), tool, id="u1") is ALLOWED


def test_a_tools_name_is_one_segment_whatever_it_holds() -> None:
    assert asked(writes(allow="users/*"), write("users/all")) is UNLISTED
    assert asked(writes(allow="'*'"), write("users/all")) is ALLOWED


FILE = write("write_file", "files/{name}")


@pytest.mark.parametrize(
    "name",
    [
        "secret/key",
        "secret\\key",
        "secret%2fkey",
        "secret%2Fkey",
        "secret%252fkey",
        "secret%5ckey",
        "secret\uff052fkey",
        "secret%ef%bc%8fkey",
        "secret%ef%bc%852fkey",
        "secret\uff0fkey",
        "/secret/key",
        "secret//key",
    ],
)
def test_a_slash_in_a_value_reaches_no_deeper_than_the_allow(name: str) -> None:
    assert asked(writes(allow="files/*"), FILE, name=name) is UNLISTED
    assert asked(writes(allow="'files/{name}'"), FILE, name=name) is UNLISTED
    assert asked(writes(allow="files/**"), FILE, name=name) is ALLOWED
    assert asked(writes(allow="files/**", deny="files/secret/**"), FILE, name=name) is DENIED


@pytest.mark.parametrize(
    "name",
    [
        "..",
        ".",
        "../secret",
        "a/../secret",
        "a/..",
        "a\\..\\secret",
        "%2e%2e/secret",
        "%2e%2e%2fsecret",
        "%252e%252e%252fsecret",
        "..%2fsecret",
        "\uff052e\uff052e/secret",
        "\uff0e\uff0e/secret",
        ".. /secret",
        "...",
        "/",
        "",
        "   ",
        "\t",
        "a\x00b",
        "a\nb",
        "a%00b",
        "a%0ab",
        "a\u2028b",
        "a%c0%afb",
        "%2525252525252fx",
        "x" * 1_001,
        None,
        1.5,
        ["a"],
        {"a": 1},
        2**70,
    ],
)
def test_what_could_be_another_resource_is_unsafe_and_no_allow_helps(name: Any) -> None:
    assert asked(writes(allow="'**', write_file"), FILE, name=name) is UNSAFE


def test_each_of_several_values_may_be_read_its_own_way() -> None:
    tool = write("move", "moves/{a}/{b}")
    values = {"a": "x/y", "b": "p/q"}
    assert asked(writes(allow="'**'"), tool, **values) is ALLOWED
    for deny in ("moves/*/*/*", "moves/x/y/*", "moves/*/p/q", "moves/x/y/p/q", "moves/*/*"):
        assert asked(writes(allow="'**'", deny=deny), tool, **values) is DENIED


def test_what_can_be_read_in_too_many_ways_is_unsafe() -> None:
    tool = write("move", "/".join(f"{{{name}}}" for name in "abcd"))
    value = " A%2520b/c "
    assert asked(writes(allow="'**'"), tool, a=value, b=value, c=value, d=value) is UNSAFE


def test_a_missing_argument_is_unsafe() -> None:
    assert asked(writes(allow="'**'"), FILE) is UNSAFE


@pytest.mark.parametrize("template", ["", "a//b", "a/{b", "x{b}", "a/../b", "a b", "{b c}", "a/}"])
def test_a_malformed_template_is_unsafe(template: str) -> None:
    assert asked(writes(allow="'**'"), write("tool", template), b="1") is UNSAFE


@pytest.mark.parametrize(
    "name",
    ["Admin", "ADMIN", " admin", "admin ", "\u00e1dmin", "adm\u200bin", "a\uff44min", "%61dmin"],
)
def test_a_deny_sees_through_spelling(name: str) -> None:
    text = writes(allow="'**'", deny="files/admin")
    assert asked(text, FILE, name=name) is DENIED


def test_an_allow_does_not() -> None:
    assert asked(writes(allow="files/admin"), FILE, name="admin") is ALLOWED
    for name in ("Admin", " admin", "\u00e1dmin", "%61dmin"):
        assert asked(writes(allow="files/admin"), FILE, name=name) is UNLISTED


def test_plain_values_are_written_as_json_writes_them() -> None:
    for value, text in ((True, "true"), (False, "false"), (17, "17"), (-1, "-1")):
        assert readings("a/{v}", {"v": value}) == (("a", text),)


def test_a_refusal_names_the_argument_and_never_its_value() -> None:
    with pytest.raises(UnsafeResource) as refused:
        readings("files/{name}", {"name": "../ada@example.org"})
    assert "name" in str(refused.value)
    assert "ada@" not in str(refused.value)


SEGMENT = st.text("ab/.%\\* \u00e9", min_size=1, max_size=6)
PATTERN = st.lists(
    st.sampled_from(["a", "b", "*", "**", "a*", "*b", "{x}"]), min_size=1, max_size=5
)


@given(st.lists(PATTERN, max_size=4), st.lists(PATTERN, max_size=3), SEGMENT)
def test_no_deny_is_widened_by_an_allow(
    allow: list[list[str]], deny: list[list[str]], value: str
) -> None:
    def text(some: list[list[str]]) -> str:
        return ", ".join(f"'{'/'.join(item)}'" for item in some)

    tool = write("a", "a/{v}")
    fewer = asked(writes(allow="", deny=text(deny)), tool, v=value)
    more = asked(writes(allow=text(allow), deny=text(deny)), tool, v=value)
    if fewer in (DENIED, UNSAFE):
        assert more is fewer
    bare = asked(writes(allow=text(allow)), tool, v=value)
    assert not (more is ALLOWED and bare is not ALLOWED)


@given(st.text(max_size=40))
def test_no_value_widens_a_match(value: str) -> None:
    """Whatever is put in, only what the allow names is reached: one segment below `files`."""
    try:
        paths = readings("files/{name}", {"name": value})
    except UnsafeResource:
        assert asked(writes(allow="'**'"), FILE, name=value) is UNSAFE
        return
    deep = any(len(path) != 2 for path in paths)
    assert (asked(writes(allow="files/*"), FILE, name=value) is ALLOWED) is not deep
    assert all(".." not in path and "." not in path for path in paths)


def test_hostile_patterns_and_paths_take_no_time() -> None:
    pattern = parse_pattern("/".join(["**", "a*a*a*a*a*a*b"] * 16), "p")
    path = ("a" * 1_000,) * 60
    began = time.process_time()
    assert not pattern.matches(path)
    assert time.process_time() - began < 1
