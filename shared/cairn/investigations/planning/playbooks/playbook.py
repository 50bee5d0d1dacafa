"""The records a playbook is made of. Not the rules that read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cairn.investigations.planning.playbooks.lexicon import Lexicon
    from cairn.investigations.planning.records import Use
    from cairn.investigations.state import Verdict


def starts(text: str) -> frozenset[str]:
    """Return the beginnings of words or phrases that `text` lists, separated by semicolons."""
    return frozenset(part.strip() for part in text.replace("\n", " ").split(";") if part.strip())


SIGN_IN = starts("""
    password; passwort; login; log in; log into; logging in; logged; sign in; sign into; signing
    in; signin; sign-in; my account; kennwort; anmeld; einlogg; mein konto; mot de passe;
    connexion; connecter; me connecte; mon compte; contrasena; iniciar sesion; mi cuenta
""")
ACCOUNT = SIGN_IN | starts("""
    account; access my; get into; portal; konto; zugang; compte; cuenta; acceder; acceso
""")
LOCKED = starts("""
    lock; locked; lockout; unlock; unblock; blocked; too many; suspended; can't; cannot; can not;
    unable; won't let; doesn't let; denied; refus; fail; not work; doesn't work; gesperrt; sperr;
    entsperr; freischalt; geht nicht; nicht mehr; kann mich nicht; bloque; debloq; verrouill;
    deverrouill; impossible; ne peux; n'arrive; bloquead; desbloque; no puedo; no me deja; no
    funciona
""")
DOUBTS = starts("""
    guess my password; guessing my password; knows my password; knew my password; read out; gave
    my password; told my password; typed my password into; fake page; kennt mein passwort; connait
    mon mot de passe; conoce mi contrasena; was not me; wasn't me; is not me; isn't me; not mine;
    aren't mine; not by me; did not try; didn't try; have not tried; haven't tried; never tried;
    someone else; somebody else; someone tried; somebody tried; stolen; attack; suspicious; not
    unlock; don't unlock; stay locked; keep it locked; leave it locked; lock my account; lock my
    login; lock my user; lock it; block my; block it; disable my; war ich nicht; nicht ich; nicht
    von mir; jemand ander; nicht versucht; gestohlen; angriff; verdachtig; nicht entsperr;
    gesperrt bleib; gesperrt lassen; sperren sie mein; mein konto sperren; bitte sperren; pas moi;
    quelqu'un d'autre; pas essaye; vole; attaque; suspect; pas debloquer; pas deverrouiller;
    debloquez pas; deverrouillez pas; bloquer mon; bloquez mon; verrouillez mon; no fui yo; no he
    sido yo; otra persona; alguien mas; no he intentado; robad; robo; ataque; sospechos; no
    desbloque; bloqueen mi; bloquee mi; bloquear mi
""")
OTHERS = starts("""
    colleague; coworker; co-worker; teammate; my boss; my manager; my assistant; my wife; my
    husband; kolleg; mein chef; meine chefin; collegue; mon chef; ma chef; companer; mi jef
""")
MYSELF = frozenset(["i", "me", "myself", "ich", "mich", "mir", "je", "j", "moi", "yo"])
"""Whole words: whoever says one speaks of themselves, too."""

FACTOR = starts("""
    mfa; 2fa; two factor; two-factor; second factor; multi factor; multi-factor; authenticator;
    one time code; one-time code; verification code; otp; totp; security key; passkey; zweite
    faktor; zwei faktor; zweiten faktor; zweiter faktor; bestatigungscode; double
    authentification; code de verification; doble factor; codigo de verificacion; autenticador
""")
LOST = starts("""
    new phone; lost; stolen; changed phone; replaced; broken phone; reset; expired; not accept;
    invalid; wrong; don't receive; not receiv; never arriv; neues handy; neues telefon; verloren;
    gestohlen; nouveau telephone; perdu; vole; nuevo telefono; nuevo movil; perdi; robad
""")
WEBHOOK = starts("webhook; web hook; callback; event delivery; endpoint; hook url; rappel http")
FAILING = starts("""
    fail; error; stop; timeout; time out; timing out; missing; not receiv; don't receive; not
    deliver; no longer; not arriv; never arriv; retry; retrie; 400; 401; 403; 404; 408; 410; 429;
    500; 502; 503; 504; broken; not work; doesn't work; fehl; kommen nicht; keine; erreur; echou;
    recoit plus; recevons plus; fall; no llega; no recib
""")
MONEY = starts("""
    pricing; cheaper; rabatt; preis; gunstiger; remise; tarif; moins cher; descuento; precio;
    barato; invoice; charged; overcharg; double charge; charge on; refund; payment; paid; my bill;
    the bill; billing; credit note; subscription; price; discount; rechnung; abgebucht; erstatt;
    zahlung; gutschrift; abbuchung; money; geld; dinero; facture; factur; rembours; paiement;
    preleve; prelevement; factura; cobr; reembols; pago; cargo
""")
POWERS = starts("""
    lawyer; attorney; legal; sue you; lawsuit; gdpr; dsgvo; rgpd; delete my account; delete my
    data; delete all my data; erase my data; data breach; breach; hacked; compromised; phishing;
    complaint; i complain; cancel my contract; cancel our contract; cancel the contract; terminate
    our; terminate my; terminate the contract; close my account; admin rights; administrator
    rights; admin access; make me admin; role of admin; anwalt; klage; beschwer; kundig; daten
    losch; konto losch; gehackt; avocat; plainte; resili; supprimer mes; supprimer mon; pirate;
    abogado; queja; demanda; cancelar mi contrato; borrar mi; eliminar mi; hacke; permisos de
    administrador
""")
CLAIMS = starts("""
    refund; charged; overcharg; double charge; twice; wrong amount; incorrect; dispute; discount;
    cancel; my money; reimburs; credit us; credit me; abgebucht; erstatt; zu viel; doppelt;
    falsch; rembours; preleve; deux fois; cobr; reembols; dos veces; devuel
""")
HOW_TO = starts("""
    how do; how can; how to; where do; where can; wie kann; wie geht; wo finde; wo kann; comment
    puis; comment faire; ou puis; ou trouver; como puedo; donde puedo
""")
"""Begins a question, with a question mark or without."""

HOW = HOW_TO | starts("""
    how many; how much; how long; how often; where is; where are; what is; what are; what does;
    which; is it possible; is there a way; is there any way;
    is there some way; can i; do you; does; was ist; gibt es; comment; ou est; quel; est ce
    que; como; donde; que es; cual; se puede
""")
WHAT = starts("""
    what; how; where; when; which; was; wie; wo; wann; welche; welcher; welches; que; quoi;
    comment; ou; quand; quel; quelle; como; donde; cuando; cual
""")
"""Whole words: the first of a question."""


Text = Mapping[str, str]
"""A sentence by language; English is always there. {names} stand for what a sign has seen."""


class Sign(StrEnum):
    """What may be seen in a ticket, in what was found, and in what came of an action."""

    # of the ticket
    SUSPICIOUS = "suspicious"  # words that try to direct a model
    FOREIGN = "foreign"  # it is about an account that is not known to be the requester's
    DOUBTED = "doubted"  # it speaks of loss, theft, attack, surprise, or of leaving things locked
    SIGN_IN = "sign_in"  # it speaks of signing in
    UNCOVERED = "uncovered"  # it says something that the playbook's words do not cover
    UNEXPLAINED = "unexplained"  # it says something beside a question that does not lead to it
    VAGUE = "vague"  # too little is said to look for anything
    CLAIMS = "claims"  # money is asked for, or an amount disputed
    # of accounts
    ACCOUNT = "account"
    NO_ACCOUNT = "no_account"  # looked for, and there is none
    LOCKED = "locked"
    OPEN = "open"  # found, and neither locked nor disabled
    DISABLED = "disabled"  # by somebody, not by failed sign-ins
    FAILURES = "failures"
    SPRAYED = "sprayed"  # failed sign-ins from many addresses: perhaps an attack
    FACTOR_FAILURES = "factor_failures"
    # of webhooks
    FAILING = "failing"
    DELIVERED = "delivered"
    ENDPOINT_DOWN = "endpoint_down"
    ENDPOINT_UP = "endpoint_up"
    ENDPOINT_SILENT = "endpoint_silent"  # it did not answer at all
    # of invoices
    INVOICES = "invoices"
    # of the knowledge base
    KNOWN = "known"  # a text that speaks of this
    ANSWERED = "answered"  # and answers what is asked in a question for instructions
    # of the change that was tried
    CHANGED = "changed"
    SIMULATED = "simulated"
    REFUSED = "refused"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A write that mends the problem, when all of `when` is seen and none of `unless`.

    `careful` ones are proposed only through tools that a person has to agree to.
    """

    use: Use
    when: frozenset[Sign]
    unless: frozenset[Sign]
    reason: str
    careful: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """A verdict, when all of `when` is seen and none of `unless`; what is said after what is seen.

    `says` has no source but the ticket; `asks` are questions and requests.
    """

    verdict: Verdict
    reason: str
    when: frozenset[Sign] = frozenset()
    unless: frozenset[Sign] = frozenset()
    says: Text | None = None
    asks: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Playbook:
    """How to work one kind of ticket.

    It fits when each group of `topic` has the beginning of a word, or of words, that the ticket
    says; among those that fit the most such beginnings, plus `weight`, decide. `search` is added to
    the ticket's words. `tells` are the sentences for its own signs, in the order they are written;
    those in `private` are not for a requester who asks about somebody else. `covers` are the words,
    by language, that a ticket may have for the playbook to change something or to close it.
    """

    name: str
    topic: tuple[frozenset[str], ...]
    search: str
    looks: tuple[Use, ...] = ()
    change: Change | None = None
    weight: int = 0
    endings: tuple[Ending, ...]
    tells: Mapping[Sign, Text]
    private: frozenset[Sign] = frozenset()
    covers: Mapping[str, Lexicon] = field(default_factory=dict["str", "Lexicon"])
