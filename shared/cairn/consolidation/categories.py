"""Which knowledge category a memory's words point to, by counting. Pure; general when unsure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.consolidation.tokens import stem
from cairn.kernel.text.words import words
from cairn.memories.kinds import KnowledgeCategory

if TYPE_CHECKING:
    from collections.abc import Mapping

MIN_WORDS = 2
"""Different words of a category a text must hold, and more than of any other."""

_BRAND = """
    brand branding logo logos colour color palette font typeface typography tone voice guideline
    guidelines slogan tagline wording identity visual style mascot
"""
_STRATEGY = """
    strategy strategic roadmap plan plans positioning campaign campaigns competitor competitors
    competitive market segment audience goal goals target targets quarter growth pricing budget
    launch expansion forecast kpi okr
"""
_MEETING = """
    meeting meetings call calls agenda minutes agreed discussed attendees attendee follow-up
    action items workshop standup retro retrospective kickoff réunion
"""
_CONTENT = """
    blog post posts article articles newsletter headline caption captions copy draft published
    publish editorial video videos podcast page pages subscribers views impressions clicks webinar
    ebook press
"""
_TECHNICAL = """
    server servers database databases api deploy deploys deployment deployments hosting hosted cms
    dns ssl tls certificate backup backups bug bugs cache cron endpoint latency kubernetes docker
    linux postgres postgresql mysql redis nginx python javascript typescript php wordpress seo
    sitemap code repository branch build builds pipeline ci queue timeout firewall vpn login logs
    log error errors http https query index schema cluster firmware release version token host
"""
_RELATIONSHIP = """
    contact contacts prefers preference preferences likes dislikes email phone manager boss
    colleague assistant spouse wife husband daughter son birthday lives moved allergic vegetarian
    speaks language owner friend partner relationship introduced reachable
"""

_WORDS: Mapping[KnowledgeCategory, frozenset[str]] = {
    category: frozenset(stem(word) for word in listed.split())
    for category, listed in (
        (KnowledgeCategory.BRAND, _BRAND),
        (KnowledgeCategory.STRATEGY, _STRATEGY),
        (KnowledgeCategory.MEETING, _MEETING),
        (KnowledgeCategory.CONTENT, _CONTENT),
        (KnowledgeCategory.TECHNICAL, _TECHNICAL),
        (KnowledgeCategory.RELATIONSHIP, _RELATIONSHIP),
    )
}


def category_of(text: str) -> KnowledgeCategory:
    """Return the category with the most different words in the text; general on a tie or below."""
    said = {stem(word) for word in words(text)}
    counts = {category: len(said & listed) for category, listed in _WORDS.items()}
    most = max(counts.values())
    best = [category for category, count in counts.items() if count == most]
    return best[0] if most >= MIN_WORDS and len(best) == 1 else KnowledgeCategory.GENERAL
