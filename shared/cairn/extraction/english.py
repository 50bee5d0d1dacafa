"""English words that the rules of extraction know. Lists only; no rules."""

_RELATIONS = """
    accountant aunt baby boss boyfriend brother cat child coach colleague cousin coworker dad
    daughter dentist doctor dog ex father fiance fiancee fiancé fiancée flatmate friend
    girlfriend grandfather grandma grandmother grandpa granny hamster horse housemate husband
    kid kitten landlord lawyer manager mentor mom mother mum nanny neighbor neighbour nephew
    niece parents parrot partner physio puppy rabbit roommate sibling sister son spouse teacher
    therapist trainer tutor twin twins uncle wife
"""
_PARTNERS = """
    boyfriend ex fiance fiancee fiancé fiancée girlfriend husband partner spouse wife
"""
_HABITS = """
    attend avoid back bake bank belong bike bill bring build buy call charge climb coach collect
    come commute cook cycle dance deploy develop do draw drink drive earn eat finish fish garden
    get go grow have hike host jog keep knit lead live log maintain make manage meet order own
    paint pay play post practice practise read rent ride run sell serve sew share ship sing skip
    sleep smoke speak stand start store study subscribe suffer support swim take teach test
    train travel use volunteer wake walk wear weigh work write
"""
_OCCASIONS = """
    back bring call come do finish get go have make order share stand start take test
"""
_TASTES = """
    adore crave despise detest dislike enjoy favor favour hate like loathe love mind need prefer
    trust want
"""
_PAST_TASTES = """
    adored disliked enjoyed hated liked loved preferred wanted
"""
_IRREGULAR = """
    ate became began bit blew bought bred broke brought built came caught chose cut dealt drank
    dreamt drew drove dug fed fell flew fought found froze gave got grew had held hid hired hit
    hurt kept led left lent lit lost made met moved paid put quit ran rang read rode rose sang
    sank saw sent set shot shut slept sold spent spoke stole stood stuck stung swam swore swung
    taught threw took tore wed went woke won wore wrote
"""
_PARTICIPLES = """
    been begun broken chosen done driven eaten flown given gone grown known seen spoken sung
    taken worn written
"""
_NO_EVENTS = """
    adored agreed asked assumed believed called caught claimed could did disliked enjoyed
    expected felt figured forgot guessed hated heard hoped knew laughed learnt liked looked
    loved meant mentioned might missed needed noted noticed preferred promised realised realized
    remembered said seemed should smiled supposed thought told tried understood used wanted was
    were wished wondered would
"""
_DECIDED = """
    agreed chose decided opted picked resolved selected settled
"""
_REPORTING = """
    argue argued argues ask asked asks believe believed believes claim claimed claims doubt
    doubts guess guesses hope hopes insist insisted insists joke joked jokes mention mentioned
    mentions reckon reckons recommend said say says suggest suggested suggests swear swears tell
    tells think thinks thought told wonder wonders
"""
_STATES = """
    afraid allergic asthmatic based blind born celiac coeliac colourblind deaf diabetic divorced
    dyslexic engaged fond freelance intolerant left-handed married paid pescatarian pregnant
    retired scared self-employed single terrified unemployed vegan vegetarian widowed
"""
_GOING = """
    attending bringing buying coming flying getting giving going hosting inviting launching
    leaving marrying meeting migrating moving planning presenting releasing returning seeing
    selling starting switching taking thinking throwing traveling travelling visiting
"""
_DOING = """
    building dating expecting growing hosting knitting leading learning living maintaining
    managing practicing practising reading recovering renovating renting running saving studying
    suffering teaching training using volunteering working writing
"""
_EMPTY = """
    a about again all also am an and any anything are as at back be been bit but by can cool
    could did do does down fine for from get good got great guess had has have he her here him i
    in instead is it it's just know let lot lots make me more most much n't nice no not now of
    off ok okay on one ones or out over please really say see she so some something sorry sure
    thank thanks that that's the them then there these they thing things think this those to too
    up us very was way we well were will with would yes you
"""

RELATIONS = frozenset(_RELATIONS.split())
"""Who a person may be to the speaker; pets count."""

PARTNERS = frozenset(_PARTNERS.split())
"""What one person may become to another by and by."""

HABITS = frozenset(_HABITS.split())
"""Verbs that in the present tense say what somebody does or has for good."""

OCCASIONS = frozenset(_OCCASIONS.split())
"""Those of them that say so only with a time or a frequency."""

TASTES = frozenset(_TASTES.split())
"""Verbs of liking, wanting and trusting."""

PAST_TASTES = frozenset(_PAST_TASTES.split())
"""The same in the past."""

IRREGULAR = frozenset(_IRREGULAR.split())
"""Past tenses that do not end in "ed"."""

PARTICIPLES = frozenset(_PARTICIPLES.split())
"""Participles that neither end in "ed" nor are past tenses."""

NO_EVENTS = frozenset(_NO_EVENTS.split())
"""Past tenses of thought, talk and help: what they say is no event of a life."""

DECIDED = frozenset(_DECIDED.split())
"""Past tenses that tell a decision."""

REPORTING = frozenset(_REPORTING.split())
"""Verbs before the claim of somebody else."""

STATES = frozenset(_STATES.split())
"""What somebody is for long."""

GOING = frozenset(_GOING.split())
"""Present participles that tell what is planned."""

DOING = frozenset(_DOING.split())
"""Present participles that tell what goes on for long."""

EMPTY = frozenset(_EMPTY.split())
"""Words that say nothing of their own."""
