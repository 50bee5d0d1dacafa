"""Which capitalised names are a person's, by closed lists of given names and of what no person is.

Rules over the name alone; it knows nobody. A name that no list knows is left to its sentence.
"""

import re
import unicodedata

_GIVEN = """
    aaron abdul abdullah abigail adam aditya adrian agnes agnieszka ahmad ahmed ahmet aino aisha
    akira alain alan albert alberto alejandro aleksander aleksandra alessandro alessia alex
    alexander alexandra alexis alfred ali alice alicia alina alison alma amara amelia amina amir
    amit amy ana anastasia anders andrea andreas andrei andrew andrey andrzej angela angelo
    anita anja anjali ann anna annalena anne annelena annette annika anton antonia antonio aoife
    arjun armin arne arthur asha ashok astrid aurelie avi axel ayesha ayse aziz barbara bartosz
    beata beatrice beatriz ben benedikt benjamin bernard bernd bianca bilal birgit bjorn bob
    bogdan boris brandon brenda brian brigitte bruno camille carla carlos carmen carol caroline
    catarina catherine cecilia celine cesar charles charlotte chiara chloe chris christian
    christina christine christoph christopher claire clara claudia claudio clement conor corinna
    cristian cristina cynthia daan dagmar damian dan daniel daniela daniele danielle dario
    darius david deborah deepa deepak denis dennis derek diana diane diego dieter dimitri
    dimitris dirk dmitri dominik donald dora dorota dorothea dorothy douglas edith eduardo
    edward eero eila elena eleni eleonora eli elias elif elin elisa elisabeth elise elizabeth
    ella ellen elsa emil emilia emilie emily emma emmanuel enrico enrique eric erica erik erika
    ernst esra esther ethan eugene eva evelyn ewa fabian fabio farid farida fatima fatma
    federico felipe felix fernanda fernando filip finn fiona florian francesca francesco francis
    francisca francisco francois frank franz fred frederic frederik freja frida friedrich
    gabriel gabriela gabriele gareth gary gemma george georges georgios gerard gerd gerhard
    giacomo gianluca gillian gina giorgio giovanni giulia giuseppe gloria gordon grace graham
    greg gregor gregory greta grzegorz guillaume gunnar gunter gustav hakan hamid hamza hanna
    hannah hannes hans harald haruka haruto hassan heather heidi heike heinrich heinz helen
    helena helene helga henri henrik henry herbert hiroshi holger hugo hussein ian ibrahim ida
    ignacio ilse ines inga inge ingrid ioana irena irene irina iris isabel isabella isabelle
    ismail ivan ivana jack jacob jacqueline jacques jakob jakub jamal james jan jana jane janet
    janina janine jarek jason javier jean jeanpierre jeff jeffrey jennifer jenny jens jeremy
    jerome jessica jim jiwoo joan joana joanna joao joel joerg johan johann johanna johannes
    john jonas jonathan jorge jose josef joseph joshua juan judith juha julia julian juliana
    julie julien julius jun jurgen justin justyna kai kamal kamil karen karim karin karl karol
    karolina katarina katarzyna kate katharina katherine kathleen kathrin katja kaya keith kemal
    kenji kenneth kenta kerstin kevin khaled kim kirsten klara klaus konrad konstantin krishna
    kristian kristin kristina krzysztof kwame lara lars laszlo laura laurence laurent lea leah
    leila lena lennart leo leon leonardo leonie leticia leyla liam lidia lina linda linh lisa
    liu lorenzo louis louise luc luca lucas lucia luciana lucie lucy ludwig luis luisa luiza
    lukas luke lydia maciej maeve magdalena magnus mahmoud maja malik malin manfred manuel
    manuela marc marcel marcello marcin marco marcos marcus marek margaret margarita margot
    maria marian mariana marianne marie marina mario marion marisa marius mark marko markus
    marta martha martin martina mary mateo mateusz mathias mathieu mathilde matilda matteo
    matthew matthias maurice max maximilian maya megan mehmet mei melanie melissa mercedes
    michael michaela michal michel michele michelle miguel mihai mika mikael mikkel mila milan
    minh mira miriam mirjam mohamed mohammad mohammed moritz muhammad mustafa nadia nadine nadja
    nancy naoko naomi natalia natalie natasha nathalie nathan neha nelson ngozi nicholas nick
    nicola nicolas nicole niels nigel nikhil nikolai nikolaos nils nina noa noah noam noemi nora
    norbert odile olaf ole oleg olena olga oliver olivia olivier omar oscar oskar otto ousmane
    pablo pamela paola paolo pascal patrice patricia patrick patrik paul paula paulina pavel
    pawel pedro peggy penelope per peter petra philip philipp philippe pia pierre pieter pietro
    pilar piotr pooja priya przemyslaw rachel rafael rafal rahul raj rajesh ralf ralph ramon
    raquel rashid raul ravi raymond rebecca regina reinhard renata renate rene ricardo richard
    rita robert roberta roberto robin rodrigo roger roland rolf romain roman ronald rosa rosario
    rosemary rowan ruben rudolf rui ruth ryan saad sabine sabrina salim sally salma salvatore
    sam samantha samir samuel sandra sanjay sara sarah sascha scott sean sebastian selim selma
    serge sergei sergio seung severin shane sharon shreya sigrid silke silvia simon simona
    simone sofia sofie solange sonia sonja sophia sophie soren stefan stefania stefano stella
    stephan stephanie stephen steve steven stuart sunil susan susana susanna susanne suzanne
    sven svetlana sylvia sylvie tania tanja tariq tatiana teresa tess thea theo theodor theresa
    therese thomas thorsten tiago tim timo timothy tina tobias tom tomas tomasz tommaso torsten
    tran tristan ulrich ulrike ursula uwe vaclav valentin valentina valeria vanessa vera
    veronica veronika vicente victor viktor viktoria vincent vincenzo vinod viola virginie vitor
    vivian vladimir walter wanda wei werner wilhelm willem william wojciech wolfgang xavier xiao
    yan yang yann yara yasmin yasmine ying yoko yuki yulia yusuf yves yvonne zahra zainab zeynep
    zoe zofia zsofia zuzanna
"""
_GIVEN_NAMES = frozenset(_GIVEN.split())
_THINGS = """
    academy account act agency air airlines airport alert api app approach arena association
    avenue award bank bay beach benz bible board books bookshop bot bridge brothers building
    bureau cafe camp campus capital castle cathedral center centre channel church city clause
    clinic cloud club coast code college company computing conference construction consulting
    corp corporation council county court creek cup dashboard database day deal department
    design desk development drive edition effect electric energy engine estate exchange fair
    family farm festival field finance firm fish foods forest format foundation framework fund
    gallery garden gardens gateway gems gmbh golf graph group guide hall harbor harbour hardware
    hash hill hills holding holdings home hospital hotel house inc index industries institute
    insurance interface international island islands journal kitchen lab labs lake lane law
    league library limited line lines llc logistics ltd machine magazine mall marathon market
    media memorial mill mine mode model motors mountain museum network news number office oil
    operations palace paradox park partners path period pharma phase pipeline place plan plant
    platform plaza point policy port press principle prize process product products program
    programme project protocol radio railway region register release reports reserve resort
    restaurant river road rock room route rule sauce scale school score scotia sea security
    server service services shop site society software solutions sound sprint square stadium
    standard state station steel store street studio studios suite summit support syndrome
    system systems team tech technologies technology temple terrace test theatre theorem theory
    tower town trail trust union university valley vault venture ventures village vineyard ward
    water wave way web widgets winery wing works world yard zone
"""
_NO_PERSON = frozenset(_THINGS.split())
_TITLE = "dr prof professor mr mrs ms miss mx herr frau monsieur madame senor senora sir"
_PARTICLE = "al bin da de del della den der di do dos du el la le o van von y zu"
_TITLES = frozenset(_TITLE.split())
_PARTICLES = frozenset(_PARTICLE.split())
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*\.?")
_BARRED = str.maketrans({"\u0142": "l", "\u00f8": "o", "\u0131": "i"})  # letters that no mark makes
_MOST_WORDS = 5


def is_person_name(name: str) -> bool:
    """Return whether a name of two to five words begins like a person's and ends like no thing.

    A title will do instead of a known given name.
    """
    words = _name_words(name)
    if words is None:
        return False
    titled = len(words) > 1 and _plain(words[0]) in _TITLES
    words = words[1:] if titled else words
    begins = titled or _plain(words[0]) in _GIVEN_NAMES
    return begins and (titled or len(words) > 1) and not _is_thing(words)


def may_be_person(name: str) -> bool:
    """Return whether somebody may be called so, where the sentence speaks of a person's doing.

    One known given name, or two capitalised words and more that end like no thing.
    """
    words = _name_words(name)
    if words is None or _is_thing(words):
        return False
    return len(words) > 1 or _plain(words[0]) in _GIVEN_NAMES


def _name_words(name: str) -> list[str] | None:
    """Return the words of a name, None when it has others than a person's may have."""
    words = name.split()
    if not 0 < len(words) <= _MOST_WORDS or not all(_WORD.fullmatch(word) for word in words):
        return None
    kept = [word for word in words if _plain(word) not in _PARTICLES]
    return words if kept and all(item[0].isupper() or item[0].istitle() for item in kept) else None


def _is_thing(words: list[str]) -> bool:
    return any(_plain(word) in _NO_PERSON for word in words[1:]) or len(_plain(words[-1])) < 2


def _plain(word: str) -> str:
    """Return a word without case, marks and hyphens, so that Björn is bjorn."""
    apart = unicodedata.normalize("NFKD", word.casefold().translate(_BARRED))
    return "".join(item for item in apart if item.isalpha())
