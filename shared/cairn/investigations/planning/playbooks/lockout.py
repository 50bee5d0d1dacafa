"""An account that is locked after failed sign-ins: look, unlock if a person agrees, tell."""

from __future__ import annotations

from cairn.investigations.planning.playbooks.lexicon import FACTOR as FACTOR_WORDS
from cairn.investigations.planning.playbooks.lexicon import LOCKOUT as LOCKOUT_WORDS
from cairn.investigations.planning.playbooks.playbook import (
    ACCOUNT,
    FACTOR,
    LOCKED,
    LOST,
    Change,
    Ending,
    Playbook,
    Sign,
)
from cairn.investigations.planning.records import ACCOUNT as FIND_ACCOUNT
from cairn.investigations.planning.records import RESET_MFA, SIGN_INS, UNLOCK
from cairn.investigations.state import Verdict

ACCOUNT_TELLS = {
    Sign.LOCKED: {
        "en": "When we looked, the account was locked",
        "de": "Bei unserer Prüfung war das Konto gesperrt",
        "fr": "Lors de notre vérification, le compte était verrouillé",
        "es": "Al comprobarlo, la cuenta estaba bloqueada",
    },
    Sign.OPEN: {
        "en": "When we looked, the account was neither locked nor disabled",
        "de": "Bei unserer Prüfung war das Konto weder gesperrt noch abgeschaltet",
        "fr": "Lors de notre vérification, le compte n'était ni verrouillé ni désactivé",
        "es": "Al comprobarlo, la cuenta no estaba bloqueada ni desactivada",
    },
    Sign.DISABLED: {
        "en": "The account was disabled",
        "de": "Das Konto wurde abgeschaltet",
        "fr": "Le compte a été désactivé",
        "es": "La cuenta fue desactivada",
    },
    Sign.FAILURES: {
        "en": "The sign-in log shows {count} failed attempts",
        "de": "Das Anmeldeprotokoll zeigt {count} fehlgeschlagene Versuche",
        "fr": "Le journal des connexions montre {count} tentatives échouées",
        "es": "El registro de accesos muestra {count} intentos fallidos",
    },
    Sign.SPRAYED: {
        "en": "They came from {count} different addresses",
        "de": "Sie kamen von {count} verschiedenen Adressen",
        "fr": "Elles venaient de {count} adresses différentes",
        "es": "Procedían de {count} direcciones distintas",
    },
    Sign.CHANGED: {
        "en": "We have unlocked the account",
        "de": "Wir haben das Konto entsperrt",
        "fr": "Nous avons déverrouillé le compte",
        "es": "Hemos desbloqueado la cuenta",
    },
}

PRIVATE = frozenset(
    [
        Sign.LOCKED,
        Sign.OPEN,
        Sign.DISABLED,
        Sign.FAILURES,
        Sign.FACTOR_FAILURES,
        Sign.SPRAYED,
        Sign.NO_ACCOUNT,
    ]
)
"""What only the owner of an account is told."""

ACCOUNT_ENDINGS = (
    Ending(
        verdict=Verdict.NEEDS_TECH,
        reason="The ticket is about an account that is not known to be the requester's.",
        when=frozenset([Sign.FOREIGN]),
        says={
            "en": "The account is not known to be the requester's: who asks has to be checked "
            "first",
            "de": "Das Konto gehört nicht nachweislich der anfragenden Person: Zuerst ist zu "
            "prüfen, wer fragt",
            "fr": "Rien n'indique que ce compte est celui du demandeur : il faut d'abord vérifier "
            "son identité",
            "es": "No consta que la cuenta sea del solicitante: primero hay que comprobar su "
            "identidad",
        },
    ),
    Ending(
        verdict=Verdict.NEEDS_L2,
        reason="Failed sign-ins came from many addresses: perhaps an attack.",
        when=frozenset([Sign.SPRAYED]),
    ),
    Ending(
        verdict=Verdict.NEEDS_L2,
        reason="The account was disabled by somebody; opening it is a decision.",
        when=frozenset([Sign.DISABLED]),
    ),
    Ending(
        verdict=Verdict.NEEDS_CLIENT,
        reason="There is no account under the requester's address.",
        when=frozenset([Sign.NO_ACCOUNT]),
        asks={
            "en": "We found no account under your address: which one do you sign in with?",
            "de": "Unter Ihrer Adresse fanden wir kein Konto: Womit melden Sie sich an?",
            "fr": "Aucun compte sous votre adresse : avec laquelle vous connectez-vous ?",
            "es": "No hay ninguna cuenta con su dirección: ¿con cuál inicia sesión?",
        },
    ),
)
"""How looking at an account may end before anything is changed about it."""

LOCKOUT = Playbook(
    name="account-lockout",
    topic=(ACCOUNT, LOCKED),
    search="account locked failed sign-in unlock runbook",
    looks=(FIND_ACCOUNT, SIGN_INS),
    change=Change(
        use=UNLOCK,
        when=frozenset([Sign.LOCKED]),
        unless=frozenset(
            [
                *(Sign.DISABLED, Sign.SPRAYED, Sign.FOREIGN, Sign.SUSPICIOUS, Sign.DOUBTED),
                Sign.UNCOVERED,
            ]
        ),
        reason="The account of the requester is locked after failed sign-ins.",
    ),
    endings=(
        Ending(
            verdict=Verdict.AUTO_RESOLVED,
            reason="The account was locked after failed sign-ins and has been unlocked.",
            when=frozenset([Sign.CHANGED]),
            asks={
                "en": "Please sign in again, and answer here if that does not work.",
                "de": "Bitte melden Sie sich neu an und antworten Sie hier, falls das nicht geht.",
                "fr": "Merci de vous reconnecter et de répondre ici si cela ne fonctionne pas.",
                "es": "Por favor inicie sesión de nuevo y responda aquí si no funciona.",
            },
        ),
        *ACCOUNT_ENDINGS,
        Ending(
            verdict=Verdict.NEEDS_L2,
            reason="Opening the account may be wrong; that is a decision.",
            when=frozenset([Sign.DOUBTED]),
            says={
                "en": "The ticket speaks of loss, theft, something strange, or of leaving the "
                "account locked",
                "de": "Im Ticket geht es um Verlust, Diebstahl, Merkwürdiges, oder das Konto soll "
                "gesperrt bleiben",
                "fr": "Le ticket parle de perte, de vol, de quelque chose d'anormal, ou de laisser "
                "le compte verrouillé",
                "es": "El caso habla de pérdida, robo o algo extraño, o de dejar la cuenta "
                "bloqueada",
            },
        ),
        Ending(
            verdict=Verdict.NEEDS_CLIENT,
            reason="The account is open, so the requester has to say what happens.",
            when=frozenset([Sign.OPEN, Sign.SIGN_IN]),
            unless=frozenset([Sign.FAILURES]),
            asks={
                "en": "Which message do you see when you sign in?",
                "de": "Welche Meldung sehen Sie beim Anmelden?",
                "fr": "Quel message voyez-vous en vous connectant ?",
                "es": "¿Qué mensaje ve al iniciar sesión?",
            },
        ),
        Ending(verdict=Verdict.NEEDS_TECH, reason="A technician has to look at the account."),
    ),
    covers=LOCKOUT_WORDS,
    tells=ACCOUNT_TELLS,
    private=PRIVATE,
)


MFA = Playbook(
    name="second-factor",
    topic=(FACTOR, LOCKED | LOST),
    search="mfa second factor authenticator reset identity check runbook",
    looks=(FIND_ACCOUNT, SIGN_INS),
    change=Change(
        use=RESET_MFA,
        when=frozenset([Sign.ACCOUNT]),
        unless=frozenset(
            [
                *(Sign.DISABLED, Sign.SPRAYED, Sign.FOREIGN, Sign.SUSPICIOUS, Sign.DOUBTED),
                Sign.UNCOVERED,
            ]
        ),
        reason="The requester cannot use the second factor any more.",
        careful=True,
    ),
    endings=(
        Ending(
            verdict=Verdict.AUTO_RESOLVED,
            reason="A person agreed, and the second factor has been reset.",
            when=frozenset([Sign.CHANGED]),
            asks={
                "en": "Please set up your second factor with the next sign-in.",
                "de": "Bitte richten Sie den zweiten Faktor bei der nächsten Anmeldung neu ein.",
                "fr": "Merci de configurer le second facteur à la prochaine connexion.",
                "es": "Por favor configure el segundo factor en el próximo acceso.",
            },
        ),
        *ACCOUNT_ENDINGS,
        Ending(
            verdict=Verdict.NEEDS_TECH,
            reason="A technician has to check who asks before the second factor is reset.",
            says={
                "en": "Who asks has to be checked before the second factor is reset",
                "de": "Bevor der zweite Faktor zurückgesetzt wird, ist zu prüfen, wer fragt",
                "fr": "Avant de réinitialiser le second facteur, il faut vérifier l'identité du "
                "demandeur",
                "es": "Antes de restablecer el segundo factor hay que comprobar la identidad del "
                "solicitante",
            },
        ),
    ),
    covers=FACTOR_WORDS,
    tells={
        **ACCOUNT_TELLS,
        Sign.FACTOR_FAILURES: {
            "en": "{count} sign-ins failed at the second factor",
            "de": "{count} Anmeldungen scheiterten am zweiten Faktor",
            "fr": "{count} connexions ont échoué au second facteur",
            "es": "{count} accesos fallaron en el segundo factor",
        },
        Sign.CHANGED: {
            "en": "We have reset the second factor",
            "de": "Wir haben den zweiten Faktor zurückgesetzt",
            "fr": "Nous avons réinitialisé le second facteur",
            "es": "Hemos restablecido el segundo factor",
        },
    },
    private=PRIVATE,
)
