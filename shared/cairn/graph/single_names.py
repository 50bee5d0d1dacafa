"""Names of one word in talk: "Anna", "our dog Biscuit", "moved to Lisbon", "a job at Siemens".

A capital inside a sentence names; one that begins a sentence does only where more speaks for it.
What a name is of comes from the words around it, then from closed lists. English; no model.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cairn.graph.person_names import is_given_name, is_person_name
from cairn.graph.prose import ACTION_VERBS, COMMON_WORDS, NOISE_STARTS, TIME_WORDS, WORD, is_in_code
from cairn.kernel.text.words import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator


_PLACES = """
    afghanistan africa alaska albania alberta aleppo alexandria algeria algiers alps alsace
    america amsterdam andalusia andes ankara antarctica antwerp arctic argentina arizona
    arkansas armenia asia athens atlanta auckland austin australia austria azerbaijan baghdad
    bahamas bali baltimore bangalore bangkok bangladesh barbados barcelona basel bath bavaria
    beijing beirut belarus belfast belgium belgrade belize bergen berkeley berlin bermuda bern
    bhutan bilbao birmingham bogota bolivia bologna bombay bonn bordeaux bosnia boston
    botswana boulder brasilia bratislava brazil bremen brighton brisbane bristol britain
    brittany brixton broadway brooklyn bruges brussels bucharest budapest buffalo bulgaria
    burgundy burma cairo calgary california cambodia cambridge cameroon canada canberra
    cardiff caribbean cartagena casablanca catalonia charleston charlotte chennai chicago
    chile china cincinnati cleveland cologne colombia colorado connecticut copenhagen cordoba
    cork cornwall corsica crete crimea croatia cuba cyprus czechia d\u00fcsseldorf dakar
    dallas damascus delaware delhi denmark denver detroit dhaka dolomites dortmund dresden
    dubai dublin dubrovnik dundee durban dusseldorf ecuador edinburgh egypt england eritrea
    estonia ethiopia europe everest exeter fiji finland flanders florence florida france
    frankfurt freiburg galway gaza gdansk geneva genoa ghana ghent gibraltar glasgow
    gothenburg granada graz greece greenland grenoble guadalajara guatemala guernsey haifa
    haiti halifax hamburg hanoi hanover harlem havana hawaii heidelberg helsinki himalayas
    holland honduras honolulu houston hungary hyderabad ibiza iceland idaho illinois india
    indiana indianapolis indonesia innsbruck iowa iran iraq ireland israel istanbul italy
    jaipur jakarta jamaica japan jerusalem johannesburg kabul kansas karachi kathmandu kenya
    kerala kiev kilimanjaro kolkata korea kosovo krakow kuwait kyiv kyoto kyushu lagos lahore
    laos lapland lausanne lebanon leeds leipzig liberia libya liechtenstein lille lima
    limerick lisbon lithuania liverpool ljubljana lombardy london louisiana lucerne luxembourg
    lyon macedonia madagascar madeira madrid maine majorca malaga malaysia maldives mali
    mallorca malm\u00f6 malta manchester manhattan manila manitoba marrakech marrakesh
    marseille maryland massachusetts mauritius mecca medellin melbourne memphis mexico miami
    michigan milan milwaukee minneapolis minnesota minsk mississippi missouri moldova monaco
    mongolia montana montenegro monterrey montevideo montpellier montreal morocco moscow
    mozambique mumbai munich myanmar nagoya nairobi namibia nantes naples nashville nebraska
    nepal netherlands nevada newcastle nicaragua nice nicosia nigeria normandy norway
    nottingham nuremberg oakland ohio oklahoma oman ontario oregon orlando osaka oslo ottawa
    oxford pakistan palermo palestine panama paraguay paris patagonia pennsylvania perth peru
    perugia philadelphia philippines phoenix pittsburgh poland portland porto portugal prague
    pretoria provence qatar quebec queens reykjavik rhodes riga romania rome rotterdam russia
    rwanda sacramento salzburg santiago sardinia saskatchewan savannah scandinavia scotland
    seattle senegal seoul serbia seville shanghai sheffield shenzhen siberia sicily siena
    singapore slovakia slovenia sofia somalia spain stockholm strasbourg stuttgart sudan
    sumatra surrey sweden switzerland sydney syria taipei taiwan tallinn tampa tanzania
    tasmania tehran tennessee texas thailand thessaloniki tibet tirana tokyo toledo toronto
    toulouse transylvania trieste tucson tunis tunisia turin turkey tuscany tyrol uganda
    ukraine umbria uruguay utah utrecht valencia vancouver vatican venezuela venice vermont
    verona vienna vietnam vilnius virginia wales warsaw washington waterloo wellington
    winnipeg wisconsin wyoming yemen york yorkshire yosemite z\u00fcrich zagreb zambia
    zanzibar zimbabwe zurich
"""
PLACES = frozenset(_PLACES.split())
"""Casefolded. Given names that are also places (Charlotte, Florence) are a person's to the rules
where the sentence does not say that one is there."""


_KIN = """
    aunt auntie boyfriend brother cousin dad daddy daughter ex father fianc\u00e9 fianc\u00e9e
    fiance fiancee girlfriend godfather godmother grandad granddaughter grandfather grandma
    grandmother grandpa grandson granny husband mom mother mum nephew niece partner sibling
    sister son spouse stepfather stepmother twin uncle wife
"""
_ROLES = """
    accountant assistant baby bandmate boss buddy child classmate client coach colleague
    coworker customer dentist director doctor engineer flatmate friend housemate intern kid kids
    landlady landlord lawyer lead manager mate mentor nanny neighbor neighbour nurse painter
    physio plumber professor roommate student supervisor teacher teammate therapist trainer
    tutor vet
"""
_PETS = """
    bird budgie bulldog bunny canary cat chicken collie cow dog donkey ferret gecko goat
    goldfish hamster hen horse kitten kitty labrador lizard mare parrot pet pets pony poodle pup
    puppies puppy rabbit retriever snake spaniel stallion terrier tortoise turtle
"""
KIN = frozenset(_KIN.split())
"""Who somebody is to a person, so near that "my sister" means one."""

_NO_NAMES = """
    african aha ahh american apparently arab arabic asian aunt auntie australian austrian autumn
    bachelor belgian bible bravo brazilian british bro brother buddhist canadian cantonese
    catholic celtic ceo cfo cheers chinese christian christianity christmas coo croatian cto
    cuban czech dad daddy damn danish diwali diy doc dr dude dutch easter egyptian eh eid
    english especially european fall faq father finally finnish french fyi geez german gmt god
    gosh grandma grandpa granny greek guy guys halloween hanukkah heaven hebrew hell hindi hindu
    hmm honestly hooray hopefully however hr huh hungarian hurray icelandic idk imo indian
    indonesian internet iranian irish islam islamic israeli italian japanese jewish karma kenyan
    korean latin latino lent lgbt lgbtq lol lord luckily madam mandarin maths meanwhile meh
    mexican miss mister mom mommy mother mr mrs ms mum muslim nah nana nice nigerian norse
    norwegian ok omg oops ouch pakistani pc pdf persian peruvian phd phew pilates pm polish
    portuguese pride ps ramadan roman romanian russian sanskrit scandinavian scottish seriously
    sigh sir sister spanish spring summer swahili swedish sweet swiss thai thanksgiving turkish
    tv ugh uh uk ukrainian um un uncle unfortunately urdu us usa utc valentine vietnamese voila
    well wifi winter woohoo wow xmas yay yoga zen zoom
"""
_AMBIGUOUS = """
    amber angel art autumn bath bill bob buffalo charity chase chuck daisy dawn dean drew
    earnest faith frank gene grace grant guy harmony harry heather hope iris ivy jack jasmine
    jay jean jewel joy june lily mark may melody mike misty nice norm olive pat patience pearl
    penny queens ray reading rich rob robin rock rocky rose ruby rusty sandy savannah skip sky
    stew sue summer sunny tanner toledo trinity turkey violet ward will willow york
"""
_NOT_NAMES = frozenset(_NO_NAMES.split())
_ALSO_WORDS = frozenset(_AMBIGUOUS.split())
_DONE_BY_PEOPLE = """
    adores agreed asked called claims emailed enjoys gave hates invited joined keeps knows
    laughed likes lives loves mentioned messaged moved phoned plays prefers promised quit
    recommended said says sent suggested teaches tells texted thinks told wants warned works
    wrote
"""
_RELATED = "|".join(sorted({*_KIN.split(), *_ROLES.split()}, key=len, reverse=True))
_ANIMALS = "|".join(sorted(_PETS.split(), key=len, reverse=True))
_CALLED = r"s?(?:,| is| are| was)?(?: called| named)?,? (?:[A-Z]\w+(?:,| and|,? &) ){0,3}$"
_OWN = r"(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir|[Yy]our|[Tt]he|[Aa]n?|[Tt]wo|[Tt]hree|\w+'s)"
_BEFORE = tuple(
    (type, re.compile(pattern))
    for type, pattern in (
        ("animal", rf"\b{_OWN} (?:\w+ ){{0,3}}(?:{_ANIMALS}){_CALLED}"),
        ("animal", rf"\b(?:{_ANIMALS})\b[^.!?]{{0,30}} (?:named|called) (?:him|her|it|them) $"),
        ("person", rf"\b(?:{_RELATED}){_CALLED}"),
        ("person", r"\b(?:Dr|Mr|Mrs|Ms|Prof|Professor|Uncle|Aunt|Auntie)\.? $"),
        ("person", r"(?:^|[.!?] )(?:Hi|Hey|Hello|Thanks|Thank you|Bye|Sorry|Congrats),? $"),
        (
            "place",
            r"\b(?:liv(?:e|es|ed|ing)|grew up|born|raised|based|stay(?:s|ed|ing)?|holiday(?:s)?"
            r"|vacation|office|flat|apartment|studied|conference|summer|weekend|relatives) in $",
        ),
        (
            "place",
            r"\b(?:mov(?:e|ed|es|ing)(?: back)?|trip|trips|flew|fly|flying|flights?|travel(?:l?ed"
            r"|l?ing|s)?|went|driv(?:e|ing)|drove|trains?|relocat(?:e|ed|ing)|commutes?|back"
            r"|return(?:ed)?) to $",
        ),
        ("place", r"\b(?:road trip|moved|flew|back|train|came) (?:here )?from $"),
        (
            "organisation",
            r"\b(?:work(?:s|ed|ing)?|job|interview(?:ed|s)?|intern(?:s|ed|ing|ship)?|role"
            r"|position|contract|employed|shift|manager|engineer|developer) (?:at|for|with) $",
        ),
        ("organisation", r"\b(?:hired by|founded|CEO of|head of|shares in|stocks? in|sued) $"),
    )
)
_AFTER = tuple(
    (type, re.compile(pattern))
    for type, pattern in (
        ("animal", rf"(?:,| is) {_OWN} (?:\w+ ){{0,3}}(?:{_ANIMALS})\b"),
        ("person", rf"(?:,| is) {_OWN} (?:\w+ ){{0,2}}(?:{_RELATED})\b"),
        ("person", rf"'s (?:{_RELATED})\b"),
        ("person", rf" (?:{'|'.join(_DONE_BY_PEOPLE.split())})\b"),
        ("animal", r" (?:barked|purred|barks|purrs|meows)\b"),
    )
)
_AROUND = 60  # characters looked at before and after a name
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\u2026\n\u2022>\"\u201c(\[*-]|[^\w\s,'\u2019&/])\s*$")
_SHORTEST_NAME = 2
_ACRONYM = range(3, 6)
_SHOUTED = 3  # capital words from which a text is set in capitals
_POSSESSIVE = re.compile("['\u2019]s?$")


def find_single_names(text: str) -> Iterator[tuple[int, int, str, str | None]]:
    """Yield (start, end, name, type) of names of one word in order; type None where unclear.

    A possessive 's is no part of a name. O(characters) for any input.
    """
    shouted = sum(word.group().isupper() and len(word.group()) > 1 for word in WORD.finditer(text))
    inside: set[str] = set()
    waiting: list[tuple[int, int, str]] = []
    for word in WORD.finditer(text):
        name = _POSSESSIVE.sub("", word.group())
        if not _may_name(name, shouted=shouted > _SHOUTED) or is_in_code(text, *word.span()):
            continue
        if word.start() == 0 and text[word.end() : word.end() + 1] == ":":
            continue  # who speaks, and of every line
        if not _SENTENCE_START.search(text[max(0, word.start() - 3) : word.start()]):
            inside.add(name)
        waiting.append((word.start(), word.start() + len(name), name))
    for start, end, name in waiting:
        type = _type_around(text, start, end) or _listed_type(name)
        begins = bool(_SENTENCE_START.search(text[max(0, start - 3) : start]))
        if not begins or name in inside or _speaks_for_itself(text, end, name, type):
            yield start, end, name, type


def _may_name(name: str, *, shouted: bool) -> bool:
    low = name.casefold()
    if len(name) < _SHORTEST_NAME or not name[0].isupper() or not name[-1].isalpha():
        return False
    if low in _NOT_NAMES or low in COMMON_WORDS or low in TIME_WORDS or low in NOISE_STARTS:
        return False
    if low in STOP_WORDS or low in ACTION_VERBS or "'" in name or "\u2019" in name:
        return False
    if name.isupper():
        return len(name) in _ACRONYM and not shouted
    return name[1:].islower() or _is_inner_capital(name)


def _is_inner_capital(name: str) -> bool:
    """Return whether a name has capitals inside as McKenzie and PayPal have, or a hyphen."""
    return name[1:].replace("-", "").isalpha() and not name[1:].isupper()


def _type_around(text: str, start: int, end: int) -> str | None:
    before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    for type, pattern in _BEFORE:
        if pattern.search(before):
            return type
    return next((type for type, pattern in _AFTER if pattern.match(after)), None)


def _listed_type(name: str) -> str | None:
    low = name.casefold()
    if is_given_name(name) and low not in PLACES:
        return "person"
    return "place" if low in PLACES else None


def _speaks_for_itself(text: str, end: int, name: str, type: str | None) -> bool:
    """Return whether a word that begins a sentence is a name all the same."""
    if type is None or name.casefold() in _ALSO_WORDS:
        return any(pattern.match(text[end : end + _AROUND]) for _, pattern in _AFTER)
    return True


_SPOKEN = re.compile(r"([^\W\d_][\w.'\u2019 -]{1,60}): ")
_RELATED_TO = re.compile(
    rf"(?<!\w, )(?<!\w is )\b(?P<whose>[Mm]y|[Oo]ur|[A-Z][\w-]+'s) (?:\w+er |little |big |late )?"
    rf"(?P<relation>{'|'.join(sorted(KIN, key=len, reverse=True))})\b(?!,? [A-Z]|'s name)"
)


def speaker_of(text: str) -> str | None:
    """Return the name that a line of talk begins with ("Anna: hello"); None for any other text."""
    spoken = _SPOKEN.match(text)
    if spoken is None or not (is_given_name(spoken[1]) or is_person_name(spoken[1])):
        return None
    return spoken[1]


def find_kin(text: str, speaker: str | None) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, name) of unnamed kin: "my sister" by Anna is "Anna's sister".

    Without a speaker only those of somebody named.
    """
    for match in _RELATED_TO.finditer(text):
        whose = match["whose"]
        owner = speaker if whose.casefold() in {"my", "our"} else whose.removesuffix("'s")
        if owner:
            yield match.start(), match.end(), f"{owner}'s {match['relation']}"
