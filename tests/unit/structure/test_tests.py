"""What a test looks for can never stand in an id by chance.

`"ada" not in response.text` fails once in some hundred runs: a hexadecimal id holds those letters.
"""

import re
from pathlib import Path

TESTS = Path(__file__).parents[2]

OF_AN_ID = re.compile(r"""assert f?(["'])[0-9a-f-]{1,6}\1 not in .*(\.text|str\(|stdout|stderr)""")


def test_no_test_refuses_text_that_an_id_may_hold() -> None:
    lines = {
        f"{path.relative_to(TESTS)}:{number}": line
        for path in sorted(TESTS.rglob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if path != Path(__file__)
    }
    assert [place for place, line in lines.items() if OF_AN_ID.search(line)] == []
