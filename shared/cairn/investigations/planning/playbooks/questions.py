"""Words of questions: what only dresses them, what asks for a number, what means the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.investigations.planning.playbooks.lexicon import lexicon

if TYPE_CHECKING:
    from collections.abc import Mapping

DRESSING: Mapping[str, frozenset[str]] = {
    "en": lexicon("""
        per new able actually advance also anyone app application best easily exactly explain
        hello hi kindly know like need page platform please portal possible possibly quickly
        simply site software someone system tell thank thanks tool want way website
    """).exact,
    "de": lexicon("""
        am an bitte das dem den der die ein eine einem einen es finde für genau gibt ich im in ist
        kann können könnte man mein meine mich mir mit portal seite sind system und unser unsere
        von wann was wie wir wo zu zum zur
    """).exact,
    "fr": lexicon("""
        au ce comment dans de des du en est et faire il je la le les ma mon nos notre on où peut
        portail pour puis que quel quelle site système un une y à
    """).exact,
    "es": lexicon("""
        a al cuál cómo de del dónde el en es hacer hay la las los mi nuestras nuestro para por
        portal puede puedo qué se sistema un una y
    """).exact,
}
"""Words of a question that a passage need not have."""

QUANTITY = (
    *(("how", "many"), ("how", "much"), ("how", "long"), ("how", "often"), ("how", "old")),
    *(("how", "fast"), ("how", "soon"), ("how", "far"), ("how", "big"), ("how", "large")),
    *(("wie", "viele"), ("wie", "viel"), ("wie", "lange"), ("wie", "oft"), ("combien",)),
    *(("cuántos",), ("cuántas",), ("cuánto",), ("cuánta",)),
)
"""What asks for a number: nothing without one is an answer."""

DURATION = (("how", "long"), ("how", "often"), ("how", "soon"), ("how", "fast"), ("how", "old"))
TIMES = frozenset(["second", "minut", "hour", "day", "week", "month", "year", "time", "twice"])
"""Stems of units, one of which answers a question for a duration."""

QUANTIFIERS = frozenset(["many", "much", "viele", "viel", "of"])
STRICT = frozenset(["all", "once", "both", "more", "only", "again", "before", "after", "without"])
"""Words of grammar that change what is asked: an answer has to have them, too."""

COUNTING = lexicon("""
    accept accepts allow allowed allows amount applies apply combien count cuántas cuánto cuántos
    get gets give given has have lange last lasts long made make many mean means much number oft
    often still take takes there time times viel viele work works one each every single send sends
    sending
""").exact
"""Words of a question for a number that the answer may leave out."""

NUMBERS = lexicon("""
    acht cinco cinq cuatro deux diez dix dos drei dreißig eight eleven elf fifteen fifty five
    forty four fünf huit hundred neuf neun nine nueve ocho once quatre sechs seis sept seven
    sieben siete six sixty ten thirty thousand three treinta trente tres trois twelve twenty twice
    two vier zehn zwei zwölf
""").exact

ALIKE = (
    frozenset(["picture", "photo", "image", "avatar"]),
    frozenset(["colleague", "coworker", "teammate"]),
    frozenset(["valid", "good"]),
    frozenset(["find", "see", "locate", "view"]),
    frozenset(["e-mail", "email", "mail"]),
    frozenset(["retried", "tried", "repeated"]),
    frozenset(["weekly", "week"]),
)
"""Words that a question and its answer may say differently; nothing that asks for another deed."""

WANTS = (
    r" (?:i|we)(?: would| d| also| really| still| urgently)* (?:need|want|like|require|miss|"
    r"request|ask|expect|demand|wish) (?!to |it |this |that |the same )|"
    r" \w+ (?:also )?(?:needs|wants|requires) (?!to )"
)
"""What who asks wants beside an answer."""

BACKGROUND = (
    r"(?:i|we) (?:am|m|are|re|was|were|have been) (?:just |currently |"
    r"still )?(?:preparing|writing|"
    r"planning|working|building|setting up|describing|creating|collecting|"
    r"putting together|trying to "
    r"find out|looking for|integrating|updating|revising|reviewing|comparing|moving|"
    r"migrating|documenting|the owner|new|responsible|in charge)\b",
    r"(?:i|we)(?: would| d)? (?:like|love|prefer|want|plan|have|need) to (?:work|send|"
    r"do|have it|get it|"
    r"use|prepare|finish|tell|show|compare|plan|read|share|set|make|start|know|be sure|"
    r"try|import)\b",
    r"(?:i|we) (?:have )?(?:already )?(?:looked|searched|checked|browsed|clicked)\b",
    r"(?:i|we) have (?:to|the \w+ open)\b",
    r"(?:i|we) (?:currently|still|usually|normally|now) \w+",
    r"(?:it|that) would be (?:great|nice|good|helpful|perfect|wonderful)\b",
    r"(?:i|we|our (?:company|bank)) (?:\w+ ){0,2}(?:a |our |my |the )?new (?:\w+ )?card\b",
    r"a (?:short|quick|brief) (?:answer|hint|reply|pointer) (?:is|would be)\b",
    r"(?:i|we)(?: have| ve| already| also| now| just)* (?:have|ve|got) (?:a|an|the|my|our|it|"
    r"them|one|everything) "
    r"(?:\w+ ){0,3}(?:ready|at hand|prepared|open)\b",
    r"i(?: am|m| m) (?:also |already |still |just )?(?:an? |the |one of the )?(?:\w+ )?"
    r"(?:owner|admin|administrator|admins|administrators)\b",
    r"(?:it|this|that|s|it s|its)(?: is| s)? (?:for|meant for) (?:our|my|the|an?|internal)\b",
    r"(?:permissions?|rights?|access) (?:should|are|is) (?:not )?(?:be )?(?:a |the |no )?(?:fine|"
    r"there|ok|problem|in place)\b",
    r"(?:i|we)(?: would|d| d| will|ll| ll)+ (?:then )?(?:set|use|put|plan|prepare|test|try|"
    r"configure|adapt|tell)\b",
    r"(?:someone|somebody|a colleague|a friend|my predecessor) (?:told|said|mentioned|showed)\b",
    r"(?:it|its|it s|s)(?: is| must be| has to be| s)? (?:probably|surely|certainly|something) "
    r"(?:\w+ )?"
    r"(?:easy|simple|obvious|somewhere)\b",
    r"(?:our|the|my) (?:\w+ ){0,2}(?:policy|policies|accountant|accountants|auditor|"
    r"auditors|bank)\b",
)
"""Begins of what a person tells before they ask; nothing that asks for another thing."""

LOOKED = (
    r"(?:could|can|did|do|does) ?(?:not|nt) (?:find|see|spot|know)(?: (?:it|them|that|"
    r"how|where|any))?",
    r"but (?:must have|have) missed (?:it|them)|must have missed",
    r"not sure (?:how|where)",
    r"do not want to run into (?:errors|trouble|the limit)",
    r"(?:but )?no luck(?: so far| yet)?",
    r"(?:is|are|was|were|isnt|wasnt|arent) (?:not )?(?:mentioned|listed|described|explained|"
    r"covered|documented)"
    r"(?: there| anywhere)?",
    r"(?:have|has|had)(?: not|nt) (?:found|seen|spotted|come across|figured out)(?: it| them| "
    r"that| anything)?",
    r"(?:could|can|did|do|does) ?(?:not|nt) (?:figure out|work out|make out|remember|recall|get "
    r"very far)"
    r"(?: it| that| how| where| any)*",
    r"(?:cant|cannot) (?:seem to )?(?:find|see|spot|figure out|work out|remember|recall)"
    r"(?: (?:it|them|that|how|where|any))*",
    r"not (?:very |really |so |a )?(?:obvious|clear|easy to find|technical|urgent|an expert|"
    r"expert|tech savvy)",
    r"(?:have |ve |had )?no idea(?: how| where)?",
    r"(?:should|would|do|does|is|are|should be) ?(?:not|nt) (?:be )?(?:a|the|any) (?:problem|"
    r"issue)",
    r"never (?:done|had to do|tried|used|needed) (?:it|that|this)(?: before)?",
    r"without (?:any )?(?:success|luck|finding it)",
    r"nothing (?:suitable|obvious|of the kind|like it|like that|helpful)",
    r"(?:does not|doesnt|do not|dont) have (?:a|an|any) (?:login|account|seat|licence|"
    r"license)(?: SLOT)?",
    r"(?:do not|dont) want to (?:miss|break|guess|do anything wrong|make a mistake)",
    r"nothing (?:about|on) it|without success",
)
"""Negations that only say that somebody looked."""

ASKS = (
    "can you", "could you", "would you", "will you", "please", "let me know", "need you",
    "have you", "send me", "send us", "want you", "arrange", "also need", "need a", "need an",
    "another thing", "one more", "second question", "besides", "as well as", "complain",
    "disappointed",
)  # fmt: skip
"""What makes a sentence a request of its own."""

GOES_ON = lexicon("""
    also besides another second secondly then apart furthermore moreover separately additionally
    ps and
""").exact
"""First words of a question that follows on another matter."""

COMPLAINS = lexicon("""
    wrong* broken blank empty slow* hang* crash* freez* froze* stuck double* twice late delay* down
    unavailable outage* bug* glitch* angry upset damaged leak* dead die died smoke blocked block*
    lock* refund* cancel* delet* remov* fix* repair* replacement* arrange strang* incorrect*
    mistake* disappear* vanish* differ* mismatch* unreadable useless trouble* problem* issue* still
    anymore instead access login password show shows showing displays
""")
"""What a sentence before a question has when it may be a matter of its own."""

PEOPLE = frozenset(["i", "we", "my", "our", "us", "me"])
"""One of them stands in what people tell of themselves before they ask."""
