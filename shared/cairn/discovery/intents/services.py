"""Services said in the simple present: "I mend clocks" offers, "I mend my clock" does not. Pure.

What somebody does for others is said of things in general, in a bare plural, or of what is yours;
a possessive, an article or a habit of one's own tells how things are. So does a trade with what is
done in it: "I am an accountant who helps charities", "we take on repairs". English rules.
"""

from __future__ import annotations

import re

_VERBS = (
    "take on|help|support|advise|assist|guide|represent|"
    "lend out|lend|accompany|adjust|alter|analy[sz]e|appraise|arrange|assemble|audit|bake|"
    "bind|breed|brew|build|calibrate|care for|carve|cast|cater|caulk|clean|coach|cook|cover|"
    "craft|cut|deliver|design|develop|dig|digiti[sz]e|distribute|draft|draw up|dye|edit|"
    "engrave|erect|farm|film|finish|fit|fix|forge|frame|galvani[sz]e|grind|groom|grow|"
    "harvest|haul|hire out|host|illustrate|import|inspect|install|interpret|knit|lay|lease|"
    "let|look after|machine|maintain|make|manufacture|mend|mill|organi[sz]e|overhaul|paint|"
    "photograph|plan|plant|plaster|plate|pour|press|print|produce|proofread|provide|prune|"
    "publish|rebuild|record|refurbish|rent out|repair|restore|rig|roast|scan|sell|service|"
    "sew|sharpen|ship|shoe|source|spin|spray|stock|store|supply|survey|tailor|tan|teach|test|"
    "thatch|tile|train|transcribe|translate|transport|treat|tune|tutor|upholster|weave|weld|"
    "wire"
)
_THIRD = "|".join(
    verb + ("" if " " in verb else "(?:s|es)") for verb in _VERBS.split("|") if " " not in verb
)
_NOT_GENERAL = (
    r"(?!(?:my|our|the|this|that|these|those|it|him|her|them|us|me|myself|ourselves|his|their|an?|"
    r"one|some|any|no|too|so|very|up|out|off|down|sure|sense|do|every|each|all|both|many|few|most|"
    r"two|three|four|five|six|seven|eight|nine|ten|\d+|what|how|when|where|as|like|about|on|in|at|"
    r"to|with|from|for)\b)"
)
_THINGS = r"[\w-]{2,}(?<!s)s\b"
_OBJECT = (
    rf"(?:{_NOT_GENERAL}(?:[\w'-]+,? ){{0,4}}?{_THINGS}|your\b"
    rf"|{_NOT_GENERAL}(?:[\w'-]+,? ){{1,4}}?for {_NOT_GENERAL}{_THINGS})"
)
_SERVICE = re.compile(
    rf"^(?:(?:here|in|at|near|around) [^,]{{2,40}},? |also,? |as an? [^,]{{2,40}}?,? (?=i\b|we\b))?"
    rf"(?:(?:i|we)(?: also| both| can)? (?:{_VERBS})|our [\w-]+ (?:{_THIRD}))"
    rf"(?:(?:,? and|,? or|,) (?:{_VERBS}|{_THIRD}))* {_OBJECT}",
    re.IGNORECASE,
)
_DOES = re.compile(
    rf"^(?:i|we)(?: also)? do {_NOT_GENERAL}(?:[\w'-]+ ){{1,3}}?for {_NOT_GENERAL}{_THINGS}",
    re.IGNORECASE,
)
_PEOPLE = (
    r"(?:people|children|women|men|others|those|anyone|anybody|everyone|everybody|youth"
    r"|(?:the )?elderly"
    r"|newcomers|families|charities|companies|libraries|businesses)"
)
_OF_OTHERS = rf"(?:{_PEOPLE}\b|{_NOT_GENERAL}(?:[\w'-]+,? ){{0,3}}?(?:{_PEOPLE}|{_THINGS}))"
_HELP = (
    "help|assist|support|advise|represent|serve|guide|mentor|coach|counsel|visit|drive|train|"
    "tutor|host|shelter|sponsor|supervise|welcome"
)
_TAKEN = (
    r"(?!(?:the|my|our|his|her|this|that|to)\b)(?:[\w-]+ ){0,3}(?:repairs?|commissions?"
    r"|orders?|bookings?|jobs?|clients?|customers?|pupils?|students?"
    r"|apprentices?|trainees?|interns?|lodgers?|cases?|requests?|projects?|restorations?|translations?"
    r"|work|assignments?|patients?|pets?|animals?|[\w-]{4,}ings)\b"
)
_HELD = (
    r"(?:[\w'-]+ ){0,4}?(?:courses?|class(?:es)?|workshops?|lessons?|tours?|walks?|sessions?"
    r"|seminars?|trainings?|clinics?|retreats?|meetups?|caf[eé]s?|clubs?|camps?|talks?|readings?|concerts?|tastings?"
    r"|choirs?|hostels?|shelters?|helplines?|excursions?|hikes?|lectures?"
    r"|(?:tax )?returns|audits)\b"
)
_PLACE = (
    r"(?:workshop|studio|company|firm|shop|business|bakery|kitchen|garage|practice|office|agency|team|band"
    r"|farm|nursery|school|press|lab|charity|collective|cooperative|club|brewery|gallery|foundation)"
)
_S = r"(?:e?s)?"
_ACTS = (
    rf"(?:(?:{_HELP}){_S} {_OF_OTHERS}"
    rf"|(?:takes? (?:on|in)|accepts?) (?:{_TAKEN}|{_OF_OTHERS})"
    rf"|takes? {_TAKEN}"
    rf"|(?:runs?|leads?|holds?|gives?|hosts?|organi[sz]es?|teach(?:es)?|do(?:es)?|offers?) {_HELD}"
    rf"|caters? for {_OF_OTHERS}"
    rf"|(?:works?|working) (?:with|for) {_OF_OTHERS}"
    rf"|(?:writes?|prepares?|cooks?|makes?|does|do) (?:[\w'-]+ ){{1,4}}?for {_OF_OTHERS}"
    r"|speciali[sz](?:es?|ing) in \w+)"
)
_BY_TRADE = re.compile(
    rf"^(?:i'm|i am|we're|we are) (?!(?:not|the son|the daughter)\b)(?:[\w'-]+ ){{1,6}}?"
    rf"(?:(?:who|that|which|and)(?: also)? )?(?:{_ACTS}|(?:who|that|which) (?:{_VERBS}|{_THIRD})"
    rf" {_OBJECT})",
    re.IGNORECASE,
)
_TAKES_ON = re.compile(
    rf"^(?:(?:here|in|at|near|around) [^,]{{2,40}},? |also,? )?"
    rf"(?:(?:i|we)(?: also| both| can| gladly)?|(?:our|my) (?:[\w-]+ )?{_PLACE}) {_ACTS}",
    re.IGNORECASE,
)
_OF_ONES_OWN = re.compile(
    r"\b(?:every|each) (?:\w+ )?(?:day|morning|afternoon|evening|night|week|weekend|month|"
    r"year|summer|winter|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b"
    r"|\b(?:often|usually|always|sometimes|never|rarely|seldom|mostly|normally|generally)\b"
    r"|\bfor (?:fun|pleasure|myself|ourselves|a living|work|my|our|me|us)\b|\bwith (?:my|our)\b"
    r"|\b(?:as a|my) (?:hobby|job)\b|\bin my (?:spare|free) time\b|\bat (?:home|work)\b"
    r"|\b(?:when|because|although|though|since|until|while|after|before) (?:i|we|it|they)\b"
    r"|\b(?:mistakes|plans|decisions|friends|ends|notes|jokes|lists|choices|excuses|promises|"
    r"memories|efforts|dishes|things|differences|rules|lessons learned|feelings|thoughts|ideas|"
    r"tears|years|hours|days|weeks|months|times|guests|parents|dreams)\b"
    r"|\?\s*$",
    re.IGNORECASE,
)


def is_service(text: str) -> bool:
    """Return whether a sentence says what its speaker does for others."""
    forms = (_SERVICE, _DOES, _TAKES_ON, _BY_TRADE)
    return any(form.search(text.strip()) for form in forms) and not _OF_ONES_OWN.search(text)
