"""The words and phrases that a ticket may have for a rule to act on it: closed lists, by language.

Words stand without accents and apostrophes, `unlock*` for all that begin so. What is not listed
is not understood, and goes to a person. So these lists are short of everything that may mean
another matter, another person, absence, loss, theft or surprise: nobody, somebody, he, she, gone,
away, mail, link, call and code are missing on purpose. Negations are only in phrases that say what
fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """`exact` words and `begins` of words, as written in one text."""

    exact: frozenset[str]
    begins: tuple[str, ...]

    def has(self, word: str) -> bool:
        """Return whether a word is listed."""
        return word in self.exact or word.startswith(self.begins)

    def __or__(self, other: Lexicon) -> Lexicon:
        """Return the words of both."""
        return Lexicon(exact=self.exact | other.exact, begins=self.begins + other.begins)


def lexicon(text: str) -> Lexicon:
    """Return the words of a text, separated by spaces."""
    words = text.split()
    return Lexicon(
        exact=frozenset(word for word in words if not word.endswith("*")),
        begins=tuple(word[:-1] for word in words if word.endswith("*")),
    )


def _tables() -> dict[str, dict[str, Lexicon]]:
    """Return the tables of `lexicon.txt`: words below `[TABLE language]`."""
    tables: dict[str, dict[str, Lexicon]] = {}
    text = Path(__file__).with_name("lexicon.txt").read_text(encoding="utf-8")
    for part in text.split("\n[")[1:]:
        title, _, words = part.partition("]")
        name, language = title.split()
        tables.setdefault(name, {})[language] = lexicon(words)
    return tables


_TABLES: Mapping[str, Mapping[str, Lexicon]] = _tables()

COMMON = _TABLES["COMMON"]
"""Who writes, when, how urgent it is, and what is polite to say."""

LOCKOUT = _TABLES["LOCKOUT"]
"""What a lock-out that somebody caused with their own typing is told with."""

FACTOR = _TABLES["FACTOR"]
WEBHOOK = _TABLES["WEBHOOK"]
VAGUE = _TABLES["VAGUE"]
"""What says that something is wrong and nothing of what it is."""

FOREIGN_ACCOUNTS = (
    # what was found on coming back, what was found at all, and what somebody saw or gave
    r" (?:when|as|once|after|until|since|before) (?:i|we) (?:\w+ )?(?:came|come|got back|returned|"
    r"return|went|sat|arrived|arrive|opened|open|started|woke|looked|logged on|was) ",
    r" (?:als|nachdem|bis) ich (?:\w+ ){0,3}(?:zuruck|kam|wieder da|ankam|anfing|wiederkam) ",
    r" (?:quand|lorsque) (?:je|j) (?:suis|ai|etais) (?:\w+ )?(?:reven|rentr|arriv|ouv)\w+ ",
    r" cuando (?:volvi|llegue|regrese|abri|entre) ",
    r" i (?:found|borrowed) (?!out|it|the (?:right|correct|new))| in front of (?!me )| let go |"
    r" you (?:sent|gave|told|mailed) me | guess\w* the password | only after (?:it|that) ",
    r" we(?: \w+)? (?:all|both) | wir(?: \w+)? (?:alle|beide) | (?:nous|on)(?: \w+)? tous |"
    r" (?:passwort|kennwort) von (?!mein|der bank|dem)",
    r" (?:auf|in) (?:so )?eine[rmn]? (?:\w+ )?(?:seite|webseite|formular|fenster|mail) | sur une? "
    r"(?:\w+ )?(?:site|page|formulaire) | en una? (?:\w+ )?(?:pagina|sitio|formulario|web) ",
    r" accounts? (?:of|for|from|belonging|named) (?!me |us |today|now)",
    r" (?:konto|account|zugang) (?:von|der|des|fur) (?!mich|mir)",
    r" compte (?:de|du|des|d) (?!utilisateur|acces)",
    r" cuenta (?:de|del) (?!usuario)",
    # something else that is to be opened or done
    r" (?:please|you|and|also) (?:\w+ )?(?:release|open|reopen|shut|restore|free|restart|update|"
    r"print|clear|"
    r"lift|change|set|remove) (?!it|me|up|us|again|asap|soon|and|this|access|[|]|(?:my|the|our) "
    r"(?:\w+ )?(?:account|login|"
    r"user|access|profile|lock|lockout|door|portal|password again|system))",
    r" muss(?:en)? auch | bitte (?:auch|ebenfalls) (?!mich|mein)| (?:debloqu\w+|deverrouill\w+|"
    r"ouvrir|reactiver) (?:aussi|egalement) "
    r"(?!mon compte)| (?:desbloque\w*|abr\w+) tambien ",
    # where a password was typed that is no sign-in
    r" (?:in|into|on) (?:an?|another|some|that) (?:\w+ )?(?:page|form|window|message|notice|site|"
    r"field|box|banner) ",
    r" (?:message|notice|banner|form|window|box|page)(?: \w+){0,6} (?:and|so) (?:i )?(?:typed|"
    r"entered|put|filled|"
    r"gave) ",
    r" (?:meldung|nachricht|fenster|formular|hinweis|seite)(?: \w+){0,3} (?:und|also) (?:ich "
    r")?(?:\w+ ){0,6}"
    r"(?:eingegeben|eingetippt|getippt|ausgefullt|bestatigt) ",
    r" (?:message|avis|fenetre|formulaire|page)(?: \w+){0,3} et (?:j ai|je) (?:saisi|tape|entre|"
    r"mis|rempli) ",
    r" (?:mensaje|aviso|ventana|formulario|pagina)(?: \w+){0,3} y (?:yo |he )?(?:escribi|puse|"
    r"introduje|meti|teclee|"
    r"escrito|puesto|metido|introducido) ",
    # what did not come of own typing, or asks for another change
    r" (?:everyone|everybody|all of us) (?:can|could|has|knows|uses|may) | used to work ",
    r" (?:was|were|been|being) used (?:for|by|on|at|in|from) | new (?:login|session|sign in) ",
    r" (?:phone|telephone) number | at (?:the )?first (?:try|attempt) | at the same time ",
    r" already locked (?:this|when|before|on|in) | (?:schon|bereits) (?:am|heute|"
    r"gestern|beim) (?:\w+ ){0,2}gesperrt ",
    r" deja (?:bloque|verrouille)e? | ya estaba (?:bloqueada|bloqueado) ",
    r" (?:andern|setzen) sie | bitte (?:\w+ ){0,2}"
    r"(?:passwort|kennwort) (?:andern|setzen|zurucksetzen) ",
    r" (?:merci de|veuillez|pouvez vous|pourriez vous) (?:me )?(?:changer|modifier|renouveler) ",
    r" (?:cambien|cambiad|cambie) (?:mi|la) (?:contrasena|clave) (?:por|a|ya) ",
    # an account of several people
    r" we (?:all |both )?(?:use|share|used|sign|log) | everyone (?:uses|knows)| (?:nutzen|"
    r"benutzen|verwenden) wir | wir "
    r"(?:alle )?(?:nutzen|benutzen|verwenden) | (?:nous utilisons|on utilise) | (?:usamos|"
    r"utilizamos) ",
    r" (?:the|that|those) ones? (?:of|from|for|belonging) | (?:auch|und|sowie) (?:das|den) "
    r"(?:von|der|des) ",
    r" celu?i (?:de|du|des|d) | celle (?:de|du|des|d) | (?:y|tambien|como) (?:la|el) (?:de|del) ",
    r" (?:at|during|in the|over) (?:the )?night ",
    r" (?:i|we) (?:was|were|have been|ve been|am|m|re|are) (?:currently |still |just |"
    r"now )?(?:in|at|on|"
    r"with|out|off) (?!(?:a |such a |too much of a )?(?:hurry|rush|stress)|my |"
    r"the (?:office|portal|"
    r"middle|login|phone|line|sign)|your|it )",
    r" ich (?:war|bin|befand mich) (?:gerade |derzeit |noch |den ganzen tag |heute |"
    r"gestern )?(?:im|in|"
    r"auf|bei|beim|am|an|zu) (?!(?:der |grosser )?(?:eile|hektik|stress|buro|schnell|"
    r"hastig|oft|meinem))",
    r" (?:j etais|je suis|je serai|j ai ete) (?:en|au|a|aux|chez|dans) (?!(?:retard|train|mon))",
    r" (?:estaba|estoy|estuve|estare|he estado) (?:en|de|con|fuera) (?!(?:mi|el trabajo|prisa))",
)
"""Words that are listed, in an order that speaks of another account, or of being elsewhere."""

RECURRING = (
    # English
    r" (?:again and again|over and over|time and again|all the time|by itself|on its own|"
    r"for no (?:\w+ )?reason|out of (?:the blue|nowhere)) ",
    r" (?:every|each) (?:\w+ ){0,2}(?:hours?|days?|mornings?|evenings?|time|minutes?|weeks?) ",
    r" (?:keeps?|kept|keep on) (?:on )?(?:getting |being |it )?(?:lock|block|happen|throwing|"
    r"kicking|logging me)",
    r" (?:third|fourth|fifth|sixth|seventh|tenth|umpteenth|nth|\d+(?:rd|th)) time"
    r" (?:\w+ ){0,2}(?:this|today|now|already|in|since|that|within|week|month)",
    r" (?:lock|block)\w* (?:\w+ ){0,4}(?:third|fourth|fifth|sixth|umpteenth|\d+(?:rd|th)) time ",
    r" (?:three|four|five|six|several|many|\d+) times (?:already |now )?(?:this (?:week|month|year)"
    r"|an? (?:day|week|hour|month)|per|in (?:one|two|three|"
    r"a (?!row))|since) ",
    r" (?:constantly|continually|continuously|permanently|repeatedly|regularly|always|forever|"
    r"daily|hourly) (?:getting |being |gets )?(?:lock|block)",
    r" (?:lock|block)(?:s|ed|ing)? (?:me |itself |us )?(?:out )?(?:again )?(?:constantly|"
    r"repeatedly|"
    r"daily|hourly|regularly|continually) ",
    # German
    r" (?:immer wieder|standig|dauernd|andauernd|laufend|stundlich|taglich|von (?:selbst|allein)|"
    r"ohne (?:\w+ )?grund|grundlos|aus heiterem himmel) ",
    r" jede[nrs]? (?:\w+ )?(?:tag|stunde|morgen|mal|woche|minute) ",
    r" alle (?:\w+ )?(?:stunden?|minuten|tage) ",
    r" (?:dritte|vierte|funfte|sechste|zehnte|\d+)[nrs]? mal (?:\w+ ){0,2}(?:diese|heute|dieser|"
    r"diesem|im|innerhalb|seit)",
    r" (?:dritten|vierten|funften|sechsten|zigten|wiederholten|x ten) mal (?:\w+ ){0,4}(?:aus)?"
    r"gesperrt ",
    r" (?:drei|vier|funf|sechs|\d+) ?mal (?:schon |bereits )?(?:diese|dieser|pro|am tag|die woche)",
    # French
    r" (?:sans (?:arret|cesse|raison)|encore et encore|a chaque fois|continuellement|constamment|"
    r"en permanence|regulierement|tout seul|toute seule) ",
    r" tou(?:s|tes) les (?:\w+ )?(?:heures|minutes|jours|matins|soirs|semaines) ",
    r" chaque (?:jour|matin|heure|fois|semaine) ",
    r" (?:troisieme|quatrieme|cinquieme|sixieme|enieme|\d+ ?e(?:me)?) fois (?:\w+ ){0,2}(?:cette|"
    r"de la"
    r"|ce|en|aujourd|depuis|que)",
    r" (?:bloqu|verrouill)\w* (?:\w+ ){0,4}(?:troisieme|quatrieme|cinquieme|enieme) fois ",
    r" (?:trois|quatre|cinq|six|\d+) fois (?:deja )?(?:cette semaine|par|ce mois)",
    # Spanish
    r" (?:una y otra vez|constantemente|continuamente|sin parar|sin (?:motivo|razon)|a cada rato|"
    r"a diario|por si sola) ",
    r" cada (?:hora|dia|manana|semana|rato|vez|poco|dos por tres|\w+ (?:horas|minutos|dias)) ",
    r" tod[oa]s l[oa]s (?:dias|mananas|horas|tardes|semanas) ",
    r" (?:tercera|cuarta|quinta|sexta|enesima) vez (?:\w+ ){0,2}(?:esta|este|hoy|en|que|desde)",
    r" bloque\w* (?:\w+ ){0,4}(?:tercera|cuarta|quinta|enesima) vez ",
    r" (?:tres|cuatro|cinco|seis|\d+) veces (?:ya )?(?:esta semana|al dia|este mes|por (?:dia|"
    r"semana))",
    r" (?:ya )?van (?:ya )?\w+ veces ",
)
"""What happens again and again has a cause that unlocking does not mend, and that a person finds.

A second time is an accident; from the third on, or without an end, it recurs.
"""

ASKING = lexicon("""
    question answer answers short clear know hint wonder wondering tell look like quick busy frage
    antwort wissen kurze reponse savoir pregunta respuesta saber enjoy weekend nice day past prior
""")
"""What is polite beside a question."""

PHRASES: Mapping[str, tuple[str, ...]] = {
    "en": (
        # cannot do what one has an account for
        r"(?:cannot|cant|can not|could not|couldnt|unable to|not able to|no longer able to)"
        r"(?= (?:even |seem to |now |currently |really |be able to |longer |any ?more )*"
        r"(?:log|login|sign|signin|get|access|open|enter|use|do|continue|work|start|finish|reach|"
        r"remember|load|book|print) )",
        r"(?:does not|doesnt|did not|didnt|will not|wont|would not|wouldnt|is not|isnt)"
        r"(?= (?:even |seem to |longer |be )?(?:work|works|working|let|letting|accept|accepted|"
        r"accepting|recognise|recognize|open|go|possible|arrive|arriving) )",
        r"(?:never|not|has not|hasnt|have not|havent)(?= (?:arrived|received) (?!my|me|i ))",
        r"(?:did not|didnt|without) (?:even |i )?(?:notic\w+|realis\w+|realiz\w+|"
        r"see) (?:it|that)?",
        r"no longer(?= (?:log|login|sign|get|access|open|enter|works|working) )",
        r"not any ?more",
        r"no (?:rush|hurry|luck) ",
        r"no(?= (?:webhooks?|events?|callbacks?|trace|entry) )",
        r"without (?:it|access|the (?:system|portal)|my account) ",
        # the right words beside words that stand for much else
        r"wrong(?= (?:pass ?word|password\w*|pw|one|ones|credentials|login|user|"
        r"username|entry|keys?|keyboard|layout|case|order|way round|"
        r"attempts?|times|too|to|so|several|many|a few|on|again|five|and now|this|"
        r"today|yesterday) )",
        r"(?<=password )(?:was |is |in |it )?wrong",
        r"(?:after|following)(?= (?:i|my|too|so|several|a few|some|many|five|four|three|six|the|"
        r"multiple|repeated|changing|entering|typing|mistyping|failed|\d+) )",
        r"(?:got|typed|entered|had|have|put|spelled|spelt|getting|typing) (?:it|this|"
        r"that|them) wrong",
        r"after (?:SLOT ){0,2}(?:wrong|failed|incorrect|invalid) (?:password|passwords|"
        r"attempts?|tries|"
        r"logins?|entries)",
        r"(?:before|when|then|until) (?:SLOT ){1,3}(?:comes|leaves|arrives|starts|ends|"
        r"closes|begins|"
        r"opens|goes out|is due|are due)",
        r"(?:got|type|typed|enter|entered|had|have|put|spelled|spelt|getting|typing|"
        r"wrote|mistyped)"
        r"(?: (?:it|this|that|them|my|the|in|down|pw|pass|password|user|name|login|username)){1,4}"
        r" wrong",
        r"(?:if|that) (?:someone|somebody|anyone|one of you) (?:could|can|would)",
        r"right away|straight away|yours (?:sincerely|faithfully|truly)",
        r"without (?:even )?(?:noticing|realising|realizing)(?: it)?",
        r"before (?:the )?(?:board|team|weekly|monthly|staff|customer|client|next|first) "
        r"(?:meeting|call|delivery|shift|run|deadline)",
        r"after(?= passwords? )",
        r"(?:had|have) to set (?:a|my|up a) new (?:one|password)",
        r"gotta (?:send|finish|submit|go|do|prepare|ship|get)(?: SLOT){0,6}",
        r"(?:customers?|clients?) (?:orders?|invoices?|requests?|files?|documents?|data|meeting)",
        r"(?:to|too|so) (?:many|often|much)",
        r"before(?= (?:noon|lunch|the deadline|\d+|eight|nine|ten|eleven) )",
        r"(?:at|all at) once",
        r"(?:could|can|would|will|may|might) (?:someone|somebody|anyone|anybody|one of you)"
        r"(?: (?:on your side|of you|from your team|there|from support|in (?:the|your) team))?",
        r"(?:second|third|fourth|2nd|3rd|4th) time(?: (?:this|in a) (?:day|week|month|year))?",
        r"(?:another|a different|a second|different|other|two|both|three) (?:browsers?|"
        r"computers?)",
        r"(?:keep|keeps|kept|keeping)(?= (?:hitting|saying|telling|showing|typing|"
        r"entering|trying|getting|using|"
        r"locking|mistyping) )",
        r"(?:it|page|portal|system|screen|site|that|and|now|only) (?:tells|told|telling) me",
        r"(?:lock|locks|locked|locking)(?= (?:me|us|myself) (?:out|again) )",
        r"(?:caps|shift|num) ?lock(?: key)?",
        r"look(?= (?:into|at) (?:it|this) )|have a look",
        r"(?:e ?mail|email) address",
        r"(?:working|work) from home",
        r"(?:know|remember|remembered|have|found|recalled|got) (?:now )?(?:the |"
        r"my )?(?:right|correct|new)"
        r"(?: one| password| login| credentials)?",
        r"(?:correct|right) (?:password|one)(?= (?:now|again|at hand|ready|in front|in mind) )",
        r"(?:account|login|portal) lock(?= (?:$|[|]))",
        r"(?:reset|release|lift|remove|undo|clear|open) (?:the|this|"
        r"my) (?:account )?(?:lock|block|lockout)",
        r"while(?= (?:entering|typing|logging|signing) )",
        r"lock(?:ed|ing)? (?:me|myself|my own account|us)(?: out)?",
        r"nothing else(?: is)?(?: wrong| needed)?",
        r"(?:in|on) the (?:middle|phone|line) (?:of|with) (?:SLOT ){1,5}",
        r"(?:can|could) (?:get on|carry on|go on|continue) with (?:SLOT ){1,4}",
        r"(?:get|have) (?:the|this|it|some|our|these) (?:SLOT ){0,3}(?:done|finished|"
        r"sent|ready|off)",
        r"(?:customers?|clients?|trucks?|drivers?|people|team|patients?|students?|"
        r"guests?|orders?) "
        r"(?:is|are) (?:already |all )?waiting(?: SLOT){0,4}",
        r"(?:the )?(?:whole|entire) team",
        r"as (?:soon|quickly|fast|early) as (?:you can|possible|you could|that)",
        r"(?:get|let me|be) back (?:in|into|to work)",
        r"i know how (?:busy|it is)|hope you (?:are|can)",
        # what it is needed for: an open noun behind closed words
        r"(?:have|has|need|needs|had|want|wanted|got|like|supposed|going|ready|about|"
        r"due|order) to (?:"
        r"finish|send|submit|prepare|close|load|approve|check|ship|write|complete|present|"
        r"upload|run|release|hand in|deliver|pay|file|get out|start|begin|do|book|update|"
        r"pack|dispatch|unload|invoice|bill|process|plan|review|read|answer|reply|create|"
        r"calculate|sign|serve|work|teach|host|attend|join|carry on|get on|go on|catch up|"
        r"meet|continue|export|get back to|get through|record|register|enter|confirm|"
        r"follow up|print|handle|report on|see to|go through"
        r")(?: SLOT){0,8}",
        r"(?:so (?:that )?|then )?(?:i|we) (?:can|must|should|could) (?:"
        r"finish|send|submit|prepare|close|load|approve|check|ship|write|complete|present|"
        r"upload|run|release|hand in|deliver|pay|file|get out|start|begin|do|book|update|"
        r"pack|dispatch|unload|invoice|bill|process|plan|review|read|answer|reply|create|"
        r"calculate|sign|serve|work|teach|host|attend|join|carry on|get on|go on|catch up|"
        r"meet|continue|export|get back to|get through|record|register|enter|confirm|"
        r"follow up|print|handle|report on|see to|go through"
        r")(?: SLOT){0,8}",
        r"need (?:it|access|this|the system|the portal|my account|"
        r"them) (?:back )?(?:for|to|by|before)"
        r"(?: SLOT){0,8}",
        r"(?:have|ve|having|has|got|there is) (?:got )?(?:a|an|my|the|our|some|several) (?:SLOT )?"
        r"(?:meeting|demo|deadline|presentation|appointment|audit|release|delivery|"
        r"workshop|training|"
        r"webinar|interview|handover|inspection|visit|closing|stack|pile|bunch|lot|"
        r"list|pitch|class|"
        r"conference|lesson|exam|shift|batch|backlog|call(?= with))(?: SLOT){0,7}",
        r"(?:SLOT ){1,4}(?:is|are) (?:already |all |just )?(?:waiting|due)(?: SLOT){0,4}",
        r"(?:payroll|report|reports|figures|numbers|release|delivery) (?:is|"
        r"are) due(?: SLOT){0,4}",
        r"must of(?= (?:hit|typed|entered|pressed|mistyped) )",
        r"my (?:own )?(?:bad|doing|silly fault|stupid fault)",
        r"(?:sorry )?to be that person(?: on a \w+)?",
        r"(?:came|got) back from (?:my |a )?(?:lunch|break|meeting)"
        r"(?= (?:[|] )?(?:and )?(?:i )?(?:typed|entered|mistyped|misspelled) )",
        r"(?:let|get|put) me (?:back )?(?:in|inside)(?: again)?",
        r"(?:threw|throws|throwing|kicked|kicks|kicking) me (?:straight |right )?out",
        r"(?:written|saved|stored|kept|noted) in (?:my|the) (?:password manager|keepass|vault|"
        r"notebook)",
        r"(?:SLOT ){1,4}(?:has|have|needs?) to (?:be|go) (?:out|done|ready|finished|sent|"
        r"submitted|paid|"
        r"booked|approved|signed|filed)"
        r"(?: (?:by|before|at|until|today|tonight|this|within|tomorrow)(?: SLOT){0,4})?",
        r"(?:SLOT ){1,4}must (?:be|go) (?:out|done|ready|finished|sent|submitted|paid|in|off)"
        r"(?: (?:by|before|at|until|today|tonight|this|within|tomorrow)(?: SLOT){0,4})?",
        r"(?:(?:my|the|our|next) )?(?:shift|call|meeting|training|session|webinar|class|lesson|"
        r"truck|lorry|van|"
        r"train|bus|demo|presentation|deadline|audit|run) (?:starts|begins|leaves|departs|closes|"
        r"ends|is) "
        r"(?:at|in|by|around|before)(?: SLOT){1,5}",
        r"(?:SLOT ){0,3}(?:are|is|re) getting (?:very |a bit |really )?(?:grumpy|angry|nervous|"
        r"impatient|"
        r"restless|annoyed|cross)",
        r"(?:(?:my|our|the) )?(?:boss|manager|director|auditors?|accountants?|bank|customers?|"
        r"clients?|board|"
        r"management|tax office) (?:wants?|expects?|needs?|is waiting for|are waiting for|is "
        r"expecting) "
        r"(?:(?:the|their|my|our|his|her|these|those|some) )?(?:figures|numbers|reports?|"
        r"invoices?|documents?|"
        r"files|lists?|slides|orders?|quotes?|offers?|answers?|papers|statements?)(?: SLOT){0,5}",
        r"(?:all )?(?:my|the|our) (?:slides|files|documents|notes|papers|records|figures|data|"
        r"orders) "
        r"(?:are|is) (?:all )?(?:in|on) (?:the|there|it)",
        r"(?:cannot|cant|can not) (?:do|get) (?:anything|a thing|much|any work done)(?: SLOT){0,4}",
        r"(?:was not|wasnt|am not|not) (?:really |quite |fully )?(?:paying attention|concentrating|"
        r"looking|thinking|careful enough)",
        r"no (?:need|reason) to (?:reset|change) (?:anything|it|the password|my password)",
        r"(?:nothing|no) (?:dramatic|serious|big deal|harm done|drama|worries)",
        r"(?:so )?here i am(?: contacting you| again)?|so to speak",
        r"(?:both|all|any|one) of them",
        r"(?:early |late |night |day )(?=shift )",
        r"(?:before|ahead of|for|in time for|until) (?:a|my|the|our|an|next) (?:SLOT )?(?:call|"
        r"meeting|demo|shift|deadline|"
        r"presentation|training|webinar|audit|delivery|interview|class|exam|pitch|handover)",
        r"(?:before|by|until|till) (?:midnight|midday|\w+ (?:o )?clock|one|two|three|four|five|"
        r"six|seven|eleven|twelve|half past \w+|"
        r"tomorrow|tonight|lunchtime|close of business|cob|eod|the end of (?:the )?(?:day|shift|"
        r"week|month))",
        r"have (?:SLOT ){1,4}to (?:finish|send|submit|prepare|close|load|approve|check|ship|"
        r"write|complete|present|upload|deliver|"
        r"pay|file|book|pack|dispatch|unload|invoice|process|review|sign|print|enter|get out|get "
        r"through)(?: SLOT){0,6}",
        r"(?:sort|fix|solve|resolve|handle) (?:it|this)(?: out)?(?: for me)?|(?:look into|take "
        r"care of|deal with) (?:it|this)(?: for me)?",
        r"(?:it |this )?(?:will not|wont|shall not) happen again",
        r"(?:that|this|below) (?:is |s )?what (?:the|your) (?:system|portal) (?:sent|says|said|"
        r"tells|told|shows|showed)(?: me)?",
        r"please see below|see (?:the )?(?:message|error) below",
        r"(?:this is |it s |its )?OWN(?: OWN)? (?:from|in|at) (?:the )?(?:SLOT )?SLOT(?: here)?|"
        r"this is OWN(?: OWN)?|OWN(?: OWN)? (?:here|speaking)",
        r"(?:password|pin) (?:of|for|from) (?:my|the) (?:bank|e mail|email|computer|laptop|pc|"
        r"phone|wifi|old system|other system)",
        r"open the door(?: again)?(?: for me)?",
        r"before(?= \d+\w* )",
        r"(?:night|evening|morning|early|late)(?= shift )",
        r"(?:the )?(?:password )?(?:change|reset) went (?:through|fine|well)",
        r"(?:the help desk|support|you) wrote",
        r"(?:nobody|no one|no human) can (?:read|hit|type|see) (?:SLOT ){0,4}(?:keys|letters|"
        r"buttons|screen|display|font)",
    ),
    "de": (
        r"(?<= )nicht(?: mehr)?(?= (?:anmelden|einloggen|rein|hinein|ins|arbeiten|weiter|"
        r"weiterarbeiten|zugreifen|an mein|auf mein|in mein|ans|auf das|in das|drauf) )",
        r"(?:geht|klappt|funktioniert|ging|klappte|funktionierte|akzeptiert|geht es|"
        r"nimmt|geht das)"
        r" (?:jetzt |leider |seitdem |bei mir |gerade |auch |heute |einfach |"
        r"seit heute |plotzlich )*"
        r"nicht(?: mehr)?",
        r"(?:komme|kam|kommen|komm) (?:ich )?(?:jetzt |leider |nun |seitdem |gerade |heute )*"
        r"nicht(?: mehr)?",
        r"(?:kann|konnte|konnen) (?:ich |mich |wir |uns |leider |seitdem |jetzt |nun |"
        r"heute |aktuell "
        r"|momentan |gerade )*nicht(?: mehr)?(?= (?:anmelden|einloggen|arbeiten|rein|"
        r"ins|auf|an|in) )",
        r"ohne (?:es |das )?zu (?:merken|bemerken)",
        r"nicht (?:gemerkt|bemerkt|gesehen|aufgefallen|aufgepasst|mehr erinnert)",
        r"kein(?:en|e)? (?:zugriff|zugang)(?: mehr)?",
        r"(?:ohne) (?:zugriff|zugang|das system|das portal)",
        r"k(?:onn|oenn)te (?:jemand|einer) (?:von ihnen|aus dem team)?|konnten sie",
        r"(?:das|zum) (?:zweite|dritte|zweiten|dritten) mal(?: (?:diese|diesen) (?:woche|monat))?",
        r"so (?:schnell|bald) wie moglich",
        r"(?:muss|mussen|sollte|soll)(?: SLOT){1,8} (?:fertig|abschliessen|machen|schicken|senden|"
        r"verschicken|abgeben|einreichen|vorbereiten|erledigen|versenden|buchen|"
        r"freigeben|erstellen|"
        r"liefern|unterschreiben|fertigstellen|fertig machen|fertig stellen|verladen|beginnen)",
        r"(?:fangt|beginnt|startet|kommt) (?:SLOT ){1,4}(?:an)?",
        r"(?:brauche|benotige|brauchte) (?:ich )?(?:es|ihn|das|sie|den zugang|"
        r"den zugriff|das system|das portal|"
        r"die unterlagen|die daten|meinen zugang|mein konto|zugriff|zugang)(?: dringend)?"
        r"(?: (?:fur|aus|auf)(?: SLOT){1,5})?",
        r"habe ich (?:eine|einen) (?:\w+ )?(?:besprechung|termin|prasentation|abgabe|"
        r"frist|meeting)",
        r"(?:SLOT ){1,4}(?:warten|wartet)(?: schon| bereits| auf mich| dringend)*",
        r"(?:mich|mir) (?:selbst )?(?:aus|ein)gesperrt",
        r"(?:das )?(?:darf|kann) doch (?:wohl )?nicht wahr sein",
        r"(?:sitze|sitz) (?:ich )?(?:hier )?(?:wie )?auf (?:heissen )?kohlen",
        r"(?:(?:der|die|mein|meine|unser|unsere) )?(?:chef|chefin|kunde|kunden|kundin|bank|"
        r"prufer|steuerberater|"
        r"vorgesetzter|fahrer|geschaftsfuhrung) (?:will|wollen|braucht|brauchen|wartet|warten|"
        r"erwartet)"
        r"(?: (?:schon |bereits |jetzt )?(?:auf )?(?:die|den|das|meine|unsere|seine|ihre) "
        r"(?:zahlen|unterlagen|liste|listen|rechnung|rechnungen|bericht|berichte|ware|angebot|"
        r"angebote))?"
        r"(?: (?:bis|um|vor|heute|noch|schon)(?: SLOT){0,3})?",
        r"(?:um|bis|vor|heute|morgen) (?:SLOT ){0,2}(?:muss|mussen|soll|sollen) (?:SLOT "
        r"){1,4}(?:raus|fertig|los|weg|"
        r"stehen|fertig sein|vorliegen)",
        r"(?:ist|war) mir (?:mittlerweile |inzwischen |naturlich |wieder )*bekannt",
        r"ins gedachtnis(?: zuruck)?(?: gerufen)?",
        r"(?:geht|gehen|ging) (?:auf )?(?:meine|auf meine) (?:kappe|rechnung)",
        r"(?:bis|ehe) (?:mich )?(?:das |der )?(?:portal|system|rechner) mich (?:ausgesperrt|"
        r"rausgeworfen|gesperrt)(?: hat)?",
        r"(?:nicht|kaum) (?:ganz |richtig )?(?:wach|bei der sache|konzentriert|aufgepasst)",
        r"(?:kommt|wird|soll) nicht (?:wieder|mehr) (?:vor|vorkommen|passieren)|passiert (?:mir "
        r")?nicht (?:wieder|mehr)",
        r"(?:hier (?:ist|spricht|schreibt) )OWN(?: OWN)?(?: (?:aus|von) (?:der |dem |den )?SLOT)?",
        r"(?:passwort|kennwort|pin) (?:von|fur|vom|meiner|meines) (?:meinem |meine |meiner |dem |"
        r"der )?(?:bank|e mail|email|rechner|laptop|"
        r"handy|wlan|anderen system|anderes system|privaten konto)",
    ),
    "fr": (
        r"(?:n|ne)(?= (?:y )?(?:arrive|peux|parviens|fonctionne|marche|reussis|accepte|"
        r"reconnait|me "
        r"laisse|m accepte|accede) (?:\w+ )?(?:plus|pas) )",
        r"(?<=arrive )(?:plus|pas)|(?<=peux )(?:plus|pas)|(?<=parviens )(?:plus|pas)"
        r"|(?<=marche )(?:plus|pas)|(?<=fonctionne )(?:plus|pas)|(?<=reussis )(?:plus|pas)"
        r"|(?<=accepte )(?:plus|pas)|(?<=laisse )(?:plus|pas)|(?<=accede )(?:plus|pas)",
        r"n (?:ai|avais) (?:pas|plus) (?:acces|remarque|vu|fait attention)",
        r"mot de passe (?:errone|incorrect)",
        r"sans (?:m en |le )?(?:apercevoir|rendre compte|remarquer)(?: de rien)?",
        r"ca me (?:bloque|dit)|(?:me|m) debloquer",
        r"(?:des|aussi vite|le plus vite|le plus rapidement|au plus vite) (?:que )?possible",
        r"deuxieme fois",
        r"(?:le|la|les|mon|mes|notre|nos) (?:clients?|directeur|direction|comptable|banque|"
        r"chauffeur|equipe) "
        r"(?:s impatiente(?:nt)?|attend(?:ent)?|m attend(?:ent)?|veut|veulent|demande(?:nt)?|"
        r"reclame(?:nt)?)(?: SLOT){0,4}",
        r"je dois (?:absolument )?(?:envoyer|finir|terminer|preparer|rendre|finaliser|"
        r"presenter|livrer|"
        r"valider|cloturer|signer|travailler|faire)(?: SLOT){0,8}",
        r"(?:j ai|ai|avons) besoin (?:de |d |du )(?:mon|mes|ma|l|y|le|la|ce)?(?: SLOT){1,3}",
        r"(?:j ai|ai|nous avons) une? (?:reunion|presentation|rendez vous|echeance|"
        r"livraison|audit)"
        r"(?: SLOT){0,7}",
        r"(?:j ai|ai|avons|il y a) (?:des|une|un|beaucoup de|plusieurs|la|le|"
        r"les) (?:SLOT ){1,3}a (?:"
        r"traiter|faire|finir|envoyer|preparer|rendre|livrer|valider|terminer|"
        r"cloturer)(?: SLOT){0,5}",
        r"(?:SLOT ){1,4}(?:attendent|attend)(?: SLOT){0,4}",
        r"(?:je viens|on vient|venant) de (?:rentrer|revenir) de (?:dejeuner|pause|la pause|"
        r"reunion)"
        r"(?= (?:[|] )?.*tape )",
        r"sans (?:que )?(?:je |m en |le )*(?:apercoive|apercevoir|rende compte|remarque|voir|"
        r"faire attention)",
        r"(?:SLOT ){1,3}(?:doit|doivent) (?:partir|sortir|etre (?:prete?s?|finie?s?|envoyee?s?|"
        r"rendue?s?))"
        r"(?: (?:avant|a|aujourd|ce|cet|cette|demain|dans)(?: SLOT){0,4})?",
        r"(?:je|nous) (?:dois|devons) (?:absolument )?(?:transmettre|envoyer|finir|terminer|"
        r"preparer|rendre|valider|"
        r"boucler|cloturer|facturer|expedier|imprimer|traiter)(?: SLOT){0,8}",
        r"(?:il )?ne (?:me )?(?:manque|reste) plus que(?: le| la)?",
        r"(?:avant de|avant que je) (?:m en|ne m en|le) (?:rendre compte|apercevoir|remarquer)",
        r"n etais pas (?:bien |tres )?(?:reveille|reveillee|concentre|concentree|attentif|"
        r"attentive)",
        r"(?:j ai|ai) une? cliente? (?:au telephone|en ligne|qui attend)(?: SLOT){0,4}",
        r"(?:j ai|ai|avons) besoin (?:de |d )?(?:son|sa|ses|leur|leurs)(?: SLOT){1,3}",
        r"(?:ca |cela )?n arrivera plus|ne se reproduira (?:plus|pas)",
        r"(?:ici|c est) OWN(?: OWN)?(?: (?:de|du|des|a) (?:la |l )?SLOT)?",
        r"sans (?:que )?(?:je )?(?:m )?(?:en )?(?:apercoive|apercevoir)",
        r"mot de passe (?:de|du|d) (?:ma |mon |un |l )?(?:banque|messagerie|mail|ordinateur|"
        r"telephone|wifi|autre \w+)",
    ),
    "es": (
        r"no(?= (?:puedo|me deja|me permite|funciona|consigo|logro|podia|pude|acepta|me acepta|"
        r"reconoce|tengo acceso|me di cuenta|me fije|recordaba|me acordaba|llego|ha llegado) )",
        r"me di cuenta|me fije|me acordaba|se me",
        r"sin acceso",
        r"sin (?:darme cuenta|querer|fijarme)",
        r"(?:despues de|tras)(?= (?:varios|varias|demasiados|demasiadas|muchos|cinco|"
        r"tres|cuatro|poner|"
        r"escribir|equivocarme|introducir|teclear|cambiar) )",
        r"antes de(?: SLOT){1,3}",
        r"(?:puedo|podemos) hacer nada",
        r"segunda vez|otra vez|a la vez",
        r"clientes (?:en espera|esperando|al telefono|enfadados|nerviosos)",
        r"lo antes posible|cuanto antes",
        r"(?:tengo|tenemos) que (?:terminar|enviar|entregar|preparar|cerrar|presentar|"
        r"atender|hacer|"
        r"mandar|trabajar|facturar|firmar|acabar|revisar|pagar|contestar|tramitar|"
        r"gestionar|preparar)(?: SLOT){0,8}",
        r"(?:necesito|necesitamos) (?:entrar|acceder|trabajar|mi cuenta|el sistema|"
        r"los documentos|el "
        r"acceso)(?: SLOT){0,6}",
        r"(?:tengo|tenemos) (?:una|un|mucho|muchos|muchas) (?:reunion|presentacion|"
        r"trabajo|clientes|"
        r"entrega|cita|llamadas|pedidos)(?: SLOT){0,6}",
        r"(?:SLOT ){1,4}(?:esperan|estan esperando)(?: SLOT){0,3}",
        r"(?:sin (?:el sistema|el portal|acceso|la cuenta|mi cuenta) )?no (?:puedo|podemos) "
        r"(?:hacer nada|trabajar|"
        r"seguir|continuar|avanzar)(?: sin (?:el|la) \w+)?",
        r"sin (?:el sistema|el portal|acceso|la cuenta|mi cuenta)(?: no puedo (?:hacer nada|"
        r"trabajar|seguir))?",
        r"un monton de (?:SLOT ){1,3}(?:en espera|esperando|pendientes?|por (?:enviar|hacer|"
        r"atender|revisar))",
        r"(?:hable|contacte|contactar|hablar) con (?:el|mi|su) administrador",
        r"(?:no estaba|sin estar) (?:muy |del todo )?(?:despierto|despierta|atento|atenta|"
        r"concentrado|concentrada)",
        r"(?:SLOT ){1,4}(?:tiene|tienen) que (?:salir|estar|llegar|enviarse|ir)"
        r"(?: (?:antes|hoy|a|esta|este|manana|listo|lista|listos|listas)(?: SLOT){0,4})?",
        r"no volvera a (?:pasar|ocurrir|suceder)",
        r"(?:soy|aqui|habla) OWN(?: OWN)?(?: (?:de|del) (?:la |el )?SLOT)?",
        r"(?:con|por) (?:la|mi) (?:contrasena )?(?:del|de mi|de la) (?:correo|banco|movil|"
        r"portatil|ordenador|wifi|otro sistema|otro programa)",
    ),
}
"""Expressions for what words alone do not tell, over words parted by spaces.

SLOT is any word but those of `ALARMS`, `OTHERS`, `NEGATIONS` and `JOINTS`: an open noun behind
closed words. `|` stands where punctuation stood.
"""

MISTYPED = (
    *("account", "password", "blocked", "unlocked", "attempts", "message", "several", "morning"),
    *("passwort", "gesperrt", "entsperren", "anmelden", "freischalten", "mehrmals", "eingegeben"),
    *("debloquer", "verrouille", "connecter", "contrasena", "bloqueada", "desbloquear", "please"),
)
"""Words that may have one letter wrong: long ones that nothing else is near to."""

ALARMS = lexicon("""
    stranger* unknown suspicious suspect* strange* weird odd oddly stole* theft thief thieves lost
    loss losing missing gone vanish* disappear* hack* attack* phish* fake* scam* spoof* virus
    malware police leak* expos* compromis* fraud* intru* breach* impersonat* misuse* abus* tamper*
    ransom* break-in breakin burgl* robbed robber* fremd* unbekannt* gestohlen geklaut diebstahl
    einbruch verloren verlust verdacht* komisch seltsam gehackt angriff* angegriffen betrug*
    betrug gefalscht* merkwurdig wundere missbrauch* polizei ausgespaht inconnu* bizarre etrange
    vol vole volee volees voleur* perdu perdue pirat* hamec* arnaque* intrus* usurp* attaque* robo
    robado robada robaron rob* perdi perdido perdida extran* sospech* raro rara desconocid* estaf*
    ataque* hackea* suplant* fraude* policia ladron*
""")
"""Words of loss, theft, attack and surprise: they close slots, and choose who reads a ticket."""

STRANGERS = lexicon(
    "someone somebody anyone anybody nobody jemand* niemand quelqu personne alguien"
)
OTHERS = STRANGERS | lexicon("""
    he she him her his hers they them their boss manager colleague* coworker* assistant wife
    husband son daughter sister brother mother father friend* mate intern trainee neighbour*
    roommate er ihm ihn kolleg* chef chefin vorgesetzt* sohn tochter frau mann bruder schwester
    freund* freundin elle lui leur collegue* patron cheffe fils fille femme mari frere soeur ami
    amie stagiaire ella ellos jefe jefa companer* hijo hija mujer marido hermano hermana amigo
    amiga becari*
""")
"""Other people: they close the slots, too."""

NEGATIONS = lexicon("""
    not no never nothing none neither nor without dont doesnt didnt isnt wasnt arent werent havent
    hasnt hadnt wont wouldnt cant cannot couldnt shouldnt hardly instead except unless rather
    nicht nie niemals kein* ohne nichts niemand weder ne n pas jamais rien sans aucun* personne ni
    nunca nada sin nadie ningun* jamas tampoco
""")
"""A slot holds none of them."""

JOINTS = _TABLES["JOINTS"]
"""Words that begin something of their own: a slot ends before them."""
