"""Which capitalised names are a person's, by closed lists of given names and of what no person is.

Rules over the name alone; it knows nobody. A name that no list knows is left to its sentence.
"""

import re
import unicodedata

_GIVEN = """
    aaliyah aarav aaron abby abdul abdullah abebe abigail adam ade adebayo adele aditi aditya
    adrian adwoa agata agnes agnieszka agustin ahmad ahmed ahmet aiden aino ainsley aisha akira
    akua alain alan alana albert alberto alec alejandra alejandro aleksander aleksandra
    alessandra alessandro alessia alex alexander alexandra alexis alfred ali alice alicia alicja
    alina alison allison alma alonso alyssa amanda amara amelia amelie amina amir amit amos
    amparo amy ana anand ananya anastasia anders andre andrea andreas andrei andrew andrey
    andrzej angela angelica angelina angelo angie anika aniket anil anita anja anjali ann anna
    annabel annabelle annalena anne anneke annelena annette annie annika anselmo antje anton
    antonia antonio aoife arash ariana ariel arif arjan arjun armin arnav arne arnold arthur
    arya aryan asha ashley ashok ashton astrid audrey aurelie ava avery avi axel ayesha ayo ayse
    aziz babak barbara barry bartosz bastien beata beatrice beatrix beatriz becky belen belinda
    bella ben benedikt benito benjamin benny bente bernard bernd beth bethany betty bianca bilal
    birgit bjarne bjorn bob bobby bogdan bonnie boris brad bram brandon brayden brenda brett
    brian brianna bridget brigitte britta brody bruce bruna bruno bryan caetano caitlin caleb
    calvin camille candela candice carina carla carlos carly carmen carol caroline carrie
    carsten casey cassandra cassie catarina catherine cathy cecilia cedric celine cesar chantal
    charles charlie charlotte cheryl chiara chidi chinedu chloe chris christian christina
    christine christoph christopher christy cindy claire clara clare clark claudia claudio
    clayton clemens clement cleo clifford clint clive cody colin colleen connie connor conor
    consuelo corentin corey corinna courtney craig cristian cristina cristobal curtis cynthia
    cyrus daan dagmar damian dan daniel daniela daniele danielle daphne darcy dario darius
    darren dave david davina debbie deborah declan deepa deepak delia denis denise deniz dennis
    derek desmond dev devi diana diane diego dieter dimitri dimitris dinah dirk divya dmitri
    dolores domenico dominic dominik don donald donna dora doris dorota dorothea dorothy doug
    douglas drake duarte duncan dustin dwayne dylan ece ed edda eddie edgar edith eduardo edward
    eero eila eileen eitan elaine eleanor elena eleni eleonora eli elias elif elijah elin elisa
    elisabeth elisabetta elise eliska elizabeth elke ella ellen ellie elliot elliott elsa elsie
    elton elvis emanuel emeka emiel emil emilia emiliano emilie emily emma emmanuel emmett emre
    enrico enrique enzo erdem eric erica erik erika erin ernest ernst esme esmeralda esperanza
    esra esteban estefania estelle esther ethan eugene eva evan evelyn evie ewa ewan eyal ezra
    fabian fabio fabrizio farah farhan farid farida fatima fatma faye federica federico felicia
    felicity felipe felix femi femke fenna fergus fernanda fernando filip filippo finn fiona
    flavia flavio fleur flora florian flynn fran frances francesca francesco francis francisca
    francisco francois frank frankie franz fred freddie frederic frederik freja freya frida
    frieda friedrich gabby gabe gabriel gabriela gabriele gareth gary gaspar gaspard gavin geert
    gemma genevieve geoff geoffrey george georges georgios gerald gerard gerd gerda gerhard
    gerrit gerry giacomo gianluca gilbert giles gillian gina ginny giorgio giorgos giovanni
    gisela gita giulia giuseppe gladys glenda glenn gloria gonzalo gopal gordon grace graciela
    graham greg gregor gregory greta gretchen grzegorz guilherme guillaume gunnar gunter gus
    gustav gwen gwenaelle hadi hailey hakan haley halima hamid hamza hana hanna hannah hannes
    hans harald harper harriet harry haruka haruto harvey hassan hayden heather heidi heike
    heinrich heinz helen helena helene helga hendrik henri henriette henrik henry herbert hilary
    hilde hiro hiroshi holger holly howard huda hugo hussein iain ian ibrahim ida idris ifeoma
    ignacio iker ikram ilaria ilse iman imani imke imogen imran inacio indira ines inga inge
    ingmar ingrid ioana ira irena irene irina iris irma isaac isabel isabella isabelle isaiah
    ishaan isidro isla ismail itziar ivan ivana jack jackie jacob jacqueline jacques jaden jake
    jakob jakub jamal james jamie jan jana jane janet janina janine jannik jared jarek jason
    jasper javier jayden jean jeanpierre jeff jeffrey jen jenna jennifer jenny jens jeremiah
    jeremy jeroen jerome jerry jess jesse jessica jette jia jill jillian jim jimena jimmy jin
    jiwoo jo joan joana joanna joanne joao joaquin jodie joe joel joerg joey johan johann
    johanna johannes john jonas jonathan jonna jordi jorge joris jose josef josefina joseph
    josephine josh joshua josie joyce juan juanita judith judy juha jules julia julian juliana
    julianne julie julien juliet juliette julius juma jun jurgen justin justine justyna jutta
    kabir kai kaitlyn kaja kamal kamala kamil kara karan karen karim karin karl karol karolina
    karsten katarina katarzyna kate katharina katherine kathleen kathrin kathryn kathy katie
    katja katrin katy kavya kaya kayla keiko keira keith kelsey kemal ken kendra kenji kenneth
    kenny kenta kerry kerstin kev kevin khaled khalid kiara kieran kim kimberly kiran kirk
    kirsten kirsty kjell klara klaus kofi konrad konstantin krishna kristen kristian kristin
    kristina krzysztof kunal kurt kwabena kwame kyle kylie lacey lachlan laia lakshmi lana lara
    lars lasse laszlo latifa laura lauren laurence laurent laurie layla lea leah leandro leanne
    lee leigh leila lena lennart leo leon leonardo leonie leroy leslie lester leticia lewis
    leyla liam liana lidia lieke liesbeth lieselotte ligia lila lilian lillian lina linda
    lindsay lindsey linh lisa liu liv liz lizzie lola lorena lorenzo loretta lori lorna lorraine
    lotte lottie louis louisa louise luc luca lucas lucia luciana luciano lucie lucinda lucy
    ludwig luigi luis luisa luiza lukas luke luna lydia lyle lynn maarten mabel maciej mackenzie
    maddie madeleine madeline mae maeve magdalena maggie magnus mahesh mahmoud maike maite maja
    malcolm malik malin mallory malte manfred manish manny manuel manuela mara marc marcel
    marcela marcello marcia marcin marco marcos marcus marek margaret margarita margie margot
    marguerite maria mariam marian mariana marianne maribel marie marieke marilyn marina mario
    marion marisa marisol marit marius marjorie mark marko markus marlene marlon marshall marta
    martha martin martina martine marvin mary maryam massimo mateo mateus mateusz mathias
    mathieu mathilde mathis matilda matt matteo matthew matthias maureen maurice mauro mavis max
    maximilian maxine maya meera megan mehdi mehmet mei melanie melinda melissa mercedes
    meredith mette mia michael michaela michal michel michele michelle mickey miguel mihai miho
    mika mikael mike mikey mikkel mila milagros milan mildred millie milo mindy minh minnie mira
    miranda miriam mirjam mirko miro mitch mitchell mohamed mohammad mohammed mohit moira molly
    mona monica monique moritz morris muhammad muriel musa mustafa myra nabil nadeem nadia
    nadine nadja naila nancy naoko naomi natalia natalie natasha nate nathalie nathan nathaniel
    naveen ned neha neil nele nelly nelson nettie neve nevin ngozi nia niamh nicholas nick
    nicola nicolas nicole niels nigel nikhil nikita nikki niklas nikolai nikolaos nikos nils
    nima nina nisha noa noah noam noemi noemie nolan noor nora norah norbert norman nour nuria
    obinna oceane octavia octavio odette odile oisin olaf ole oleg olena olga oliver olivia
    olivier ollie oluwaseun omar omid ophelia orhan oriol orla orlando oscar oskar oskari oswald
    otis otto ousmane owen pablo paloma pam pamela paola paolo pascal patrice patricia patricio
    patrick patrik pattie patty paul paula paulina pauline pavel pawel pedro peggy pekka
    penelope pepe per percy pernille perry pete peter petra phil philip philipp philippe phoebe
    phyllis pia pierre pieter pietro pilar pim piotr polly pooja pranav priscilla priya
    przemyslaw quentin quirin rachel rae rafael rafal raffaele rahul raj rajesh ralf ralph
    ramiro ramon ramona randall randy rani raquel rashid rasmus raul ravi raymond reagan rebecca
    rebekah reggie regina reinhard reinout renata renate rene reuben reza rhiannon rhonda
    ricardo richard riley rina rita robbie robert roberta roberto robin rocco rocio rodney
    rodrigo roger rohan rohit roland rolf romain roman ron ronald ronan ronnie rory rosa rosalie
    rosalind rosario rosemary rosie ross rowan roxanne roy roya ruben ruchi rudolf rufus rui
    russell ruth ruud ryan saad sabine sabrina sadie sakura sal salim sally salma salvador
    salvatore sam samantha samir samuel sana sandeep sander sandra sania sanjay sanne santiago
    sara sarah sascha sasha saskia satoshi saul scott sean sebastian sebastien sefa selena selim
    selin selma serena serge sergei sergio seth seung severin shabnam shane shannon sharon shaun
    shauna shawn sheila shelby sheldon shelley sheri sherry shira shirley shreya sid sienna
    signe sigrid sigurd silas silke silvana silvia simao simon simona simone sina sjoerd skylar
    sofia sofie solange soledad solveig sonia sonja sophia sophie sora soraya soren spencer
    stacey stacy stan stefan stefania stefano stella steph stephan stephanie stephen steve
    steven stewart stijn stuart sunil suresh susan susana susanna susanne susie suzanne suzy
    sven svenja svetlana sybil sylvia sylvie tabitha tamara tammy tania tanisha tanja tara tariq
    tasha tatiana ted teddy tenzin terence teresa teri terrence terri terry tess tessa teun
    thabo thalia thea theo theodor theodora theodore theresa therese thiago thibault thijs
    thomas thorsten tiago tiffany tilly tim timmy timo timon timothy tina tobias toby todd tom
    tomas tomasz tommaso toni tonio tony torsten tove tracey tran travis trevor tricia trish
    tristan trudy tunde tuomas ulrich ulrike una ursula uta uwe vaclav valentin valentina
    valentino valeria valerie vanessa varun vasco vasilis vaughn velma vera vernon veronica
    veronika vicente vicenzo vicky victor vijay vikram viktor viktoria vilma vinay vince vincent
    vincenzo vinod viola virgil virginie vitor vivian vivien vladimir wallace walter wanda
    wanjiru warren wei wen wendy werner wesley whitney wiebke wilfred wilhelm willa willem
    william wilma wim winifred winston wojciech wolfgang wout wyatt xander xavier xiao ximena
    xin yael yan yang yann yannick yara yasin yasmin yasmine ying yoko yolanda yonatan yosef
    yuki yulia yuna yusuf yuto yves yvette yvonne zac zach zachary zack zadie zahra zainab zane
    zara zdenek zeinab zeke zelda zendaya zeynep zhang zoe zofia zsofia zuri zuzanna
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


def is_given_name(word: str) -> bool:
    """Return whether a word is a given name that the list knows."""
    return _plain(word) in _GIVEN_NAMES


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
    name_words = [word for word in words if _plain(word) not in _PARTICLES]
    return (
        words
        if name_words and all(item[0].isupper() or item[0].istitle() for item in name_words)
        else None
    )


def _is_thing(words: list[str]) -> bool:
    return any(_plain(word) in _NO_PERSON for word in words[1:]) or len(_plain(words[-1])) < 2


def _plain(word: str) -> str:
    """Return a word without case, marks and hyphens, so that Björn is bjorn."""
    apart = unicodedata.normalize("NFKD", word.casefold().translate(_BARRED))
    return "".join(item for item in apart if item.isalpha())
