"""Closed lists behind `tokens` and `wording`: numbers in words, units, dates, negations. Only data.

English first, with the French and German words that notes of small teams hold. A word that is not
here is an ordinary word: nothing is guessed.
"""

_ONES = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty
"""
_ORDINALS = """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
"""
_FRENCH_ONES = "deux trois quatre cinq six sept huit neuf dix onze douze"
_GERMAN_ONES = "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf"

NUMBER_WORDS: dict[str, str] = {
    **{word: str(value) for value, word in enumerate(_ONES.split())},
    **{word: str(value) for value, word in enumerate(_FRENCH_ONES.split(), start=2)},
    **{word: str(value) for value, word in enumerate(_GERMAN_ONES.split(), start=2)},
    **{word: str(value) for value, word in enumerate(_ORDINALS.split(), start=1)},
    **{"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70"},
    **{"eighty": "80", "ninety": "90", "hundred": "100", "thousand": "1000"},
    **{"million": "1000000", "billion": "1000000000", "dozen": "12", "twice": "2"},
}
"""A number in words -> its digits; an ordinal counts as its number."""

_POINTING = "the this that which no any each every another only last next some other"
NOT_A_NUMBER_AFTER = frozenset(_POINTING.split())
"""`one` after one of these is a pronoun."""

_UNITS = {
    "ms": "ms millisecond milliseconds",
    "second": "s sec secs second seconds seconde secondes sekunde sekunden",
    "minute": "min mins minute minutes minuten",
    "hour": "h hr hrs hour hours heure heures stunde stunden",
    "day": "day days jour jours tag tage tagen",
    "week": "week weeks semaine semaines woche wochen",
    "month": "month months mois monat monate monaten",
    "year": "year years yr yrs an ans année années jahr jahre jahren",
    "mg": "mg milligram milligrams",
    "g": "g gram grams",
    "kg": "kg kilo kilos kilogram kilograms",
    "tonne": "t tonne tonnes ton tons",
    "mm": "mm millimetre millimetres millimeter millimeters",
    "cm": "cm centimetre centimetres centimeter centimeters",
    "m": "m metre metres meter meters",
    "km": "km kilometre kilometres kilometer kilometers",
    "mile": "mile miles mi",
    "ml": "ml millilitre millilitres",
    "l": "l litre litres liter liters",
    "kb": "kb kilobyte kilobytes kib",
    "mb": "mb megabyte megabytes mib",
    "gb": "gb gigabyte gigabytes gib",
    "tb": "tb terabyte terabytes tib",
    "%": "% percent pct prozent",
    "usd": "$ usd dollar dollars",
    "eur": "€ eur euro euros",
    "gbp": "£ gbp pound pounds",
    "chf": "chf franc francs franken",
    "degree": "° °c degree degrees degrés grad",
    "°f": "°f",
    "km/h": "km/h kph",
    "mph": "mph",
    "mmol/l": "mmol/l",
    "mg/dl": "mg/dl",
    "hz": "hz hertz",
    "khz": "khz",
    "mhz": "mhz",
    "ghz": "ghz",
    "w": "w watt watts",
    "kw": "kw kilowatt kilowatts",
    "kwh": "kwh",
    "v": "v volt volts",
}

UNITS: dict[str, str] = {word: unit for unit, words in _UNITS.items() for word in words.split()}
"""A unit as it is written -> the one name it has here."""

CURRENCIES = frozenset("$€£")

_MONTHS = """
    january jan janvier januar jänner | february feb février februar | march mar mars märz |
    april apr avril | may mai | june jun juin juni | july jul juillet juli | august aug août |
    september sep sept septembre | october oct octobre oktober | november nov novembre |
    december dec décembre dezember
"""
MONTHS: dict[str, str] = {
    word: f"month {number}"
    for number, words in enumerate(_MONTHS.split("|"), start=1)
    for word in words.split()
}
"""The name of a month -> month 1 to month 12."""

_AMBIGUOUS = "may march mar mars mai sept sep dec jun jan"
AMBIGUOUS_MONTHS = frozenset(_AMBIGUOUS.split())
"""These are months when they are capitalised or stand beside a number."""

_WEEKDAYS = """
    monday mondays lundi montag | tuesday tuesdays tue tues mardi dienstag |
    wednesday wednesdays mercredi mittwoch | thursday thursdays thu thurs jeudi donnerstag |
    friday fridays fri vendredi freitag | saturday saturdays samedi samstag |
    sunday sundays dimanche sonntag
"""
_TIMES = """
    today aujourd'hui heute | tomorrow demain | yesterday hier gestern | tonight |
    noon midday midi | midnight minuit | morning mornings matin | afternoon afternoons après-midi |
    evening evenings soir abend | night nights nightly nuit nacht | weekend weekends | spring |
    autumn | winter | daily | weekly | monthly | yearly annually | quarterly | hourly
"""
DAYS: dict[str, str] = {
    word: group.split()[0]
    for group in (_WEEKDAYS + "|" + _TIMES).split("|")
    for word in group.split()
}
"""A day of the week, a time of the day or a rhythm -> one name for it."""

_NEGATIONS = """
    not no never none nobody nothing nowhere neither without cannot can't nicht kein keine keinen
    keinem keiner nie niemals ohne niemand nichts pas jamais aucun aucune rien sans
"""
NEGATIONS = frozenset(_NEGATIONS.split())
"""Each of these counts as one negation, and so does a word that ends in n't. `nor` goes with
`neither`, and the French ne with its second half."""
