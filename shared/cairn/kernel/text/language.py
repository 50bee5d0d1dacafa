"""Which language a message is in, by its script and its commonest words. A guess, not a parser.

Rules and no library: the maintained ones carry models of megabytes for what is one hint here.
"""

# ruff: noqa: RUF001 - letters of other alphabets are meant

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache

from cairn.kernel.text.words import words

SAMPLE = 1000  # characters looked at

_SCRIPTS: tuple[tuple[str, str], ...] = (
    ("ja", r"[\u3040-\u30ff]"),
    ("ko", r"[\uac00-\ud7af\u1100-\u11ff]"),
    ("zh", r"[\u3400-\u9fff]"),
    ("th", r"[\u0e00-\u0e7f]"),
    ("he", r"[\u0590-\u05ff]"),
    ("el", r"[\u0370-\u03ff]"),
    ("hy", r"[\u0530-\u058f]"),
    ("ka", r"[\u10a0-\u10ff]"),
    ("hi", r"[\u0900-\u097f]"),
    ("bn", r"[\u0980-\u09ff]"),
    ("pa", r"[\u0a00-\u0a7f]"),
    ("gu", r"[\u0a80-\u0aff]"),
    ("ta", r"[\u0b80-\u0bff]"),
    ("te", r"[\u0c00-\u0c7f]"),
    ("kn", r"[\u0c80-\u0cff]"),
    ("ml", r"[\u0d00-\u0d7f]"),
    ("km", r"[\u1780-\u17ff]"),
    ("am", r"[\u1200-\u137f]"),
)
_ARABIC = re.compile(r"[\u0600-\u06ff]")
_PERSIAN = re.compile(r"[\u067e\u0686\u0698\u06af\u06cc]")
_URDU = re.compile(r"[\u0679\u0688\u0691\u06d2\u06ba]")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_UKRAINIAN = re.compile(r"[\u0456\u0457\u0454\u0491]", re.IGNORECASE)
_BULGARIAN = frozenset(
    [
        "са",
        "на",
        "се",
        "от",
        "за",
        "че",
        "какво",
        "къде",
        "кога",
        "защо",
        "кой",
        "как",
        "си",
        "бях",
        "беше",
    ]
)

_WORDS: Mapping[str, str] = {
    "en": "the is are was were what when where who why how do does did have has and of to in for "
    "on with my your it this that can could should would not be been i you we they please about a "
    "hello hi thanks thank bye no not but or so if as at by from then there here again still only "
    "just also any some all more up out our us me am get got since after before don't doesn't "
    "didn't can't cannot won't i'm it's",
    "de": "der die das und ist sind war was wann wo wer warum wie hat haben nicht ein eine einen "
    "mit für auf von zu im den dem ich du wir sie es bitte über kann können wurde hallo danke "
    "guten kein keine keinen noch schon auch aber oder wenn dass weil seit nach bei bis mehr nur "
    "wieder mein meine meinen mich mir sich unsere unser ihr ihre um an am als so zum zur",
    "fr": "le la les et est sont était que quoi quand où qui pourquoi comment avec pour dans sur "
    "des du un une je tu nous vous ils elle ne pas ce cette mon ma mes a été au aux bonjour "
    "merci bonsoir salut plus mais donc ou si très depuis c'est j'ai n'ai qu'il d'un d'une "
    "on se son sa ses nos notre votre vos aussi bien",
    "es": "el la los las y es son era qué que cuándo dónde quién por cómo con para en de del un "
    "una yo tú nosotros no se mi mis su está están fue ha lo al porque hola gracias buenos buenas "
    "ni sin sobre desde hasta muy más pero también ya hay he hemos puedo me le les este esta nos "
    "nuestro nuestra otro otra ayer hoy usted ustedes",
    "it": "il lo la i gli le e è sono era che cosa quando dove chi perché come con per in di del "
    "della un una io tu noi non si mi mio mia ha hanno stato al nel ciao grazie",
    "pt": "o a os as e é são era que quando onde quem por como com para em de do da dos das um uma "
    "eu você nós não se meu minha está foi ao no na porque olá obrigado obrigada",
    "nl": "de het een en is zijn was wat wanneer waar wie waarom hoe met voor op van te in ik jij "
    "wij niet mijn dit dat deze heeft hebben kan kunnen werd aan hallo bedankt dank",
    "sv": "och är var vad när vem varför hur med för på av till i en ett jag du vi inte min den "
    "det som har hade hej tack kan från",
    "da": "og er var hvad hvornår hvor hvem hvorfor hvordan med for på af til i en et jeg du vi "
    "ikke min den det som har havde hej tak kan fra",
    "no": "og er var hva når hvor hvem hvorfor hvordan med for på av til i en et jeg du vi ikke "
    "min den det som har hadde hei takk kan fra",
    "fi": "ja on oli mitä mikä milloin missä kuka miksi miten kanssa minä sinä me ei minun se tämä "
    "että ovat mutta hei kiitos",
    "pl": "i jest są był co kiedy gdzie kto dlaczego jak z dla na od do w ja ty my nie mój ten to "
    "się czy który przez cześć dziękuję",
    "cs": "a je jsou byl co kdy kde kdo proč jak s pro na od do v já ty my ne můj ten to se který "
    "jsem ahoj děkuji",
    "tr": "ve bir bu ne neden nerede kim nasıl zaman ile için de da mi mı ben sen biz değil var "
    "yok olan oldu merhaba teşekkürler",
    "hu": "a az és van volt mi mikor hol ki miért hogyan egy nem ez azt hogy én te szia köszönöm",
    "ro": "și este sunt era ce când unde cine de cum cu pentru în la un o eu tu noi nu meu că "
    "din bună mulțumesc",
    "id": "dan adalah yang apa kapan dimana siapa mengapa bagaimana dengan untuk di ke dari saya "
    "kamu kami tidak ini itu halo terima kasih",
    "vi": "và là của gì khi nào ở đâu ai tại sao thế với cho tôi bạn không này đó có được xin "
    "chào cảm ơn",
}


def language_of(message: str) -> str | None:
    """Return the ISO 639-1 code of the likeliest language, None when nothing speaks for any.

    The commonest script decides where it belongs to one language; Latin texts are compared with
    each language's commonest words, the most of them winning, the earlier listed on a draw. A word
    that several languages have speaks for each of them less: a first "No" decides nothing. Where
    as many words are English, it is English: "My son" is not French.
    """
    sample = message[:SAMPLE]
    return _by_script(sample) or _by_words(sample)


def common_words(language: str | None) -> frozenset[str]:
    """Return the commonest words of a language, casefolded; none of one without a list."""
    return _common().get(language or "", frozenset())


def _by_script(sample: str) -> str | None:
    letters = sum(1 for item in sample if item.isalpha())
    if not letters:
        return None
    counts = {code: len(regex.findall(sample)) for code, regex in _scripts()}
    if counts["ja"] and counts["ja"] + counts["zh"] > letters / 3:
        return "ja"  # kana: Japanese whatever the share of Chinese characters
    code = max(counts, key=counts.__getitem__)
    if counts[code] > letters / 3:
        return code
    if len(_ARABIC.findall(sample)) > letters / 3:
        return "ur" if _URDU.search(sample) else "fa" if _PERSIAN.search(sample) else "ar"
    if len(_CYRILLIC.findall(sample)) > letters / 3:
        return _cyrillic(sample)
    return None


def _cyrillic(sample: str) -> str:
    if _UKRAINIAN.search(sample):
        return "uk"
    return "bg" if len(_BULGARIAN & set(words(sample))) > 1 else "ru"


def _by_words(sample: str) -> str | None:
    written = Counter(words(sample))
    weights = _weights()
    having = {code: [word for word in some if word in written] for code, some in _common().items()}
    counts = {
        code: sum(written[word] * weights[word] for word in sorted(matched))
        for code, matched in having.items()
    }
    code = max(counts, key=counts.__getitem__)
    if not counts[code]:
        return None
    return "en" if len(having["en"]) >= len(having[code]) else code


@cache
def _scripts() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((code, re.compile(characters)) for code, characters in _SCRIPTS)


@cache
def _common() -> Mapping[str, frozenset[str]]:
    return {code: frozenset(listed.split()) for code, listed in _WORDS.items()}


@cache
def _weights() -> Mapping[str, float]:
    """Return what a word speaks for a language with: one, shared by the languages that have it."""
    having = Counter(word for listed in _common().values() for word in listed)
    return {word: 1 / languages for word, languages in having.items()}
