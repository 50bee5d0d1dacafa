"""Lines that do not fit in memory are sorted all the same."""

from hypothesis import given
from hypothesis import strategies as st

from cairn.cli.memory_files import sorted_lines


@given(
    st.lists(st.binary(max_size=5).map(lambda one: one.replace(b"\n", b"") + b"\n")),
    st.integers(1, 40),
)
def test_lines_come_out_sorted_however_few_are_held(lines: list[bytes], at_once: int) -> None:
    assert list(sorted_lines(lines, at_once=at_once)) == sorted(lines)
