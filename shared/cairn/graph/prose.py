"""Prose apart from names: closed lists, phrases that may be names, junk among them, keywords.

Not the stop words of search (`text.words`): these also hold common verbs and adverbs.
"""

import math
import re
from collections import Counter
from collections.abc import Container, Iterator
from itertools import pairwise

from cairn.graph.entity_names import MAX_NAME_CHARS, name_key
from cairn.kernel.text.words import QUESTION_WORDS, STOP_WORDS, words

_ENGLISH = """
    a about actually after again all almost already also always am an and another any anything are
    around as at away back bad be because been before being best better big both but by came can
    come could day did do does doing done down each easy else enough even ever every everything far
    feel few fine first for found from gave get gets give go goes going gone good got great had hard
    has have having he hello her here hers hey hi him his how however i if important in instead into
    is it its just keep kind know last least let like little long look lot made make makes many
    maybe me more most much must my near need never new next nice no none not nothing now of off
    often oh ok okay on once one only or other our out over own please put quite rather really right
    said same saw say says see seem seems she should since so some something soon sorry still such
    sure take tell than thank thanks that the their them then there these they thing things think
    this those though through time to today together told too took try two under until up us use
    used using very want was way we well went were what when where which while who whole whom whose
    why will with without wonderful would yeah yes yet you your yours
"""
_FRENCH = """
    alors après assez au aucun aussi autre autres aux avant avec avoir beaucoup bien bon bonjour
    bonne c ce ceci cela celle ces cet cette chaque chez ci comme comment d dans de depuis des donc
    du elle elles en encore entre est et été être eux faire fait faut ici il ils j je jour jusqu l
    la le les leur leurs lors lui m ma mais me même merci mes moi moins mon ne ni non nos notre nous
    nouveau nouvelle où on ont ou oui par parce pas peu peut plus plutôt pour pourquoi qu quand que
    quel quelle qui quoi rien s sa sans se sera ses si son sont sous sur t ta te tes toi ton
    toujours tous tout toute toutes très trop tu un une vers voici voilà vos votre vous y
"""
_VERBS = """
    add added adding adjust adjusted allow allowed alter analyze analyzed applied apply archived
    build building built call called change changed changing check checked clean cleaned close
    closed commit committed configure configured convert converted create created creating debug
    debugged delete deleted deploy deployed deploying disable disabled discuss discussed document
    documented drop dropped enable enabled ensure ensured execute executed extract extracted fail
    failed fetch fetched finish finished fix fixed fixing generate generated handle handled
    implement implemented implementing import imported improve improved insert inserted install
    installed integrate integrated introduce introduced investigate investigated launch launched
    load loaded merge merged migrate migrated modify modified move moved open opened optimize
    optimized patch patched prepare prepared publish published pull pulled push pushed refactor
    refactored release released remove removed removing rename renamed replace replaced report
    reported reset resolve resolved restart restarted restore restored return returned revert
    reverted review reviewed rewrote run running schedule scheduled select send sent set ship
    shipped show showed start started stop stopped store stored submit submitted switch switched
    sync synced test tested testing truncate update updated updating upgrade upgraded upload
    uploaded use used uses using validate validated verified verify write wrote ajouté
    ajouter corrigé corriger créé créer déplacé déployé modifié supprimé supprimer mis mettre
    vérifié vérifier
"""
_NOISE = """
    a all also an and another any are as at because before both but can could dear did do does each
    either even every few first for from had has have he hello her here hey hi his how however i if
    in is it its last like many maybe more most my next no not now of oh ok okay on once one only or
    other our please several she since so some such sure thanks that the their then there these they
    this those though to two until very was we well were what when where which while who why will
    with would yes yet you your au aux avec bonjour ce ces cet cette chaque comme dans de des donc
    du elle en et il ils je la le les leur lors mais merci mes mon nos notre nous on ou par pour
    quand que qui sa selon ses si son sur tous tout toute un une vos votre vous wow woah whoa bye
    goodbye yep yup nope aww aw awesome congrats congratulations absolutely glad anytime yo
    definitely remember during totally exactly cool amazing haha lol omg hmm sounds nice wait agreed
    besides btw fyi speaking great good right anyway actually today
"""
_TIME = """
    monday tuesday wednesday thursday friday saturday sunday january february march april may
    june july august september october november december mon tue tues wed thu thur thurs fri sat
    sun jan feb mar apr jun jul aug sep sept oct nov dec today tomorrow yesterday tonight
    morning afternoon evening week month year quarter weekend daily weekly monthly yearly q1 q2
    q3 q4 lundi mardi mercredi jeudi vendredi samedi dimanche janvier février mars avril mai
    juin juillet août septembre octobre novembre décembre aujourd'hui demain hier semaine mois
    année mondays tuesdays wednesdays thursdays fridays saturdays sundays weekends weekdays
    mornings afternoons evenings nights
"""
_STYLE = """
    align auto background block border bottom box center color colour content display family fill
    flex flow font gap grid height hover index inline items justify left letter line margin max min
    none opacity outline overflow padding position radius right row shadow size solid space spacing
    stroke style text top transform transition weight width wrap
"""
_TAILS = """
    array attribute bug button changes check class code column component config configuration count
    data date detail details error errors event feature features field file files fix fixes flag
    folder form format function id ids info input issue issues item items key label layout length
    level line link list log logs menu message method mode model module name number object option
    options output page pages parameter path prop property query record request response result
    results row rows section setting settings size state status step steps string table tag task
    tasks test tests text timestamp title type types update updates url value values variable
    version view views warning
"""

COMMON_WORDS = frozenset(_ENGLISH.split()) | frozenset(_FRENCH.split())
"""Words of running text; a name seldom has many of them."""

ACTION_VERBS = frozenset(_VERBS.split())
"""A phrase that begins so reports what was done."""

NOISE_STARTS = frozenset(_NOISE.split())
"""Determiners, pronouns and connectives that begin a sentence and no name."""

TIME_WORDS = frozenset(_TIME.split())
"""Days, months and spans; a phrase with one says when."""

STYLE_WORDS = frozenset(_STYLE.split())
"""The vocabulary of style sheets; a phrase made of nothing else is a property."""

GENERIC_TAILS = frozenset(_TAILS.split())
"""Nouns that end the name of a thing in a program, not of a thing in the world."""


MIN_QUOTED, MAX_QUOTED = 3, 60
_LONGEST_QUOTE = 300  # a mark without its partner this near is none
_MAX_PHRASE_WORDS = 6
_LONGEST_KNOWN = 5  # words
_SHORTEST_KNOWN = 3  # characters

_QUOTED = re.compile(
    rf'(?<!\w)"([^"\n]{{0,{_LONGEST_QUOTE}}}+)"(?!\w)'
    rf"|`{{1,3}}+([^`\n]{{1,{_LONGEST_QUOTE}}}+)`{{1,3}}+"
    rf"|\u201c([^\u201c\u201d\n]{{0,{_LONGEST_QUOTE}}}+)\u201d"
    rf"|\u201e([^\u201e\u201c\n]{{0,{_LONGEST_QUOTE}}}+)\u201c"
    rf"|\u00ab\s?([^\u00ab\u00bb\n]{{0,{_LONGEST_QUOTE}}}+)\u00bb"
    rf"|(?<!\w)'([^'\n]{{3,{_LONGEST_QUOTE}}}+)'(?!\w)"
)
WORD = re.compile(r"[^\W_](?>(?:[^\W_]|['\u2019&-](?=[^\W_]))*)")
_CONNECTORS = frozenset({"of", "de", "du", "des", "del", "la", "le", "di", "da", "van", "von"})
_APOSTROPHE = re.compile("['\u2019]")
_CODE_BEFORE, _CODE_AFTER = frozenset("</\\{=.@#$_"), frozenset(">/\\}=(_")


def find_quoted(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, name) of quoted and backticked texts of 3 to 60 characters."""
    for match in _QUOTED.finditer(text):
        inner = (match.group(match.lastindex or 0) or "").strip()
        if MIN_QUOTED <= len(inner) <= MAX_QUOTED:
            yield match.start(), match.end(), inner.rstrip(",")


def find_phrases(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, name) of two to six capitalised words in a row, in any script with cases.

    Small connecting words may stand between two capitalised ones (Bank of Montreal, Rio de
    Janeiro). Leading determiners and pronouns are left out, and a possessive 's at the end.
    """
    for run in _runs(text):
        while run and not _is_capitalised(run[-1].group()):
            run.pop()
        first = 0
        while first < len(run) and _begins_no_name(run[first].group()):
            first += 1
        if 2 <= len(run) - first <= _MAX_PHRASE_WORDS:
            start, end = run[first].start(), run[-1].end()
            if not is_in_code(text, start, end):
                yield start, end, _without_possessive(text[start:end])


def _runs(text: str) -> Iterator[list[re.Match[str]]]:
    """Yield words in a row that are capitalised or connect capitalised ones."""
    run: list[re.Match[str]] = []
    for word in WORD.finditer(text):
        if run and not _follows(text, run[-1], word):
            yield run
            run = []
        if _is_capitalised(word.group()) or (run and word.group() in _CONNECTORS):
            run.append(word)
        elif run:
            yield run
            run = []
    yield run


def find_known(text: str, known_names: Container[str]) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, key) of words in a row whose `name_key` is known; the longest wins."""
    words = list(WORD.finditer(text))
    index = 0
    while index < len(words):
        count, key = _longest_known(text, words[index : index + _LONGEST_KNOWN], known_names)
        if count:
            yield words[index].start(), words[index + count - 1].end(), key
        index += max(1, count)


def _longest_known(
    text: str, words: list[re.Match[str]], known_names: Container[str]
) -> tuple[int, str]:
    start = words[0].start()
    for count in range(len(words), 0, -1):
        end = words[count - 1].end()
        if _SHORTEST_KNOWN <= end - start <= MAX_NAME_CHARS:
            key = name_key(text[start:end])
            if key in known_names:
                return count, key
    return 0, ""


def _follows(text: str, match: re.Match[str], other: re.Match[str]) -> bool:
    between = text[match.end() : other.start()]
    initial = between == ". " and match.end() - match.start() == 1 and match.group().isupper()
    return (initial or between in {" ", "\u00a0"}) and len(other.group()) < MAX_NAME_CHARS


def _is_capitalised(word: str) -> bool:
    return word[0].isupper() or word[0].istitle()


def _begins_no_name(word: str) -> bool:
    first = _APOSTROPHE.split(word.casefold())[0]  # "it" of "it's"
    return first in NOISE_STARTS or word in _CONNECTORS


def is_in_code(text: str, start: int, end: int) -> bool:
    """Return whether what stands beside a stretch of text makes it code or markup."""
    return text[max(0, start - 1) : start] in _CODE_BEFORE or text[end : end + 1] in _CODE_AFTER


def _without_possessive(name: str) -> str:
    return name.removesuffix("'s").removesuffix("\u2019s")


MAX_COMMON_SHARE = 0.4
"""A phrase with a larger share of common words is prose."""

MAX_NAME_WORDS = 7

_CODE = re.compile(r"[/\\<>{}\[\]()=;|$#*^~%@+_]|::|->|--|\.\.")
_CAMEL = re.compile(r"\b[a-z]+[A-Z]")
_FILE = re.compile(r"\.[a-z][a-z0-9]{0,4}$")
_PLAIN_WORD = re.compile(r"[^\W_](?>(?:[^\W_]|['\u2019-](?=[^\W_]))*)")
_SHOUTED_WORD = 6


def is_junk(name: str) -> bool:
    """Return whether a quoted or capitalised text is not worth to be an entity."""
    if _CODE.search(name) or _CAMEL.search(name) or _FILE.search(name):
        return True
    words = [word.replace("\u2019", "'") for word in _PLAIN_WORD.findall(name)]
    if not words or len(words) > MAX_NAME_WORDS or not any(item.isalpha() for item in name):
        return True
    if name[-1] in ".!?,:" or _is_shouted(words):
        return True
    return _says_no_name([word.casefold() for word in words])


def is_speech(text: str) -> bool:
    """Return whether a quoted text is somebody's words: no code and no title."""
    return not _CODE.search(text) and any(word[0].islower() for word in text.split())


def _says_no_name(words: list[str]) -> bool:
    if words[0] in ACTION_VERBS or words[0] in NOISE_STARTS:
        return True
    if any(word.removesuffix("'s") in TIME_WORDS for word in words):
        return True
    if words[-1] in GENERIC_TAILS or all(word in STYLE_WORDS for word in words):
        return True
    return is_prose(words)


def is_prose(words: list[str]) -> bool:
    """Return whether more than `MAX_COMMON_SHARE` of casefolded words are common ones.

    A contraction counts as its first part: "don't" as "don", "l'eau" as "l".
    """
    common = sum(word in COMMON_WORDS or word.split("'")[0] in COMMON_WORDS for word in words)
    return common > MAX_COMMON_SHARE * len(words)


def _is_shouted(words: list[str]) -> bool:
    """Return whether a phrase is set in capitals; short acronyms beside each other are not."""
    if not all(word.isupper() for word in words):
        return False
    return len(words) > 3 or (len(words) > 1 and any(len(word) >= _SHOUTED_WORD for word in words))


MAX_TEXT_CHARS = 100_000
"""A longer text is read this far."""

_SHORTEST, _LONGEST = 3, 40  # characters
_BREAK = re.compile(r"[^\w\s'\u2019-]+|\n+|\s-+\s")


def keywords(text: str, *, limit: int = 8) -> tuple[str, ...]:
    """Return the `limit` most telling words and two-word phrases, casefolded, the best first.

    A word counts its occurrences times 1 + ln(length / 3); a phrase, when it occurs at least twice,
    times its words' mean and 1.5. A word that occurs only within a kept phrase is left out. Equal
    ones keep the order of the text.
    """
    singles: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for run in _content_runs(text[:MAX_TEXT_CHARS]):
        singles.update(run)
        pairs.update(pairwise(run))
    scores: dict[str, float] = {}
    repeated = {pair: count for pair, count in pairs.items() if count > 1 and len({*pair}) > 1}
    for (first, other), count in repeated.items():
        scores[f"{first} {other}"] = 1.5 * count * (_weight(first) + _weight(other)) / 2
    within = {word: count for pair, count in repeated.items() for word in pair}
    for word, count in singles.items():
        if within.get(word) != count:
            scores[word] = count * _weight(word)
    return tuple(sorted(scores, key=lambda score: -scores[score])[:limit])


def _weight(word: str) -> float:
    return 1 + math.log(len(word) / _SHORTEST)


def _content_runs(text: str) -> Iterator[list[str]]:
    """Yield content words that follow each other with nothing but space between."""
    for part in _BREAK.split(text):
        run: list[str] = []
        for word in words(part):
            if _tells(word):
                run.append(word)
            elif run:
                yield run
                run = []
        yield run


def _tells(word: str) -> bool:
    if not _SHORTEST <= len(word) <= _LONGEST or word.isdigit():
        return False
    return word not in STOP_WORDS and word not in QUESTION_WORDS and word not in COMMON_WORDS
