"""Closed lists behind `wording`: words that mean the same or exclude each other. Only data.

Pairs are for statements of fact in notes and tickets. A word may stand in several pairs.
"""

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
