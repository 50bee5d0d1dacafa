"""A second factor that is lost or refused: look at the account; a reset only with a person's yes.

Resetting a factor on somebody's word is how accounts are stolen, so it is `careful`.
"""

from __future__ import annotations

from cairn.investigations.planning.playbooks.lexicon import FACTOR as FACTOR_WORDS
from cairn.investigations.planning.playbooks.lockout import ACCOUNT_ENDINGS, PRIVATE
from cairn.investigations.planning.playbooks.lockout import TELLS as ACCOUNT_TELLS
from cairn.investigations.planning.playbooks.playbook import Change, Ending, Playbook, Sign
from cairn.investigations.planning.playbooks.vocabulary import FACTOR, LOCKED, LOST
from cairn.investigations.planning.uses import ACCOUNT, RESET_MFA, SIGN_INS
from cairn.investigations.state import Verdict

MFA = Playbook(
    name="second-factor",
    topic=(FACTOR, LOCKED | LOST),
    search="mfa second factor authenticator reset identity check runbook",
    looks=(ACCOUNT, SIGN_INS),
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
