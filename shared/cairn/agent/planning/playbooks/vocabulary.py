"""Words that tickets use, in the languages playbooks know: beginnings of words, without accents."""

from __future__ import annotations


def starts(text: str) -> frozenset[str]:
    """Return the beginnings of words or phrases that `text` lists, separated by semicolons."""
    return frozenset(one.strip() for one in text.replace("\n", " ").split(";") if one.strip())


ACCOUNT = starts("""
    account; password; passwort; login; log in; log into; logging in; logged; sign in; sign
    into; signing in; signin; sign-in; access my; get into; portal; konto; kennwort; anmeld;
    einlogg; zugang; compte; mot de passe; connexion; connecter; me connecte; cuenta;
    contrasena; iniciar sesion; acceder; acceso
""")
LOCKED = starts("""
    lock; locked; lockout; blocked; too many; suspended; can't; cannot; can not; unable; won't
    let; doesn't let; denied; refus; fail; not work; doesn't work; gesperrt; sperr; entsperr;
    geht nicht; nicht mehr; kann mich nicht; bloque; verrouill; impossible; ne peux; n'arrive;
    bloquead; desbloque; no puedo; no me deja; no funciona
""")
FACTOR = starts("""
    mfa; 2fa; two factor; two-factor; second factor; multi factor; multi-factor; authenticator;
    one time code; one-time code; verification code; otp; totp; security key; passkey; zweite
    faktor; zwei faktor; zweiten faktor; zweiter faktor; bestatigungscode; double
    authentification; code de verification; doble factor; codigo de verificacion; autenticador
""")
LOST = starts("""
    new phone; lost; stolen; changed phone; replaced; broken phone; reset; expired; not accept;
    invalid; wrong; don't receive; not receiv; never arriv; neues handy; neues telefon;
    verloren; gestohlen; nouveau telephone; perdu; vole; nuevo telefono; nuevo movil; perdi;
    robad
""")
WEBHOOK = starts("webhook; web hook; callback; event delivery; endpoint; hook url; rappel http")
FAILING = starts("""
    fail; error; stop; timeout; time out; timing out; missing; not receiv; don't receive; not
    deliver; no longer; not arriv; never arriv; retry; retrie; 400; 401; 403; 404; 408; 410;
    429; 500; 502; 503; 504; broken; not work; doesn't work; fehl; kommen nicht; keine; erreur;
    echou; recoit plus; recevons plus; fall; no llega; no recib
""")
MONEY = starts("""
    invoice; charged; overcharg; double charge; charge on; refund; payment; paid; my bill; the
    bill; billing; credit note; subscription; price; discount; rechnung; abgebucht; erstatt;
    zahlung; gutschrift; abbuchung; facture; factur; rembours; paiement; preleve; prelevement;
    factura; cobr; reembols; pago; cargo
""")
POWERS = starts("""
    lawyer; attorney; legal; sue you; lawsuit; gdpr; dsgvo; rgpd; delete my account; delete my
    data; delete all my data; erase my data; data breach; breach; hacked; compromised; phishing;
    complaint; i complain; cancel my contract; cancel our contract; cancel the contract;
    terminate our; terminate my; terminate the contract; close my account; admin rights;
    administrator rights; admin access; make me admin; role of admin; anwalt; klage; beschwer;
    kundig; daten losch; konto losch; gehackt; avocat; plainte; resili; supprimer mes; supprimer
    mon; pirate; abogado; queja; demanda; cancelar mi contrato; borrar mi; eliminar mi; hacke;
    permisos de administrador
""")
CLAIMS = starts("""
    refund; charged; overcharg; double charge; twice; wrong amount; incorrect; dispute;
    discount; cancel; my money; reimburs; credit us; credit me; abgebucht; erstatt; zu viel;
    doppelt; falsch; rembours; preleve; deux fois; cobr; reembols; dos veces; devuel
""")
HOW = starts("""
    how do; how can; how to; where do; where can; where is; where are; what is; what are; what
    does; which; is it possible; can i; do you; does; wie kann; wie geht; wo finde; wo kann; was
    ist; gibt es; comment; ou puis; ou trouver; ou est; quel; est ce que; como; donde; que es;
    cual; se puede
""")
