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


_SAME = """
    start begin commence launch | stop end finish cease terminate complete | about around
    approximately roughly circa nearly | want wish desire | like prefer favour favor | big large |
    small little tiny | find discover found | show display | fix repair mend resolve | buy
    purchase | get receive obtain | give provide supply | use utilise utilize serve | work
    function | need require necessary | help assist assistance | tell inform notify | say state
    mention | choose pick select | keep retain | delete remove erase purge | add append | create
    build | change modify alter | send dispatch | answer reply respond | phone telephone | talk
    speak | own possess | live reside | staff employee personnel | client customer | firm company
    | car vehicle automobile | photo picture | quick fast rapid | cheap inexpensive | costly
    expensive | correct right accurate | wrong incorrect | whole entire all | every each | usually
    normally generally typically | often frequently | max maximum | min minimum | exceed above
    over beyond | below under | via through | until till | because since | main primary principal
    | allow permit | forbid prohibit ban | locate situate | film movie | holiday vacation |
    release publish | licence license | colour color | responsible accountable | happen occur |
    move relocate | raise increase | lower decrease reduce | sick ill | child kid | mother mum mom
    | father dad | garbage trash rubbish | lift elevator | apartment flat | autumn fall | truck
    lorry | immediately instantly | attempt try | verify check | configure setup | contain include
    | depend rely | hard difficult | easy simple | expire lapse | mandatory compulsory |
    repository repo | database db | documentation docs doc | environment env | config
    configuration | application app | administrator admin | information info | authentication auth
    | production prod | directory folder
"""

_IRREGULAR = """
    keep kept | send sent | write wrote written | take took taken | give gave given | go went gone
    | run ran | see saw seen | find found | know knew known | make made | build built | buy bought
    | sell sold | tell told | say said | pay paid | meet met | leave left | lose lost | win won |
    hold held | bring brought | think thought | teach taught | catch caught | begin began begun |
    break broke broken | choose chose chosen | drive drove driven | eat ate eaten | fall fell
    fallen | grow grew grown | rise rose risen | show shown | speak spoke spoken | steal stole
    stolen | throw threw thrown | wear wore worn | hide hid hidden | forget forgot forgotten |
    draw drew drawn | fly flew flown | swim swam swum | sing sang sung | drink drank drunk | lead
    led | feed fed | feel felt | mean meant | spend spent | lend lent | bend bent | sleep slept |
    sweep swept | deal dealt | stand stood | understand understood | become became | come came |
    get got gotten | sit sat | bind bound | hang hung | dig dug | stick stuck | strike struck |
    freeze froze frozen | shake shook shaken | ride rode ridden | bite bit bitten | can may
"""

_OPPOSITE = """
    enabled disabled | enable disable | on off | open closed | open close | opened closed | opens
    closes | ouvert fermé | ouverte fermée | offen geschlossen | allowed forbidden | allowed
    blocked | allowed denied | allowed prohibited | permitted prohibited | permitted forbidden |
    allow deny | allow block | allow forbid | permit prohibit | approved rejected | approve reject
    | accepted rejected | accepted declined | accept decline | accept refuse | accepted refused |
    passed failed | pass fail | succeeded failed | succeed fail | success failure | rose fell |
    rises falls | rise fall | increased decreased | increase decrease | raised lowered | raise
    lower | grew shrank | grow shrink | gained lost | won lost | win lose | before after | above
    below | over under | more less | more fewer | at-least at-most | least most | minimum maximum
    | min max | up down | public private | internal external | local remote | locally remotely |
    online offline | active inactive | include exclude | included excluded | includes excludes |
    full empty | morning evening | early late | first last | earliest latest | start end | start
    stop | started stopped | begin end | add remove | added removed | true false | yes no | always
    never | all none | everyone nobody | everyone only | everybody nobody | left right | north
    south | east west | import export | upload download | read write | encrypted plaintext |
    manual automatic | manually automatically | optional mandatory | optional required | may must
    | can must | hot cold | warm cold | dry wet | cheap expensive | high low | higher lower | fast
    slow | light dark | new old | single multiple | present absent | alive dead | safe dangerous |
    valid invalid | armed disarmed | locked unlocked | paid unpaid | signed unsigned | sent
    received | like dislike | likes hates | love hate | agree disagree | agreed refused | with
    without | inside outside | upstairs downstairs | temporary permanent | free paid | static
    dynamic | sync async | synchronous asynchronous | horizontal vertical | indoor outdoor |
    indoors outdoors | front back | male female | stable unstable | available unavailable |
    complete incomplete | known unknown | even odd | celsius fahrenheit | income expense | profit
    loss | credit debit | buyer seller | success error | married single | sold bought | arrive
    leave | arrives leaves | push pull | attached detached | connected disconnected | visible
    hidden | shown hidden | strict lenient | keep delete | kept deleted | retained deleted |
    continue stop | confirmed cancelled | confirmed denied | granted revoked | hired fired |
    joined left | deprecated supported
"""

SAME_GROUPS: tuple[tuple[str, ...], ...] = tuple(
    tuple(group.split()) for group in (*_IRREGULAR.split("|"), *_SAME.split("|"))
)
"""Words that may stand for each other in a statement of fact."""

PAST_FORMS = frozenset(
    word for group in _IRREGULAR.split("|") for word in group.split()[1:] if word != "may"
)
"""Irregular past tenses and participles."""

OPPOSITE_PAIRS: tuple[tuple[str, str], ...] = tuple(
    (pair.split()[0], pair.split()[1]) for pair in _OPPOSITE.split("|")
)
"""Words of which only one can hold of a thing."""

NEGATING_PREFIXES = ("un", "in", "im", "ir", "dis", "non", "de", "mis")
"""Before a word of four letters or more these make its opposite: armed, disarmed."""

DIRECTIONS = frozenset(
    {"from", "to", "into", "onto", "toward", "towards", "at", "of", "for", "with", "by", "de", "à"}
)
"""Light words that say which way a statement is turned."""

_LIGHT = """
    a an the this that these those it its there here he she they them his her their we us our you
    your i me my is are was were be been being am has have had having do does did doing will would
    shall should of to in on at by for with from as into during per than then so such very
    also too just and but which who whom whose what when where while please both own same yet
    already there's
    le la les un une des du de et est sont au aux ce cette que qui nous vous il elle ils elles
    der die das ein eine und ist sind im am zu den dem
    must need needs get gets got
"""
LIGHT_WORDS = frozenset(_LIGHT.split())
"""Words a statement can be reworded with or without. Prepositions that give a direction are
compared apart from this."""

BE_PAST = frozenset({"was", "were"})
BE_PRESENT = frozenset({"is", "are", "am"})
BE = BE_PAST | BE_PRESENT | {"be", "been", "being"}
HAVE = frozenset({"has", "have", "had", "having"})
FUTURE = frozenset({"will", "won't", "shall"})
PERMISSION = frozenset({"may", "can", "could", "might", "allowed"})
OBLIGATION = frozenset({"must", "shall", "required"})

_DETERMINERS = """
    a an the this that these those its his her their our your my le la les un une des der die das
    ein eine du de
"""
DETERMINERS = frozenset(_DETERMINERS.split())
"""Articles and the like: they weigh nothing when two sentences are laid beside each other."""

_VERBS = """
    is are was were be been has have had do does did can cannot could may might must shall should
    will would need needs est sont a ont ist sind hat haben
    use uses cost costs pay pays last lasts start starts end ends begin begins run runs live lives
    work works need support supports cover covers prefer prefers want wants like likes own owns
    contain contains include includes exclude excludes return returns allow allows require requires
    open opens close closes leave leaves arrive arrives take takes get gets give gives keep keeps
    store stores send sends receive receives serve serves expire expires ship ships answer answers
    retry eat eats drink drinks speak speaks teach teaches write writes read reads lead leads
    belong belongs weigh weighs measure measures reach reaches meet meets move moved live lived
    rise rose fall fell grow grew pass passed fail failed sign signed accept accepted decline
    declined approve approved reject rejected ferme ouvre coûte dure livre rehearse rehearses
    deliver delivers employ employs finish finishes remain remains stay stays sit sits stand stands
    become becomes report reports host hosts hold holds sell sells buy buys charge charges accept
    accepts refuse refuses process processes handle handles produce produces play plays
"""
VERBS = frozenset(_VERBS.split())
"""Verbs of plain statements, with the forms they have in them."""

PHRASES: tuple[tuple[str, str], ...] = (
    ("would like", "want"),
    ("'d like", " want"),
    ("due to", "because of"),
    ("in order to", "to"),
    ("takes place", "is"),
    ("take place", "be"),
)
"""Several words that stand for one."""
