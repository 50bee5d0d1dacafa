"""The records a playbook is made of. Not the rules that read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cairn.investigations.planning.playbooks.lexicon import Lexicon
    from cairn.investigations.planning.uses import Use
    from cairn.investigations.state import Verdict

Text = Mapping[str, str]
"""A sentence by language; English is always there. {names} stand for what a sign has seen."""


class Sign(StrEnum):
    """What may be seen in a ticket, in what was found, and in what came of an action."""

    # of the ticket
    SUSPICIOUS = "suspicious"  # words that try to direct a model
    FOREIGN = "foreign"  # it is about an account that is not known to be the requester's
    DOUBTED = "doubted"  # it speaks of loss, theft, attack, surprise, or of leaving things locked
    SIGN_IN = "sign_in"  # it speaks of signing in
    UNCOVERED = "uncovered"  # it says something that the playbook's words do not cover
    UNEXPLAINED = "unexplained"  # it says something beside a question that does not lead to it
    VAGUE = "vague"  # too little is said to look for anything
    CLAIMS = "claims"  # money is asked for, or an amount disputed
    # of accounts
    ACCOUNT = "account"
    NO_ACCOUNT = "no_account"  # looked for, and there is none
    LOCKED = "locked"
    OPEN = "open"  # found, and neither locked nor disabled
    DISABLED = "disabled"  # by somebody, not by failed sign-ins
    FAILURES = "failures"
    SPRAYED = "sprayed"  # failed sign-ins from many addresses: perhaps an attack
    FACTOR_FAILURES = "factor_failures"
    # of webhooks
    FAILING = "failing"
    DELIVERED = "delivered"
    ENDPOINT_DOWN = "endpoint_down"
    ENDPOINT_UP = "endpoint_up"
    ENDPOINT_SILENT = "endpoint_silent"  # it did not answer at all
    # of invoices
    INVOICES = "invoices"
    # of the knowledge base
    KNOWN = "known"  # a text that speaks of this
    ANSWERED = "answered"  # and answers what is asked in a question for instructions
    # of the change that was tried
    CHANGED = "changed"
    SIMULATED = "simulated"
    REFUSED = "refused"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A write that mends the problem, when all of `when` is seen and none of `unless`.

    `careful` ones are proposed only through tools that a person has to agree to.
    """

    use: Use
    when: frozenset[Sign]
    unless: frozenset[Sign]
    reason: str
    careful: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """A verdict, when all of `when` is seen and none of `unless`; what is said after what is seen.

    `says` has no source but the ticket; `asks` are questions and requests.
    """

    verdict: Verdict
    reason: str
    when: frozenset[Sign] = frozenset()
    unless: frozenset[Sign] = frozenset()
    says: Text | None = None
    asks: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Playbook:
    """How to work one kind of ticket.

    It fits when each group of `topic` has the beginning of a word, or of words, that the ticket
    says; among those that fit the most such beginnings, plus `weight`, decide. `search` is added to
    the ticket's words. `tells` are the sentences for its own signs, in the order they are written;
    those in `private` are not for a requester who asks about somebody else. `covers` are the words,
    by language, that a ticket may have for the playbook to change something or to close it.
    """

    name: str
    topic: tuple[frozenset[str], ...]
    search: str
    looks: tuple[Use, ...] = ()
    change: Change | None = None
    weight: int = 0
    endings: tuple[Ending, ...]
    tells: Mapping[Sign, Text]
    private: frozenset[Sign] = frozenset()
    covers: Mapping[str, Lexicon] = field(default_factory=dict["str", "Lexicon"])
