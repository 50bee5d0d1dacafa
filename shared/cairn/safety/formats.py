"""Published facts about formats that recognisers look up. Not the recognisers."""

from __future__ import annotations

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
