"""Words that make a phrase prose or a log line instead of a name. Closed lists, English and French.

Not the stop words of search (`text.words`): these also hold common verbs and adverbs.
"""

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
