"""What the API needs to tell of costs: use-case callables, as in `services`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import date

    from cairn.kernel.access import Principal
    from cairn.llm.costs import CostBy, CostReport


class GetCosts(Protocol):
    """Return what models have cost in a period, the last 30 days unless said.

    Denied unless an admin asks; ValidationFailed for a period that ends before it begins or is
    longer than a year.
    """

    def __call__(
        self, principal: Principal, /, *, by: CostBy, since: date | None, until: date | None
    ) -> CostReport: ...
