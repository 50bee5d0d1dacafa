"""How fast a chain is verified, in processor time, so that a busy machine does not change it."""

import time

from tests.unit.ledger.chains import WORKSPACE, chain

from cairn.ledger.chain import head_of
from cairn.ledger.verify import verify

ENTRIES = 10_000
REQUIRED_PER_SECOND = 20_000


def test_verification_walks_at_least_20000_entries_a_second() -> None:
    entries = chain(ENTRIES)
    rates: list[float] = []
    for _ in range(5):
        started = time.process_time()
        outcome = verify(entries, workspace_id=WORKSPACE, expected=head_of(entries[-1]))
        rates.append(ENTRIES / (time.process_time() - started))
        assert outcome.checked == ENTRIES
    assert max(rates) >= REQUIRED_PER_SECOND, f"{max(rates):.0f} entries/s"
