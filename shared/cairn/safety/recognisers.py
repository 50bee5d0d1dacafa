"""How personal values are recognised: patterns, check digits, and the words that announce them.

Facts about the formats come from ISO 13616 (IBAN), ISO/IEC 7812 (cards), the United States' SSA
(numbers never issued), NANP and E.164 (telephones), RFC 5321 and RFC 4291, and the offices that
give numbers to persons in Europe; which kinds matter to whom from 45 CFR 164.514(b). The choice of
rules follows the recognisers of Microsoft's Presidio (MIT); none of its code or models is here
(docs/decisions/0019). Not a guarantee: docs/operate/safety.md says what each one does not see.

Every repeat is bounded or possessive and every pattern begins at a place that few texts have many
of, so the time is linear in the text.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from cairn.safety.profiles import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


_LENGTHS = """
    AD:24 AE:23 AL:28 AT:20 AZ:28 BA:20 BE:16 BG:22 BH:22 BI:27 BR:29 BY:28 CH:21 CR:22 CY:28
    CZ:24 DE:22 DJ:27 DK:18 DO:28 EE:20 EG:29 ES:24 FI:18 FK:18 FO:18 FR:27 GB:22 GE:22 GI:23
    GL:18 GR:27 GT:28 HR:21 HU:28 IE:22 IL:23 IQ:23 IS:26 IT:27 JO:30 KW:30 KZ:20 LB:28 LC:32
    LI:21 LT:20 LU:20 LV:21 LY:25 MC:27 MD:24 ME:22 MK:19 MN:20 MR:27 MT:31 MU:30 NI:28 NL:18
    NO:15 OM:23 PK:24 PL:28 PS:29 PT:25 QA:29 RO:24 RS:22 RU:33 SA:24 SC:31 SD:18 SE:24 SI:19
    SK:24 SM:27 SO:23 ST:25 SV:28 TL:23 TN:24 TR:26 UA:29 VA:22 VG:24 XK:20
"""
_STATES = """
    AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM
    NY NC ND OH OK OR PA PR RI SC SD TN TX UT VT VA WA WV WI WY
"""
_NO_NAMES = """
    all team support everyone everybody there folks sir madam sirs madams admin administrator
    helpdesk desk service services it you guys friends colleagues customer customers user users
    unknown none null nobody someone anonymous true false yes no n/a na tbd test string number
    colleague staff office sales billing security system server the this that please re fw fwd
    it's we our your my noreply reply info mail web contact bot alerts news damen herren
    kollegen zusammen alle kunde kundin kunden cliente clientes equipo client clients
    équipe à tous todos mr mrs ms dr prof herr herrn frau sr sra señor señora monsieur madame
"""

SIGN_OFFS = (
    r"(?:with )?(?:(?:best|kind|warm|many)(?:est)? )?(?:regards|wishes)|sincerely|cheers"
    r"|yours(?: truly| sincerely| faithfully)?"
    r"|(?:mit freundlichen|viele|beste|liebe) gr(?:\u00fc|ue)(?:\u00df|ss)en?"
    r"|(?:bien )?cordialement|(?:un )?saludos?(?: cordial(?:es)?)?|atentamente|cordiali saluti"
)
"""What stands above the name at the end of a letter, in small letters."""

IBAN_LENGTHS = {pair[:2]: int(pair[3:]) for pair in _LENGTHS.split()}
"""Characters of an IBAN by country: SWIFT's registry of ISO 13616."""

STATES = frozenset(_STATES.split())
"""Of the United States, as they stand before a ZIP code."""

NO_NAMES = frozenset(_NO_NAMES.split())
"""Words where a name would stand, that are none."""

MONTHS = (
    "jan|feb|f\u00e9v|mar|m\u00e4r|mrz|apr|avr|abr|may|mai|mag|jun|jui|giu|jul|lug|aug|ao\u00fb|ago"
    "|sep|set|oct|okt|ott|out|nov|dec|d\u00e9c|dez|dic|ene|gen"
)
"""How months begin, in the languages dates are read in."""


Span = tuple[int, int, Kind]
"""Where a value stands: [start, end) and what it is."""

MAX_LOCAL = 64
MAX_OLDEST = 89

_I = re.IGNORECASE
_DATE = (
    r"(?:[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}"
    rf"|[0-9]{{1,2}}(?:st|nd|rd|th|er)?[ .-]{{1,2}}(?:(?:of|de) )?(?i:{MONTHS})[^\W\d_]{{0,8}}"
    r"(?:[ .,-]{1,2}| del? )[0-9]{2,4}"
    rf"|(?i:{MONTHS})[^\W\d_]{{0,8}}\.? [0-9]{{1,2}}(?:st|nd|rd|th)?,? [0-9]{{4}})"
    r"(?![0-9])"
)
_WORD = (
    r"[A-Z\u00c0-\u00d6\u00d8-\u00de\u0391-\u03a9\u0410-\u042f][^\W\d_]{0,30}"
    r"(?:['\u2019-][^\W\d_]{1,30}){0,2}"
)
_PARTICLE = r"(?:van|von|vom|der|den|de|del|della|di|da|dos|la|le|du|bin|ibn|al|el|zu|zur|ten|ter)"
_NAME = rf"{_WORD}(?:[ \t]{{1,2}}(?:{_PARTICLE}[ \t]{{1,2}}){{0,2}}(?:{_WORD}|[A-Z]\.)){{0,3}}"
_FULL = rf"{_WORD}(?:[ \t]{{1,2}}(?:{_PARTICLE}[ \t]{{1,2}}){{0,2}}(?:{_WORD}|[A-Z]\.)){{1,3}}"
_ASSIGN = (
    r"[\"']?[ \t-]{0,4}(?:(?:no|nr|number|nummer|num|id|#|n[\u00b0\u00ba])\b\.?[ \t]{0,2})?"
    r"[\"']?[ \t]{0,4}(?:[:=#]|(?:is|was|ist|lautet|est(?: le)?|es(?: el)?|è)\b|:=|=>)?"
    r"[ \t]{0,4}[\"']?"
)
_ASSIGNED = r"[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?"
_CODE = r"(?=[A-Za-z-]{0,19}[0-9])[A-Za-z0-9](?:[A-Za-z0-9-]{2,18})[A-Za-z0-9](?![A-Za-z0-9])"
_START = r"(?<![^\W_])"
_TITLE = (
    r"(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Herr|Herrn|Frau|Mme|Mlle|M(?=\.)|Monsieur|Madame|Sra?|Signora?"
    r"|Se\u00f1ora?)\.?[ \t]{1,2}(?:med\.[ \t]{1,2})?"
)


@dataclass(frozen=True, slots=True)
class Recogniser:
    """Finds one kind. The group `v` of its pattern is the value; `accepts` has the last word."""

    kind: Kind
    source: str
    accepts: Callable[[re.Match[str]], bool] | None = None

    def find(self, text: str) -> Iterator[Span]:
        """Return the spans of this kind."""
        for match in _compiled(self.source).finditer(text):
            if self.accepts is None or self.accepts(match):
                yield *match.span("v"), self.kind


def spans(text: str, kinds: frozenset[Kind]) -> list[Span]:
    """Return every span of `kinds` in `text`, overlapping ones too."""
    results = [
        span
        for recogniser in RECOGNISERS
        if recogniser.kind in kinds
        for span in recogniser.find(text)
    ]
    for kind, finder in FINDERS.items():
        if kind in kinds:
            results += [(*place, kind) for place in finder(text)]
    return results


def _emails(text: str) -> Iterator[tuple[int, int]]:
    """Yield addresses: from each @ on, and up to 64 characters back."""
    for match in _DOMAIN.finditer(text):
        start = match.start()
        first = max(0, start - MAX_LOCAL)
        while start > first and (text[start - 1].isalnum() or text[start - 1] in _LOCAL):
            start -= 1
        while start < match.start() and text[start] in ".'":
            start += 1
        if start < match.start():
            yield start, match.end()


_LOCAL = frozenset("!#$%&'*+-/=?^_`{|}~.")
_DOMAIN = re.compile(
    r"@(?:[^\W_](?:[^\W_]|-){0,62}\.){1,8}(?:xn--[A-Za-z0-9-]{2,59}|[^\W\d_]{2,24})(?![^\W_])"
)


def _ibans(text: str) -> Iterator[tuple[int, int]]:
    """Yield account numbers whose country, length and check digits agree."""
    for match in _IBAN_START.finditer(text):
        length = IBAN_LENGTHS.get(match[0][:2].upper())
        end = _end_of(text, match.start(), length) if length else None
        if end is not None and _mod_97(text[match.start() : end]) == 1:
            yield match.start(), end


_IBAN_START = re.compile(r"(?<![^\W_])[A-Z]{2}[0-9]{2}(?=[ -]?[A-Z0-9])", _I)


def _end_of(text: str, start: int, length: int) -> int | None:
    """Return where `length` letters and digits from `start` end, single blanks between them."""
    count, place = 0, start
    while count < length and place < len(text):
        if text[place].isascii() and text[place].isalnum():
            count += 1
        elif text[place] not in " -" or not text[place + 1 : place + 2].isalnum():
            return None
        place += 1
    alone = place >= len(text) or not text[place].isalnum()
    return place if count == length and alone else None


def _mod_97(text: str) -> int:
    plain = "".join(filter(str.isalnum, text)).upper()
    return int("".join(str(int(char, 36)) for char in plain[4:] + plain[:4])) % 97


def _cards(text: str) -> Iterator[tuple[int, int]]:
    """Yield card numbers: the longest run of 13 to 19 digits from its start that checks."""
    for match in _CARD.finditer(text):
        end = _card_end(match[0])
        if end is not None:
            yield match.start(), match.start() + end


_CARD = re.compile(r"(?<![0-9A-Za-z.])(?<![0-9][-])[2-6](?:[ -]?[0-9]){12,18}")


def _card_end(run: str) -> int | None:
    ends = [place + 1 for place, char in enumerate(run) if char.isdigit()]
    for end in reversed(ends[12:]):
        rest = run[end : end + 1]
        if not rest.isdigit() and is_card(run[:end]):
            return end
    return None


def is_card(text: str) -> bool:
    """Return whether digits have a card network's first ones, its length, and Luhn's sum."""
    digits = [int(char) for char in text if char.isdigit()]
    if len(digits) not in _network_lengths("".join(map(str, digits[:4]))):
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(doubled) + sum(digits[::-2])) % 10 == 0


def _network_lengths(first: str) -> range:
    """Return how many digits numbers have that begin so: by ISO/IEC 7812's issuers."""
    if first[:2] in {"34", "37"}:
        return range(15, 16)
    if first[:1] == "4":
        return range(13, 20, 3)
    if "51" <= first[:2] <= "55" or "2221" <= first <= "2720":
        return range(16, 17)
    if first[:2] in {"30", "36", "38", "39"}:
        return range(14, 20)
    return range(16, 20) if first[:1] == "6" or first[:2] in {"35", "50"} else range(0)


def _addresses(text: str) -> Iterator[tuple[int, int]]:
    """Yield IP addresses of versions 4 and 6, those of the machine itself left out."""
    for pattern in (_IP4, _IP6):
        for match in pattern.finditer(text):
            if _is_address(match[0]) and not _is_version(text, match.start()):
                yield match.span()


_IP4 = re.compile(r"(?<![0-9A-Za-z.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![0-9A-Za-z]|\.[0-9])")
_IP6 = re.compile(
    r"(?<![\w:.])(?=[0-9A-Fa-f]{0,4}:[0-9A-Fa-f]{0,4}:)[0-9A-Fa-f:]{2,39}"
    r"(?:(?<=:)(?:[0-9]{1,3}\.){3}[0-9]{1,3})?(?![\w:])"
)


def _is_address(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if address.is_loopback or address.is_unspecified:
        return False
    groups = [group for group in text.split(":") if group]
    return address.version == 4 or len(groups) > 3 or max(map(len, groups)) > 2


def _is_version(text: str, start: int) -> bool:
    return text[max(0, start - 9) : start].casefold().endswith(("version ", "release ", "build "))


def _recogniser(
    kind: Kind, pattern: str, accepts: Callable[[re.Match[str]], bool] | None = None
) -> Recogniser:
    return Recogniser(kind, pattern, accepts)


@cache
def _compiled(source: str) -> re.Pattern[str]:
    """Compile a pattern when it is first tried: a profile needs few of them."""
    return re.compile(source, re.MULTILINE)


def _labelled(kind: Kind, labels: str, value: str) -> Recogniser:
    return _recogniser(kind, rf"{_START}(?i:{labels})(?i:{_ASSIGN})(?P<v>{value})")


def _is_name(match: re.Match[str]) -> bool:
    words = match["v"].split()
    return not any(word.casefold().strip(".") in NO_NAMES for word in words)


def _is_state(match: re.Match[str]) -> bool:
    return match["state"] in STATES


def _national_numbers(text: str) -> Iterator[tuple[int, int]]:
    """Yield numbers of persons whose check digits agree: France's NIR, Spain's DNI and NIE."""
    for match in _NIR.finditer(text):
        digits = "".join(filter(str.isalnum, match[0])).upper()
        number = digits[:13].replace("2A", "19").replace("2B", "18")
        if (int(number) + int(digits[13:])) % 97 == 0:
            yield match.span()
    for match in _DNI.finditer(text):
        number = str("XYZ".find(match["first"])) if match["first"] in "XYZ" else match["first"]
        if _DNI_LETTERS[int(number + match["rest"]) % 23] == match["letter"]:
            yield match.span()


_NIR = re.compile(
    r"(?<![0-9A-Za-z.-])[12][ ]?[0-9]{2}[ ]?[0-9]{2}[ ]?(?:[0-9]{2}|2[AB])[ ]?[0-9]{3}[ ]?[0-9]{3}"
    r"[ /]{0,3}[0-9]{2}(?![0-9A-Za-z-])"
)
_DNI = re.compile(
    r"(?<![0-9A-Za-z.-])(?P<first>[0-9XYZ])(?P<rest>[0-9]{7})[ -]?(?P<letter>[A-Z])(?![0-9A-Za-z-])"
)
_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"


FINDERS: dict[Kind, Callable[[str], Iterator[tuple[int, int]]]] = {
    Kind.EMAIL: _emails,
    Kind.IBAN: _ibans,
    Kind.CARD: _cards,
    Kind.IP: _addresses,
    Kind.ID: _national_numbers,
}
"""Kinds that check digits or parsers decide."""

_SSN_VALUE = r"(?!000|666|9)[0-9]{3}(?P<s>[- ]?)(?!00)[0-9]{2}(?P=s)(?!0000)[0-9]{4}(?![0-9-])"

RECOGNISERS: tuple[Recogniser, ...] = (
    _recogniser(
        Kind.SSN,
        r"(?<![0-9A-Za-z-])(?P<v>(?!000|666|9)[0-9]{3}(?P<s>[- ])(?!00)[0-9]{2}(?P=s)"
        r"(?!0000)[0-9]{4})(?![0-9A-Za-z-])",
    ),
    _labelled(Kind.SSN, r"ssn|social[ _-]security(?:[ _-](?:number|no\.?))?", _SSN_VALUE),
    _recogniser(
        Kind.PHONE,
        r"(?<![0-9A-Za-z+])(?P<v>(?:\+|00)[1-9](?:[ \t.()/-]{0,3}[0-9]){6,14})(?![0-9])",
    ),
    _recogniser(
        Kind.PHONE,
        r"(?<![0-9A-Za-z.-])(?P<v>(?:1[-. ])?(?:\([2-9][0-9]{2}\)[ ]?|[2-9][0-9]{2}[-. ])"
        r"[2-9][0-9]{2}[-. ][0-9]{4})(?![0-9A-Za-z-])",
    ),
    _recogniser(
        Kind.PHONE,
        r"(?<![0-9A-Za-z.+-])(?P<v>\(?0[1-9][0-9]{1,4}\)?[ /-]{1,3}[0-9](?:[ -]?[0-9]){4,9})"
        r"(?![0-9])",
    ),
    _recogniser(
        Kind.PHONE,
        r"(?<![0-9A-Za-z.+-])(?P<v>0[1-9](?P<s>[ .-])[0-9]{2}(?:(?P=s)[0-9]{2}){3})(?![0-9.-])",
    ),
    _labelled(
        Kind.PHONE,
        r"tel(?:ephone|efon)?\.?|t[ée]l(?:[ée]phone)?\.?|tel[ée]fono|phone|mobile|mobil|móvil"
        r"|portable|cell|fax|handy|(?:telefon|mobil|handy)nummer|whatsapp|call(?: me)? (?:at|on)",
        r"[+(]?[0-9](?:[ \t.()/-]{0,3}[0-9]){5,14}(?![0-9])",
    ),
    _labelled(
        Kind.DOB,
        r"d\.?o\.?b\.?|date[ _-]of[ _-]birth|birth[ _-]?date|birthday|born(?: on)?|geboren(?: am)?"
        r"|geb\.|geburtsdatum|n[ée]e?(?:\(e\))? le|date de naissance|nac(?:í|ió|id[oa]) el"
        r"|fecha de nacimiento|nat[oa] il|data di nascita",
        _DATE,
    ),
    _labelled(
        Kind.ID,
        r"passport|driv(?:er'?s?|ing)[ _-]licen[cs]e|national[ _-]id|identity[ _-]card"
        r"|tax[ _-]id|itin|nino|national[ _-]insurance|nhs|personalausweis|steuer-?id|reisepass"
        r"|führerschein|passeport|carte d['\u2019]identité|permis de conduire|pasaporte|dni"
        r"|seguridad social|sécurité sociale|aadhaar|cpf|codice[ _]fiscale",
        _CODE,
    ),
    _recogniser(
        Kind.ID,  # German pension insurance, British national insurance, Italian codice fiscale
        r"(?<![0-9A-Za-z.-])(?P<v>[0-9]{2}[ ]?[0-3][0-9][01][0-9][0-9]{2}[ ]?[A-Z][ ]?[0-9]{3}"
        r"|[A-CEGHJ-PR-TW-Z]{2}[ ]?[0-9]{2}[ ]?[0-9]{2}[ ]?[0-9]{2}[ ]?[A-D]"
        r"|[A-Z]{6}[0-9]{2}[ABCDEHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z])(?![0-9A-Za-z-])",
    ),
    _labelled(
        Kind.MRN,
        r"mrn|medical[ _-]record|patient[ _-](?:id|no\.?|number)|chart[ _-](?:no\.?|number)"
        r"|patientennummer|historia clínica|dossier (?:patient|médical)",
        _CODE,
    ),
    _labelled(
        Kind.MEMBER,
        r"(?:member|subscriber|beneficiary|policy|insurance|group|health[ _-]plan|medicare"
        r"|medicaid)[ _-](?:id|no\.?|number|nr\.?)|mbi|npi|versichertennummer",
        _CODE,
    ),
    _labelled(
        Kind.DATE,
        r"(?:date[ _-]of[ _-])?(?:admission|discharge|death|service|surgery)(?:[ _-]date)?"
        r"|(?:admitted|discharged|died|deceased|operated)(?: on)?|aufnahmedatum|entlassungsdatum"
        r"|(?:aufnahme|aufgenommen|entlassung|entlassen|operiert|verstorben) am"
        r"|date d['\u2019]admission|date de sortie|(?:admis|hospitalisé|opéré|décédé)e? le"
        r"|fecha de (?:ingreso|alta)|(?:ingresad|operad|fallecid)[oa] el",
        _DATE,
    ),
    _recogniser(
        Kind.AGE,
        r"(?<![^\W_])(?i:aged?[\"']?[ \t]{0,2}:?[ \t]{0,2})(?P<v>9[0-9]|1[0-4][0-9])(?![0-9])",
    ),
    _recogniser(
        Kind.AGE,
        r"(?<![0-9A-Za-z.])(?P<v>9[0-9]|1[0-4][0-9])(?i:[ -]?(?:years?|yrs?|y)[ -]?(?:old|/?o)\b)",
    ),
    _recogniser(
        Kind.ZIP,
        r"(?<![^\W_])(?P<state>[A-Z]{2})[ ,]{1,2}(?P<v>[0-9]{5}(?:-[0-9]{4})?)(?![0-9A-Za-z-])",
        _is_state,
    ),
    _labelled(
        Kind.ZIP,
        r"zip(?:[ _-]?code)?|postal[ _-]?code|postcode|plz|postleitzahl|code postal|código postal",
        r"[A-Z0-9]{2,5}(?:[ -][A-Z0-9]{3,4})?(?![A-Za-z0-9])",
    ),
    _recogniser(
        Kind.NAME,
        rf"{_START}(?:{_TITLE}){{1,3}}+(?P<v>{_NAME})",
        _is_name,
    ),
    _recogniser(
        Kind.NAME,
        rf"^[ \t]{{0,8}}(?:Dear|Hi|Hello|Hey|Hallo|Liebe|Lieber|Bonjour|Bonsoir|Chère|Cher|Hola"
        rf"|Estimad[oa]|Querid[oa]|Ciao|Buenos días|Buenas tardes"
        r"|Good (?:morning|afternoon|evening)|Guten (?:Tag|Morgen|Abend))"
        rf"[ \t]{{1,2}}(?P<v>{_NAME})(?=[ \t]{{0,4}}[,!:.]|[ \t]{{0,4}}$)",
        _is_name,
    ),
    _recogniser(
        Kind.NAME,
        rf"{_START}(?i:my name is|my name's|mein name ist|ich hei(?:\u00df|ss)e"
        rf"|je m['\u2019]appelle|me llamo|mi nombre es|mi chiamo|meu nome \u00e9)"
        rf"[ \t]{{1,2}}(?P<v>{_NAME})",
        _is_name,
    ),
    _recogniser(
        Kind.NAME,
        rf"{_START}(?i:this is|here is)[ \t]{{1,2}}(?P<v>{_NAME})"
        r"(?=[ \t]{1,2}(?:from|speaking|at)\b)",
        _is_name,
    ),
    _recogniser(
        Kind.NAME,
        rf"^[ \t]{{0,8}}(?i:{SIGN_OFFS}|(?:(?:best|kind|warm|many) )?thanks|thank you|merci"
        rf"|gracias)[ \t]{{0,2}},?[ \t]{{0,4}}\r?\n[ \t\r\n]{{0,8}}(?P<v>{_NAME})(?=[ \t]{{0,8}}$)",
        _is_name,
    ),
    _recogniser(
        Kind.NAME,
        rf"{_START}(?i:(?:full|first|last|given|family|middle|patient|customer|contact|requester"
        rf"|caller|employee)[ _-]?name|surname|vorname|nachname|patient|customer|requester|"
        rf"requestor|contact|caller|employee|attendee|owner|assignee){_ASSIGNED}(?P<v>{_NAME})",
        _is_name,
    ),
    _recogniser(
        Kind.NAME,
        rf"(?:^|[,;{{(|\[])[ \t]{{0,8}}[\"']?"
        rf"(?i:name|from|to|cc|kunde|nom|nombre){_ASSIGNED}(?P<v>{_FULL})",
        _is_name,
    ),
    _recogniser(
        Kind.NAME, rf"{_START}(?P<v>{_FULL})[ \t]{{0,2}}[<(](?=[^\s<>()@]{{1,64}}@)", _is_name
    ),
)

_KEYS: dict[Kind, str] = {
    Kind.EMAIL: "email emailaddress mail",
    Kind.PHONE: "phone phonenumber telephone mobile mobilephone cell cellphone fax faxnumber tel",
    Kind.SSN: "ssn socialsecuritynumber",
    Kind.IBAN: "iban",
    Kind.CARD: "cardnumber creditcard creditcardnumber ccnumber pan",
    Kind.IP: "ip ipaddress remoteaddr clientip sourceip",
    Kind.NAME: (
        "firstname lastname fullname surname givenname familyname middlename displayname realname "
        "patientname customername contactname requestername employeename callername patient"
    ),
    Kind.DOB: "dob dateofbirth birthdate birthday geburtsdatum",
    Kind.ID: "passport passportnumber driverslicense drivinglicence nationalid taxid nino nhsno",
    Kind.MRN: "mrn medicalrecordnumber medicalrecord patientid patientnumber chartnumber",
    Kind.MEMBER: "memberid membernumber policynumber insuranceid subscriberid planid npi mbi",
    Kind.DATE: "admissiondate dischargedate dateofdeath deathdate dateofservice",
    Kind.AGE: "age",
    Kind.ZIP: "zip zipcode postalcode postcode plz",
}
_KIND_OF_KEY = {key: kind for kind, keys in _KEYS.items() for key in keys.split()}


def key_kind(key: str) -> Kind | None:
    """Return what the value under an object's key is, such as `dateOfBirth`."""
    return _KIND_OF_KEY.get("".join(filter(str.isalnum, key)).casefold())


def number_kind(number: int | float, kind: Kind | None) -> Kind | None:
    """Return what a JSON number is, given what its key announces."""
    if kind is Kind.AGE:
        return kind if number > MAX_OLDEST else None
    if kind is not None and kind is not Kind.EMAIL:
        return kind
    if isinstance(number, int) and 10**12 <= number < 10**19 and is_card(str(number)):
        return Kind.CARD
    return None
