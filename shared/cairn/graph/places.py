"""Places with names of one word: countries, regions, larger cities. A closed list, no rules."""

_PLACES = """
    afghanistan africa alaska albania alberta aleppo alexandria algeria algiers alps alsace
    america amsterdam andalusia andes ankara antarctica antwerp arctic argentina arizona
    arkansas armenia asia athens atlanta auckland austin australia austria azerbaijan baghdad
    bahamas bali baltimore bangalore bangkok bangladesh barbados barcelona basel bath bavaria
    beijing beirut belarus belfast belgium belgrade belize bergen berkeley berlin bermuda bern
    bhutan bilbao birmingham bogota bolivia bologna bombay bonn bordeaux bosnia boston
    botswana boulder brasilia bratislava brazil bremen brighton brisbane bristol britain
    brittany brixton broadway brooklyn bruges brussels bucharest budapest buffalo bulgaria
    burgundy burma cairo calgary california cambodia cambridge cameroon canada canberra
    cardiff caribbean cartagena casablanca catalonia charleston charlotte chennai chicago
    chile china cincinnati cleveland cologne colombia colorado connecticut copenhagen cordoba
    cork cornwall corsica crete crimea croatia cuba cyprus czechia d\u00fcsseldorf dakar
    dallas damascus delaware delhi denmark denver detroit dhaka dolomites dortmund dresden
    dubai dublin dubrovnik dundee durban dusseldorf ecuador edinburgh egypt england eritrea
    estonia ethiopia europe everest exeter fiji finland flanders florence florida france
    frankfurt freiburg galway gaza gdansk geneva genoa ghana ghent gibraltar glasgow
    gothenburg granada graz greece greenland grenoble guadalajara guatemala guernsey haifa
    haiti halifax hamburg hanoi hanover harlem havana hawaii heidelberg helsinki himalayas
    holland honduras honolulu houston hungary hyderabad ibiza iceland idaho illinois india
    indiana indianapolis indonesia innsbruck iowa iran iraq ireland israel istanbul italy
    jaipur jakarta jamaica japan jerusalem johannesburg kabul kansas karachi kathmandu kenya
    kerala kiev kilimanjaro kolkata korea kosovo krakow kuwait kyiv kyoto kyushu lagos lahore
    laos lapland lausanne lebanon leeds leipzig liberia libya liechtenstein lille lima
    limerick lisbon lithuania liverpool ljubljana lombardy london louisiana lucerne luxembourg
    lyon macedonia madagascar madeira madrid maine majorca malaga malaysia maldives mali
    mallorca malm\u00f6 malta manchester manhattan manila manitoba marrakech marrakesh
    marseille maryland massachusetts mauritius mecca medellin melbourne memphis mexico miami
    michigan milan milwaukee minneapolis minnesota minsk mississippi missouri moldova monaco
    mongolia montana montenegro monterrey montevideo montpellier montreal morocco moscow
    mozambique mumbai munich myanmar nagoya nairobi namibia nantes naples nashville nebraska
    nepal netherlands nevada newcastle nicaragua nice nicosia nigeria normandy norway
    nottingham nuremberg oakland ohio oklahoma oman ontario oregon orlando osaka oslo ottawa
    oxford pakistan palermo palestine panama paraguay paris patagonia pennsylvania perth peru
    perugia philadelphia philippines phoenix pittsburgh poland portland porto portugal prague
    pretoria provence qatar quebec queens reykjavik rhodes riga romania rome rotterdam russia
    rwanda sacramento salzburg santiago sardinia saskatchewan savannah scandinavia scotland
    seattle senegal seoul serbia seville shanghai sheffield shenzhen siberia sicily siena
    singapore slovakia slovenia sofia somalia spain stockholm strasbourg stuttgart sudan
    sumatra surrey sweden switzerland sydney syria taipei taiwan tallinn tampa tanzania
    tasmania tehran tennessee texas thailand thessaloniki tibet tirana tokyo toledo toronto
    toulouse transylvania trieste tucson tunis tunisia turin turkey tuscany tyrol uganda
    ukraine umbria uruguay utah utrecht valencia vancouver vatican venezuela venice vermont
    verona vienna vietnam vilnius virginia wales warsaw washington waterloo wellington
    winnipeg wisconsin wyoming yemen york yorkshire yosemite z\u00fcrich zagreb zambia
    zanzibar zimbabwe zurich
"""
PLACES = frozenset(_PLACES.split())
"""Casefolded. Given names that are also places (Charlotte, Florence) are a person's to the rules
where the sentence does not say that one is there."""
