"""`cairn opportunity`, where nobody is found: what to do next is said."""

import httpx
import pytest
from tests.unit.cli.fakes import Shell


def shell(**answer: object) -> Shell:
    """A shell whose API gives one answer."""
    return Shell(transport=httpx.MockTransport(lambda _: httpx.Response(200, json=answer)))


@pytest.mark.parametrize(("judged", "hint"), [(2, True), (0, False)])
def test_a_look_without_a_match_says_how_many_were_judged_and_how_to_see_them(
    judged: int, hint: bool
) -> None:
    done = shell(matches=[], judged=judged).run("opportunity", "discover", "--query", "a boat")
    assert f"Nobody scores 70 or more; {judged} were judged." in done.stdout
    assert ("--minimum 0" in done.stdout) is hint


def test_an_empty_list_of_opportunities_says_where_to_look() -> None:
    done = shell(items=[], next_cursor=None).run("opportunity", "list")
    assert "`cairn opportunity discover`" in done.stdout
