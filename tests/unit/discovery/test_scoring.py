"""Who excludes themselves ranks behind everybody who does not, however near their words are."""

from __future__ import annotations

from uuid import UUID

from cairn.discovery.matching.evidence import BOTH, SEEKING, Asker, Candidate, measure
from cairn.discovery.matching.scoring import EXCLUDED, judge

WISH = "Looking for a saddler in Graz who mends bridles"


def candidate(number: int, text: str, side: str | None, location: str = "") -> Candidate:
    member = UUID(int=number)
    return Candidate(
        member_id=member,
        shown_id=member,
        node_id=UUID(int=number + 50),
        side=side,
        text=text,
        tokens=None,
        cosine=0.9 if number < 3 else 0.35,
        location=location,
    )


def test_a_rival_and_a_wrong_place_are_behind_who_said_little() -> None:
    asker = Asker(text=WISH, side=SEEKING, tokens=None, location="Graz")
    others = [
        candidate(1, WISH, SEEKING, "Graz"),
        candidate(2, "Saddler in Bern who mends bridles", "offering", "Bern"),
        candidate(3, "Leather work of all kinds", "offering", "Graz"),
    ]
    rival, away, faint = judge(asker, "Ada", others, measure(asker, others))
    assert rival.conflicts == ("same side",)
    assert "wrong place" in away.conflicts
    assert max(rival.score, away.score) <= 9 <= EXCLUDED
    assert faint.conflicts == ()


def test_two_who_give_and_want_the_same_are_on_the_same_side() -> None:
    asker = Asker(text="Oboe lessons from me, Czech from you", side=BOTH, tokens=None)
    others = [
        candidate(1, "I teach you the oboe and you teach me Czech", BOTH),
        candidate(2, "I want to learn the oboe; Czech for you in return", BOTH),
    ]
    rival, partner = judge(asker, "Ada", others, measure(asker, others))
    assert (rival.conflicts, partner.conflicts) == (("same side",), ())
    assert rival.score < partner.score
