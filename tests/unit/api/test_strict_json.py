import pytest

from cairn.api.problems import Refused
from cairn.api.strict_json import MAX_DEPTH, MAX_INTEGER, bad_strings, parse


def test_plain_json_is_read_as_it_stands() -> None:
    assert parse(b'{"a": [1, 2.5, true, null, "\xc3\xa9\\u00e9"]}') == {
        "a": [1, 2.5, True, None, "éé"]
    }


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "syntax"),
        (b"{", "syntax"),
        (b"{'a': 1}", "syntax"),
        (b'{"a": 1} trailing', "syntax"),
        (b'"tab\there"', "syntax"),
        (b"\xef\xbb\xbf{}", "syntax"),
        (b"\xff", "not-utf-8"),
        (b'"\xed\xa0\x80"', "not-utf-8"),
        (b'{"a": NaN}', "not-a-number"),
        (b"[Infinity]", "not-a-number"),
        (b"[-Infinity]", "not-a-number"),
        (b"[1e999]", "number-too-large"),
        (b'{"a": 1, "a": 2}', "duplicate-key"),
        (b'{"n": %d}' % (MAX_INTEGER + 1), "integer-too-large"),
        (b"[" + b"9" * 100_000 + b"]", "integer-too-large"),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "depth"),
        (b"[" * 500_000, "depth"),
    ],
)
def test_what_is_not_strict_json_is_refused_with_its_reason(body: bytes, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        parse(body)
    assert (refused.value.kind.code, refused.value.reason) == ("malformed-body", reason)


def test_the_deepest_allowed_nesting_and_the_largest_integer_pass() -> None:
    assert parse(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    assert parse(b"[%d, -%d]" % (MAX_INTEGER, MAX_INTEGER)) == [MAX_INTEGER, -MAX_INTEGER]


def test_a_syntax_error_says_where_and_not_what() -> None:
    with pytest.raises(Refused) as refused:
        parse(b'{"secret": "hunter2",\n oops}')
    assert "line 2" in refused.value.detail
    assert "hunter2" not in refused.value.detail


def test_unstorable_strings_are_found_at_any_depth_and_in_keys() -> None:
    value = {"a": ["fine", {"b": "nul\x00"}], "c\ud800": 1, "d": "half \udc00"}
    assert {path for path, _ in bad_strings(value)} == {"a.1.b", "key", "d"}
    assert list(bad_strings({"a": ["fine", "\U0001f600"]})) == []
