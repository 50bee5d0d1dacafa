"""What the templates cost before anybody asks: all is priced, the smallest within 50 USD."""

import re
from decimal import Decimal

import pytest
from tests.infrastructure.assembly import ROOT, Assembly

from cairn.cli.cost.bill import monthly

pytestmark = pytest.mark.xdist_group("templates")

SMALLEST_USD = 50


def total(assembly: Assembly) -> Decimal:
    return sum((line.usd for line in monthly(assembly.templates.values())), Decimal(0))


@pytest.mark.parametrize("name", ["prod", "other_prod", "user_pool", "smallest"])
def test_every_resource_of_every_option_has_a_price(
    name: str, request: pytest.FixtureRequest
) -> None:
    assert total(request.getfixturevalue(name)) > 0


def test_the_smallest_deployment_costs_what_the_guide_says_and_less_than_fifty_dollars(
    smallest: Assembly,
) -> None:
    usd = total(smallest)
    assert usd <= SMALLEST_USD
    guide = (ROOT / "docs" / "operate" / "deploy-aws.md").read_text(encoding="utf-8")
    said = re.search(r"\*\*(\d+) USD\*\* a month with `min_acu=0 endpoint_zones=1", guide)
    assert said is not None
    assert int(said[1]) == round(usd)
