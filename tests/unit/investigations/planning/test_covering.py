"""Which lock-outs the rules act on: all of a ticket has to be covered, in four languages."""

# fmt: off

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.planning import brief

from cairn.investigations.planning.covering import own_names, uncovered, unexplained, unsigned, who
from cairn.investigations.planning.playbooks.lexicon import LOCKOUT
from cairn.investigations.planning.signs import read

REQUESTER = "marta.lindqvist@harbourlane.example"

COVERED = [
    ("en", "Account locked",
     "Hello support team, I managed to lock myself out of my account this morning "
     "because I entered the old password too many times. Could you unlock it for me, "
     "please? I have a call with a customer at 11 and need the portal for that. Thank "
     "you! Marta Lindqvist"),
    ("en", "locked out",
     "Hi, my account got locked after five wrong attempts, my own fault, I was typing "
     "too fast. Please can you unlock my account? I need to get the monthly report out"
     " by end of day. Many thanks, Marta"),
    ("en", "cant log in",
     "hey guys, cant log in anymore, says my acount is locked due to too many failed "
     "login attempts. i just changed my pasword yesterday and mixed it up with the old"
     " one. can u unlock me asap? thx marta"),
    ("en", "Locked account - urgent",
     "Good afternoon, I have locked my account by entering an incorrect password "
     "several times in a row. I remember the correct one now. I would be grateful if "
     "you could unlock it as soon as possible since I have an important deadline this "
     "afternoon. Kind regards, Marta Lindqvist, Finance"),
    ("en", "Portal login blocked",
     "Hello, when I try to log in to the portal I get the message \"Your account is "
     "temporarily locked because of too many failed sign-in attempts\". I simply "
     "mistyped my password a few times on my phone. Please unlock it, I'm in the "
     "middle of the month-end closing and cannot continue. Best regards Marta"),
    ("en", "LOCKED OUT AGAIN",
     "Seriously, this is the second time this week. I type my password wrong a few "
     "times and your system locks me out completely. I cannot work like this. I need "
     "my account unlocked NOW, customers are waiting on the line. Marta Lindqvist"),
    ("en", "Account lock",
     "Dear help desk, due to my own clumsiness my account has been locked: I had Caps "
     "Lock on while entering my password. Would you be so kind as to unlock it again? "
     "I need access to the payroll module before 2 pm. With best wishes, Marta "
     "Lindqvist Payroll Accountant Harbour Lane"),
    ("en", "please unlock",
     "Hi, fat fingers today - I mistyped my password five times and now I am locked "
     "out. Can you please reset the lock so I can get on with the invoices? Nothing "
     "else is wrong. Cheers Marta"),
    ("de", "Account gesperrt",
     "Hallo Team, ich habe mein Passwort gestern geändert und heute Morgen mehrfach "
     "das alte eingetippt. Nun ist mein Account gesperrt. Könnt ihr mich bitte wieder "
     "freischalten? Ich muss bis 12 Uhr die Abrechnung abgeben. Danke und Grüße, Marta"),
    ("de", "Bitte entsperren",
     "Sehr geehrte Damen und Herren, nach fünf Fehlversuchen wurde mein Benutzerkonto "
     "gesperrt. Ich hatte mich schlicht vertippt. Ich bitte Sie, das Konto "
     "schnellstmöglich wieder zu entsperren, da ich dringend arbeiten muss. Mit "
     "freundlichen Grüßen Marta Lindqvist"),
    ("de", "Komme nicht rein",
     "Moin, ich komm nicht mehr ins Portal, hab mein Kennwort zu oft falsch eingegeben"
     " und jetzt steht da, mein Konto sei gesperrt. Bitte schnell entsperren, der "
     "Kunde wartet schon. Danke, Marta"),
    ("fr", "Compte verrouillé",
     "Bonjour, suite à plusieurs erreurs de saisie de mon mot de passe, mon compte a "
     "été verrouillé ce matin. Pourriez-vous le déverrouiller rapidement ? J'ai une "
     "réunion importante à 14 h et j'ai besoin d'accéder à mes documents. Merci "
     "d'avance. Cordialement, Marta Lindqvist"),
    ("fr", "accès bloqué",
     "Salut l'équipe, j'ai tapé trop de fois un mauvais mot de passe et je ne peux "
     "plus me connecter. Vous pouvez débloquer mon compte svp ? Je dois finir la paie "
     "aujourd'hui. Merci ! Marta"),
    ("es", "Cuenta bloqueada",
     "Buenas tardes, he introducido mal mi contraseña demasiadas veces y mi cuenta ha "
     "quedado bloqueada. ¿Podrían desbloquearla cuanto antes? Necesito acceder al "
     "portal para terminar las nóminas de hoy. Gracias de antemano. Un saludo, Marta "
     "Lindqvist"),
    ("es", "no puedo iniciar sesión",
     "Hola equipo, me he equivocado varias veces con la contraseña y ahora no puedo "
     "entrar en el portal, pone que la cuenta está bloqueada. ¿Me la desbloqueáis por "
     "favor? Tengo una reunión a las 12. Gracias, Marta"),
    ("en", "Help - locked",
     "Dear Support, unfortunately I mixed up my passwords this morning and after the "
     "fifth attempt the account was locked. Would it be possible to have it unlocked "
     "soon? I have a lot to do today. Thank you in advance for your help, and have a "
     "nice day. Yours sincerely, Marta Lindqvist"),
    ("de", "gesperrt!!",
     "Schon wieder gesperrt, das ist jetzt das zweite Mal diese Woche und es nervt "
     "gewaltig. Nur weil man sich ein paar Mal vertippt! Ich kann so nicht arbeiten. "
     "Entsperren Sie mein Konto bitte sofort. M. Lindqvist"),
    ("fr", "Mot de passe",
     "Bonjour à tous, je me suis trompée plusieurs fois en tapant mon mot de passe "
     "(verrouillage majuscules activé) et mon compte s'est bloqué. Serait-il possible "
     "de le réactiver avant 10 h ? Je dois valider les salaires. Bien à vous, Marta "
     "Lindqvist"),
    ("fr", "débloquer mon compte",
     "Bonjour, mon compte est verrouillé car j'ai confondu mon ancien et mon nouveau "
     "mot de passe. C'est la deuxième fois ce mois-ci, c'est vraiment agaçant. Merci "
     "de le débloquer au plus vite, j'ai des commandes à traiter. Marta"),
    ("es", "Desbloqueo de cuenta",
     "Estimados señores: debido a varios intentos fallidos con la contraseña, mi "
     "cuenta se ha bloqueado. Ha sido culpa mía, tenía activado el bloqueo de "
     "mayúsculas. Les agradecería que la desbloquearan hoy mismo. Atentamente, Marta "
     "Lindqvist"),
    ("es", "cuenta",
     "Buenas, se me ha olvidado que cambié la contraseña ayer y la he puesto mal unas "
     "cuantas veces. Ahora sale que mi usuario está bloqueado. ¿Me lo podéis arreglar?"
     " Tengo que mandar unos informes antes de las dos. Mil gracias, Marta"),
    ("en", "Sign-in blocked",
     "Hello, I get \"Account locked, too many attempts\" when I sign in. The reason is "
     "simple: my password has changed and my fingers still type the old one. Please "
     "unlock the account, I promise to be more careful. Kind regards, Marta L."),
    ("en", "Urgent: locked out before board meeting",
     "The board meeting starts in twenty minutes and I am locked out of the portal "
     "because I misspelled my password a few times. I need the presentation that is "
     "stored there. Please unlock my account right away. Marta Lindqvist"),
    ("en", "Password",
     "Hello, I changed my password last Thursday as requested and wrote it down wrong."
     " After several failed attempts the system has locked me out. I have since found "
     "out what it should be. Would you mind unlocking my user? Many thanks and have a "
     "good one, Marta"),
    ("de", "Benutzer gesperrt",
     "Hallo liebe Kollegen, ich habe nach der Passwortänderung von gestern aus "
     "Gewohnheit noch das alte eingegeben, und zwar so oft, dass mein Benutzer nun "
     "gesperrt ist. Bitte gebt ihn wieder frei, ich sollte bis Mittag noch drei "
     "Angebote verschicken. Liebe Grüße, Marta"),
    ("de", "Login gesperrt",
     "Guten Tag, bei der Anmeldung kommt die Meldung \"Ihr Konto wurde wegen zu vieler "
     "Fehlversuche gesperrt\". Ich hatte die Umschalttaste gedrückt, ohne es zu merken."
     " Ich wäre Ihnen dankbar, wenn Sie es zeitnah entsperren könnten. Mit besten "
     "Grüßen Marta Lindqvist, Buchhaltung"),
    ("de", "Ausgesperrt",
     "Hi, hab mich selber ausgesperrt, zu oft falsches PW. Bitte einmal entsperren, "
     "brauch das Portal für die Lohnabrechnung, die heute raus muss. Danke euch! Marta"),
    ("fr", "Compte bloqué après erreurs",
     "Bonjour, après avoir changé mon mot de passe hier, j'ai continué à taper "
     "l'ancien par habitude et mon compte est maintenant bloqué. Pourriez-vous s'il "
     "vous plaît le réactiver ? Je dois établir plusieurs factures avant ce soir. "
     "Merci beaucoup pour votre aide. Marta Lindqvist"),
    ("fr", "Impossible de me connecter",
     "Bonjour, impossible de me connecter depuis ce matin : après cinq tentatives avec"
     " un mauvais mot de passe, le portail m'indique que mon compte est verrouillé. "
     "C'est de ma faute, le clavier était en anglais. Merci de le déverrouiller "
     "rapidement, mes clients attendent. Bien cordialement, Marta L."),
    ("es", "Cuenta bloqueada por intentos",
     "Hola, buenos días. Después de cambiar la contraseña el viernes, hoy he seguido "
     "poniendo la vieja sin darme cuenta y la cuenta se ha bloqueado. ¿Podéis "
     "desbloquearla, por favor? Tengo que preparar el cierre del mes y voy con "
     "retraso. Muchas gracias por vuestra ayuda, Marta"),
    ("es", "Bloqueada",
     "Buenas tardes, el portal me indica que mi cuenta está bloqueada por demasiados "
     "intentos fallidos. Fui yo, me confundí con la contraseña de otro programa. Les "
     "pido por favor que la desbloqueen hoy, necesito los datos para un informe. "
     "Saludos cordiales, Marta Lindqvist"),
]

WARNINGS = [
    ("en",
     "Hello, my laptop has been gone since this morning and now my account is locked. "
     "Please unlock it so I can work from my phone. Thanks, Marta"),
    ("en",
     "Hi, my account is locked, somebody must be trying my password because I typed it"
     " only once. Please unlock it. Marta"),
    ("en",
     "Hi, I'm on leave until Monday but got told that my account is locked. Please "
     "unlock it so I can work when I'm back. Thanks Marta"),
    ("en",
     "Hi, this is Kevin, I'm using Marta's mailbox. Her account is locked, please "
     "unlock it. Thanks"),
    ("de",
     "Hallo, mein Konto ist gesperrt, obwohl ich mich gar nicht angemeldet habe. Bitte"
     " entsperren. Danke, Marta"),
    ("fr",
     "Bonjour, mon compte est bloqué alors que je n'ai pas du tout essayé de me "
     "connecter. Merci de le débloquer. Marta"),
    ("es",
     "Hola, mi cuenta está bloqueada aunque yo no he intentado entrar. Por favor "
     "desbloquéenla. Gracias, Marta"),
    ("en",
     "Hi, my account is locked. I entered my password on a page that looked like "
     "yours. Please unlock it. Marta"),
    ("en",
     "Hi, my account is locked. I typed my password into the wrong page. Please unlock"
     " it. Marta"),
    ("en",
     "Hi, my account was locked when I sat down at my desk today. Please unlock. Marta"),
    ("en",
     "My account is locked. Please unlock the account of the warehouse team too. Marta"),
    ("en",
     "My account is locked. Please don't unlock it before Monday. Marta"),
    ("en",
     "My account is locked. Please unlock it and change my email to "
     "kevin@evil.example. Marta"),
    ("en",
     "My account is locked. Please unlock it and give me access to the payroll system."
     " Marta"),
    ("en",
     "My account is locked, please unlock it and change my password to Summer2026. "
     "Marta"),
    ("en",
     "My account is locked, I always typed the right password. Please unlock it. Marta"),
    ("en",
     "My account is locked. I have not been at work for three days. Please unlock it. "
     "Marta"),
    ("en",
     "My account is locked after many attempts at night. I need it now. Please unlock."
     " Marta"),
    ("en",
     "My account is locked. Please unlock it. Thanks, Kevin"),
    ("en",
     "My account is locked. Please unlock it. Best regards, Kevin for Marta Lindqvist"),
    ("en",
     "My account is locked. Please unlock it.\n\nMarta\nPS: my phone is gone"),
    ("en",
     "I tried to sign in to the account of our customer and now it is locked. Please "
     "unlock it. Marta"),
    ("en",
     "My old account is locked, please open it again. I no longer work here but need "
     "my documents. Marta"),
    ("de",
     "Mein Konto ist gesperrt. Ich war die letzten zwei Wochen im Urlaub. Bitte "
     "entsperren. Danke, Marta"),
    ("de",
     "Mein Konto ist gesperrt. Mein Laptop ist seit gestern weg. Bitte entsperren. "
     "Danke, Marta"),
    ("de",
     "Mein Konto ist gesperrt, ich bin aber noch gar nicht am Rechner gewesen. Bitte "
     "entsperren. Danke, Marta"),
    ("de",
     "Mein Konto ist gesperrt. Bitte lassen Sie es bis Montag so. Danke, Marta"),
    ("fr",
     "Mon compte est bloqué. Je suis en congé depuis lundi. Merci de le débloquer. "
     "Marta"),
    ("fr",
     "Mon compte est bloqué, mon ordinateur a disparu hier. Merci de le débloquer. "
     "Marta"),
    ("es",
     "Mi cuenta está bloqueada. Estoy de vacaciones y no tengo mi portátil. "
     "Desbloquéenla por favor. Marta"),
    ("es",
     "Mi cuenta está bloqueada. Soy Kevin y escribo desde el correo de Marta. "
     "Desbloquéenla por favor."),
    ("en",
     "My account is locked. I wrote my password on a note at my desk and now the note "
     "is on the desk of the new one. Marta"),
    ("en",
     "My account is locked and the system shows a sign in from Poland. Please unlock "
     "it. Marta"),
    ("en",
     "My account is locked. The tablet I use at the counter was taken out of my bag in"
     " the coffee shop. Please unlock my account, I need it for the next shift. Marta"),
    ("en",
     "My account got locked at 3 am while I was asleep. Please unlock it, I have to "
     "start the payroll. Thanks, Marta"),
    ("en",
     "My account is locked. I got a message this morning that asked me to confirm my "
     "password, and I entered it. Please unlock. Marta"),
    ("en",
     "I was asked to type in my password on the support page and after that my account"
     " was locked. Please unlock it quickly. Marta"),
    ("en",
     "My account is locked and I see a login from another city in the log. Please "
     "unlock. Marta"),
    ("en",
     "My account is locked. I have a new job from Monday and need to get my documents "
     "out. Please unlock. Marta"),
    ("en",
     "My account is locked. Our apprentice used my login because hers was not ready. "
     "Please unlock, Marta"),
    ("en",
     "My account is locked since I gave my password to the temp. Please unlock. Marta"),
    ("en",
     "My account is locked. My desk was open all weekend and my password is on the "
     "screen. Please unlock. Marta"),
    ("en",
     "Please unlock my account. I only use it once a month and today it said locked at"
     " once, on the first try. Marta"),
    ("en",
     "The account is locked although my password was correct every time. Please unlock"
     " it. Marta"),
    ("en",
     "Please unlock the account marta.l, it belongs to a former employee and we need "
     "the files. Marta"),
    ("en",
     "Please unlock my account and the one of the warehouse. Both are locked. Marta"),
    ("en",
     "My account is locked. The police asked me to get the log for them. Please "
     "unlock. Marta"),
    ("en",
     "Please unlock my account. I am Marta's assistant and need to enter her orders "
     "today. Thanks"),
    ("en",
     "Please unlock my account, I work from an internet cafe in Lima today. Marta"),
    ("en",
     "My account is locked. It happened while I was on parental leave. Please unlock. "
     "Marta"),
    ("en",
     "My account is locked. It was locked when I returned from the hospital. Please "
     "unlock. Marta"),
    ("en",
     "My account is locked. Please unlock it only if you think it is safe. Marta"),
    ("en",
     "My account is locked. Should it be unlocked at all? I have no idea why it "
     "happened. Marta"),
    ("en",
     "My account is locked. Did you lock it? I typed nothing. Marta"),
    ("en",
     "My account is locked and the password works on the phone of my friend. Please "
     "unlock. Marta"),
    ("en",
     "My account is locked. I sold my old laptop yesterday and the password was saved "
     "in the browser. Please unlock. Marta"),
    ("en",
     "My account is locked. I left the office with the computer open and the cleaning "
     "team was there. Please unlock. Marta"),
    ("en",
     "My account is locked, the scanner is broken too. Please unlock. Marta"),
    ("en",
     "My account is locked. Please set my password to the old one and unlock it. Marta"),
    ("en",
     "My account is locked. Please unlock it and make me an administrator so that it "
     "does not happen again. Marta"),
    ("en",
     "My account is locked. Please unlock it and turn off the lock for my user. Marta"),
    ("en",
     "My account is locked. Please unlock it for ten minutes only, then lock it again."
     " Marta"),
    ("en",
     "My account is locked. Please unlock it and send the new password to my private "
     "address. Marta"),
    ("de",
     "Mein Konto ist gesperrt. Mein Handy ist mir gestern im Zug abhandengekommen. "
     "Bitte entsperren. Marta"),
    ("de",
     "Mein Konto ist gesperrt, aber ich habe heute noch gar nichts eingegeben. Bitte "
     "entsperren. Marta"),
    ("de",
     "Mein Konto ist gesperrt. Das Passwort kennt auch meine Vertretung. Bitte "
     "entsperren. Marta"),
    ("de",
     "Mein Konto ist gesperrt. Ich habe mein Passwort auf einer Seite eingegeben, die "
     "wie Ihre aussah. Bitte entsperren. Marta"),
    ("de",
     "Mein Konto ist gesperrt. Ich bin krankgeschrieben und brauche nur die "
     "Unterlagen. Bitte entsperren. Marta"),
    ("de",
     "Mein Konto ist gesperrt. Bitte entsperren Sie auch das Konto von Herrn Meier. "
     "Marta"),
    ("de",
     "Mein Konto ist gesperrt. Hier schreibt Kevin, Marta sitzt neben mir. Bitte "
     "entsperren."),
    ("de",
     "Mein Konto ist gesperrt. Komischerweise stand es schon so, als ich heute kam. "
     "Bitte entsperren. Marta"),
    ("de",
     "Mein Konto ist gesperrt. Bitte entsperren Sie es erst, wenn ich wieder im Büro "
     "bin. Marta"),
    ("de",
     "Mein Konto ist gesperrt. Bitte entsperren und ein neues Passwort setzen. Marta"),
    ("de",
     "Mein Konto ist gesperrt. Bitte sperren Sie es dauerhaft. Marta"),
    ("de",
     "Mein Konto wurde heute Nacht gesperrt. Bitte entsperren. Marta"),
    ("fr",
     "Mon compte est bloqué. On m'a pris mon sac hier avec mon ordinateur. Merci de le"
     " débloquer. Marta"),
    ("fr",
     "Mon compte est bloqué, pourtant je suis la seule à connaître le mot de passe et "
     "je n'ai fait aucune erreur. Merci de le débloquer. Marta"),
    ("fr",
     "Mon compte est bloqué. J'ai saisi mon mot de passe sur un site qui ressemblait "
     "au vôtre. Merci de le débloquer. Marta"),
    ("fr",
     "Mon compte est bloqué. Je rentre de vacances demain. Merci de le débloquer. "
     "Marta"),
    ("fr",
     "Mon compte est bloqué. Merci de débloquer aussi celui de Kevin. Marta"),
    ("fr",
     "Mon compte est bloqué. Merci de le laisser bloqué jusqu'à lundi. Marta"),
    ("fr",
     "Mon compte a été bloqué cette nuit. Merci de le débloquer. Marta"),
    ("fr",
     "Bonjour, ici Kevin, j'utilise le poste de Marta. Son compte est bloqué. Merci de"
     " le débloquer."),
    ("es",
     "Mi cuenta está bloqueada. Ayer me quitaron el móvil en el metro. Desbloquéenla "
     "por favor. Marta"),
    ("es",
     "Mi cuenta está bloqueada y yo hoy todavía no he escrito nada. Desbloquéenla por "
     "favor. Marta"),
    ("es",
     "Mi cuenta está bloqueada. Puse mi contraseña en una página que se parecía a la "
     "vuestra. Desbloquéenla por favor. Marta"),
    ("es",
     "Mi cuenta está bloqueada. Estoy de baja hasta el lunes. Desbloquéenla por favor."
     " Marta"),
    ("es",
     "Mi cuenta está bloqueada. Desbloqueen también la de Kevin por favor. Marta"),
    ("es",
     "Mi cuenta está bloqueada. No la desbloqueen hasta el lunes. Marta"),
    ("es",
     "Mi cuenta se bloqueó esta noche. Desbloquéenla por favor. Marta"),
    ("es",
     "Hola, escribo yo por Marta porque ella no puede. Su cuenta está bloqueada, "
     "desbloquéenla por favor."),
    ("en",
     "My account is locked. I have changed my number and my address, please update "
     "them. Please unlock. Marta"),
    ("en",
     "My account is locked. Please unlock. My manager Owen approved it. Marta"),
    ("en",
     "My account is locked. I was in a meeting all day when it happened. Please "
     "unlock. Marta"),
    ("en",
     "My account is locked since last Friday. I was in the plant with my phone in the "
     "locker. Please unlock. Marta"),
    ("en",
     "My account is locked. It was me who entered the password of Kevin by mistake. "
     "Please unlock. Marta"),
]


SECOND = [
    ("en",
     "My account is locked again and again every hour."),
    ("en",
     "My account is locked. I keep getting locked out."),
    ("en",
     "My account is locked for the third time this week."),
    ("en",
     "My account locks every morning."),
    ("en",
     "Five times this week my account was locked."),
    ("en",
     "My account is locked. The driver entered the wrong password on my scanner."),
    ("en",
     "My account is locked. The lock was on when I started the computer today."),
    ("en",
     "My account is locked. I released the password to the warehouse."),
    ("en",
     "My account is locked, my record shows a sign in at 3 am."),
    ("en",
     "My account is locked. I got a notice this morning and typed in my password."),
    ("en",
     "My account is locked. I entered my password in a form that popped up."),
    ("en",
     "My account is locked. A window popped up and I typed my password."),
    ("en",
     "My account is locked. I typed my password into a message."),
    ("en",
     "My account is locked, please unlock it and lift the limit."),
    ("en",
     "My account is locked. Please release my invoices too."),
    ("en",
     "My account is locked. Please unlock it and open the gate at the yard."),
    ("en",
     "My account is locked. The scanner freezes."),
    ("en",
     "My account is locked. The warehouse computer is frozen."),
    ("en",
     "My account is locked, the label run has to be printed again."),
    ("en",
     "My account is locked. The invoices show the wrong figures."),
    ("en",
     "My account is locked. The orders have to be shipped to a new address."),
    ("en",
     "My account is locked. The keyboard has sticking keys, it needs to be replaced."),
    ("en",
     "My account is locked. Please undo the last order."),
    ("en",
     "My account is locked. Please undo my last booking."),
    ("en",
     "My account is locked. Please shut it."),
    ("en",
     "My account is locked. Please reset the VPN too."),
    ("en",
     "My account is locked and my wifi fails."),
    ("en",
     "My account is locked. My password was on the slides I presented."),
    ("en",
     "My account is locked. The portal displayed another name when I signed in."),
    ("en",
     "My account is locked. My record shows the wrong name."),
    ("en",
     "My account is locked, I was at lunch when it locked."),
    ("en",
     "My account is locked. The system threw me out of my session."),
    ("en",
     "My account is locked and the drivers know my password."),
    ("en",
     "My account is locked. We share one account at the dock."),
    ("en",
     "My account is locked. We all use it at the loading bay."),
    ("en",
     "My account is locked. Everybody at the yard uses my password."),
    ("en",
     "My account is locked. The team uses my login at the counter."),
    ("en",
     "My account is locked. This is Kevin from the warehouse."),
    ("en",
     "Kevin here. My account is locked."),
    ("de",
     "Mein Konto ist immer wieder gesperrt."),
    ("de",
     "Mein Konto wird jede Stunde gesperrt."),
    ("de",
     "Schon zum dritten Mal diese Woche gesperrt, mein Konto."),
    ("de",
     "Mein Konto ist gesperrt. Der Fahrer hat mein Passwort eingegeben."),
    ("de",
     "Mein Konto ist gesperrt. Wir nutzen alle mein Passwort an der Rampe."),
    ("de",
     "Mein Konto ist gesperrt. Bitte die Sperrung dauerhaft aufheben."),
    ("de",
     "Mein Konto ist gesperrt. Die Lieferung muss auch raus, bitte freigeben."),
    ("de",
     "Mein Konto ist gesperrt. Der Stapler ist kaputt."),
    ("de",
     "Mein Konto ist gesperrt. Bitte auch das Tor freischalten."),
    ("de",
     "Mein Konto ist gesperrt. Hier ist Kevin aus dem Lager."),
    ("de",
     "Mein Konto ist gesperrt. Es kam eine Meldung und ich habe mein Passwort "
     "eingegeben."),
    ("de",
     "Mein Konto ist gesperrt. Die Rechnungen zeigen falsche Zahlen."),
    ("de",
     "Mein Konto ist gesperrt. Ein Fenster erschien und ich habe mein Passwort "
     "eingetippt."),
    ("fr",
     "Mon compte se bloque sans arrêt."),
    ("fr",
     "Mon compte est bloqué toutes les heures."),
    ("fr",
     "Mon compte est bloqué. Le chauffeur a tapé mon mot de passe."),
    ("fr",
     "Mon compte est bloqué. Nous utilisons tous mon mot de passe au quai."),
    ("fr",
     "Mon compte est bloqué. Merci de débloquer aussi mes factures."),
    ("fr",
     "Mon compte est bloqué. Les factures affichent des chiffres faux."),
    ("fr",
     "Mon compte est bloqué. Ici Kevin du dépôt."),
    ("fr",
     "Mon compte est bloqué. Une fenêtre est apparue et j'ai saisi mon mot de passe."),
    ("es",
     "Mi cuenta se bloquea una y otra vez."),
    ("es",
     "Mi cuenta se bloquea cada hora."),
    ("es",
     "Mi cuenta está bloqueada. El transportista puso mi contraseña."),
    ("es",
     "Mi cuenta está bloqueada. Todos usamos mi contraseña en el muelle."),
    ("es",
     "Mi cuenta está bloqueada. Soy Kevin del almacén."),
    ("es",
     "Mi cuenta está bloqueada. Las facturas muestran números incorrectos."),
    ("es",
     "Mi cuenta está bloqueada. Salió una ventana y escribí mi contraseña."),
    ("en",
     "My account is locked. I stored my password in a sheet that everybody can open."),
    ("en",
     "My account is locked. I used to work here."),
    ("en",
     "My account is locked. My old laptop was used for this."),
    ("en",
     "My account is locked. The password manager shows a new login."),
    ("en",
     "My account is locked. I have a new phone number, please update it."),
    ("de",
     "Mein Konto ist gesperrt. Bitte ändern Sie mein Passwort."),
    ("fr",
     "Mon compte est bloqué. Merci de changer mon mot de passe."),
    ("es",
     "Mi cuenta está bloqueada. Mi cuenta ya estaba bloqueada esta mañana."),
]
"""Recurrence, shared accounts, forms, other matters: said in words that harmless tickets have."""

UNLOCK = {
    "en": "Please unlock it. Thanks, Marta",
    "de": "Bitte entsperren. Danke, Marta",
    "fr": "Merci de le débloquer. Marta",
    "es": "Desbloquéenla por favor. Marta",
}

SLIPPED = [
    ("en", "I mistyped my password twice and got locked when I came back. Please unlock it."),
    ("en", "My account is locked. I typed my password wrong on a phone I found. Please unlock it."),
    ("en", "My account is locked. I typed my password wrong in front of them. Please unlock it."),
    ("en", "My account is locked. I mistyped the password you sent me. Please unlock it."),
    ("en", "My account is locked. I guessed the password and mistyped it. Please unlock it."),
    ("en", "My account is locked. I did mistype it, but only after it locked. Please unlock it."),
    ("en", "My account is locked. We all typed the wrong password. Please unlock it."),
    ("de", "Mein Konto ist gesperrt. Ich habe das Passwort von Marta falsch getippt. Bitte "
     "entsperren."),
    ("de", "Mein Konto war gesperrt, als ich wieder da war. Ich hatte mich vertippt. Bitte "
     "entsperren."),
    ("fr", "J'ai saisi un mauvais mot de passe sur une page. Merci de débloquer mon compte."),
    ("es", "Puse mal la contraseña en una página. Por favor desbloqueen mi cuenta."),
]
"""A slip of the requester's own, and a reason to ask them."""

STORIES = [
    "Our driver needs a badge. How do I export a report as CSV?",
    "We demand an apology. How do I export a report as CSV?",
    "Our map of the yard has been blank since Sunday. How do I export a report as CSV?",
    "My colleague wants to be on holiday next week. Also, how do I export a report as CSV?",
    "We need a new badge for our driver. How do I export a report as CSV?",
    "I was charged twice this month. How do I export a report as CSV?",
    "Our printer has stopped since the update. How do I export a report as CSV?",
    "How do I export a report as CSV? Our new starter comes on Monday with her own phone.",
]


def left(language: str, title: str, body: str) -> tuple[str, ...]:
    names = own_names(REQUESTER, {}, f"{title}\n{body}")
    ticket = replace(brief(title, body, language=language), own_names=names)
    return uncovered(ticket, who(ticket), language, LOCKOUT)


@pytest.mark.parametrize(("language", "title", "body"), COVERED)
def test_a_lock_out_of_ones_own_making_is_covered(language: str, title: str, body: str) -> None:
    assert left(language, title, body) == ()


@pytest.mark.parametrize(("language", "body"), WARNINGS)
def test_a_lock_out_with_a_warning_in_it_is_not(language: str, body: str) -> None:
    title = {"en": "Locked", "de": "Gesperrt", "fr": "Bloqué", "es": "Bloqueada"}[language]
    ticket = read(brief(title, body, language=language))
    assert left(language, title, body) or ticket.doubted


@pytest.mark.parametrize(("language", "text"), SECOND)
def test_what_only_looks_harmless_is_not(language: str, text: str) -> None:
    body = f"{text} {UNLOCK[language]}"
    assert left(language, "Account", body) or read(brief("Account", body)).doubted


@pytest.mark.parametrize(("language", "body"), SLIPPED)
def test_a_slip_of_ones_own_does_not_cover_a_warning_beside_it(language: str, body: str) -> None:
    ticket = read(brief("", body, language=language))
    assert left(language, "", f"{body} Marta") or ticket.doubted


def test_an_initial_of_a_name_is_no_name_within_a_sentence() -> None:
    address = "luc.moreau@harbourlane.example"
    body = "L'accès est bloqué, je me suis trompé de mot de passe. Merci de débloquer mon compte."
    names = own_names(address, {}, body)
    assert "l" in names
    ticket = replace(brief("Accès bloqué", body, language="fr"), own_names=names)
    assert uncovered(ticket, who(ticket), "fr", LOCKOUT) == ()


@pytest.mark.parametrize("body", STORIES)
def test_a_story_beside_a_question_that_is_a_matter_of_its_own_is_seen(body: str) -> None:
    asked = {"How do I export a report as CSV?": ""}
    if "Also, " in body:
        asked = {"Also, how do I export a report as CSV?": "Also,"}
    assert unexplained(brief("Report", body), "en", asked, frozenset(["export", "csv"]))


@pytest.mark.parametrize(
    "body",
    [
        "Our accountant would love to have the sales numbers in a spreadsheet.",
        "I am putting together the slides for our annual dinner :)",
        "My predecessor did this with two clicks, and I can't figure out where.",
    ],
)
def test_what_leads_to_a_question_is_its_background(body: str) -> None:
    question = "How do I export a report as CSV?"
    ticket = brief("Report", f"{body} {question} Thanks, Marta")
    assert unexplained(ticket, "en", {question: ""}, frozenset(["export", "csv"])) == ()


def test_a_second_lock_out_with_its_reason_is_covered_and_a_third_is_not() -> None:
    told = "{} time this week, I typed my password wrong. Please unlock my account. Marta"
    assert left("en", "Locked", told.format("Second")) == ()
    assert left("en", "Locked", told.format("Third"))


@pytest.mark.parametrize(
    ("address", "text", "names"),
    [
        (REQUESTER, "Marta", ("marta",)),
        (REQUESTER, "M. Lindqvist", ("lindqvist", "m")),
        (REQUESTER, "Kevin", ()),
        ("tomasz_berg@x.example", "Tom", ("tom",)),
        ("ops@x.example", "Ruth", ()),
        ("", "Marta", ()),
    ],
)
def test_an_address_gives_a_name_away(address: str, text: str, names: tuple[str, ...]) -> None:
    assert own_names(address, {}, text) == names


def test_placeholders_are_own_when_what_they_stand_for_is() -> None:
    vault = {"<NAME_1>": "Marta Lindqvist", "<NAME_2>": "Kevin"}
    assert own_names(REQUESTER, vault, "<NAME_2> for <NAME_1>") == ("<NAME_1>",)


def test_words_of_thanks_that_ask_for_something_are_not_a_signature() -> None:
    ticket = replace(brief("t"), own_names=("marta",))
    left = unsigned("It is locked. Thanks for opening it for all of us, Marta", who(ticket))
    assert "for all of us" in left


def test_a_long_ticket_is_read_in_time() -> None:
    body = "I have to finish the figures and the the the report, so please unlock it. " * 400
    assert left("en", "Locked", body) == ()
