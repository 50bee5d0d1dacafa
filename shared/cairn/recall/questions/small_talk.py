"""Messages that ask for nothing: greetings, thanks, goodbyes, go on. A closed list of phrases.

A message is small talk only when nothing else is in it: "hello" is, "hello, where is Ana?" is not.
"""

# ruff: noqa: RUF001 - letters of other alphabets are meant

import re
import unicodedata
from collections.abc import Mapping
from functools import cache

_GREETING = """
    hello; hi; hey; hiya; howdy
    yo; greetings; good morning; good afternoon; good evening; good day
    hi there; hello there; hey there
    how are you; how are you doing; how is it going; what's up
    how's it going; nice to meet you; welcome
    bonjour; salut; bonsoir; coucou; ça va; comment ça va; comment allez vous
    hallo; guten morgen; guten tag; guten abend; grüß gott; servus; moin; wie geht es dir
    wie geht's; wie geht es ihnen; hola; buenos días
    buenas; buenas tardes; buenas noches; qué tal; cómo estás
    ciao; buongiorno; buonasera; salve; come stai
    come va; olá; oi; bom dia; boa tarde; boa noite
    tudo bem; goedemorgen; goedemiddag; goedenavond; goedendag; hoi; dag; hoe gaat het
    hej; hejsan; god morgon; god dag; god morgen
    hei; moi; terve; cześć; dzień dobry; dobry wieczór
    ahoj; dobrý den; szia; jó napot; salut; bună; bună ziua; merhaba; selam; günaydın
    привет; здравствуйте; здравствуй; доброе утро
    добрый день; добрый вечер; вітаю; привіт
    γεια; γεια σου; καλημέρα; שלום; مرحبا
    السلام عليكم; صباح الخير; سلام; नमस्ते; नमस्कार
    你好; 您好; 早上好; 晚上好; 嗨; こんにちは; こんばんは; おはよう; おはようございます
    안녕; 안녕하세요; xin chào; halo; selamat pagi
    สวัสดี; สวัสดีครับ; สวัสดีค่ะ; habari; jambo
"""
_THANKS = """
    thanks; thank you; thx; ty; cheers; much appreciated; appreciated; thanks for your help
    thank you for your help; thanks for the help; that helps
    that helped; that's helpful; nice work; works; it works; it works now; works now; that works
    that worked; it is working; it's working; working; solved; problem solved; all good
    that fixed it
    good job; well done; great job; awesome; perfect; great; excellent; brilliant; wonderful
    merci; merci beaucoup; parfait; danke; danke schön; danke sehr; vielen dank; besten dank
    es geht wieder; es funktioniert; funktioniert; funktioniert wieder; erledigt; ça marche
    ça fonctionne; c'est réglé; ya funciona; funciona; resuelto
    herzlichen dank; perfekt; super; gracias; muchas gracias; perfecto; grazie; grazie mille
    perfetto; obrigado; obrigada; muito obrigado
    muito obrigada; bedankt; dank je; dank je wel; dank u
    dank u wel; hartelijk dank; tack; tack så mycket; takk; tusen takk; tak; mange tak; kiitos
    dziękuję; dzięki; děkuji; díky; köszönöm; mulțumesc; teşekkürler; teşekkür ederim; sağ ol
    спасибо; большое спасибо; спасибо большое; благодарю; дякую; ευχαριστώ
    תודה; תודה רבה; شكرا; شكراً; شكرا جزيلا
    متشکرم; धन्यवाद; शुक्रिया; 谢谢; 謝謝; 多谢; 非常感谢; 谢谢你; ありがとう; ありがとうございます
    ありがとうございました; 감사합니다; 고마워; 고맙습니다; cảm ơn; terima kasih; ขอบคุณ; ขอบคุณครับ
    ขอบคุณค่ะ; asante
"""
_FAREWELL = """
    bye; bye bye; goodbye; good bye
    see you; see you later; see you soon; see you tomorrow; later
    good night; have a nice day; have a good day
    take care; au revoir; à bientôt; bonne journée
    bonne nuit; tschüss; auf wiedersehen; bis bald; bis später; gute nacht; adiós; hasta luego
    hasta mañana; arrivederci; a presto; buonanotte
    tchau; até logo; até amanhã; tot ziens; doei
    hej då; ha det; farvel; do widzenia
    na razie; na shledanou; viszlát; la revedere; hoşça kal
    до свидания; пока; до побачення; αντίο; להתראות; مع السلامة; अलविदा; 再见; 再見; 拜拜
    さようなら; またね; じゃあね; おやすみ; 안녕히 계세요; 잘 가; tạm biệt; ลาก่อน
"""
_CONTINUE = """
    continue; go on; go ahead; keep going; carry on
    proceed; next; and then; do it; please continue
    ok; okay; k; alright; all right; sure
    fine; got it; i see; understood; makes sense; sounds good
    cool; right; exactly; indeed; noted; never mind; nevermind; stop; wait; hold on; one moment
    continuez; continue s'il te plaît; d'accord; vas y; compris; entendu; weiter; mach weiter
    weiter so; einverstanden; verstanden; alles klar; in ordnung; na gut; genau; gut; los
    continúa; sigue; adelante; vale; de acuerdo
    entendido; está bien; continua; vai avanti; avanti
    va bene; d'accordo; capito; certo; prossegue
    pode continuar; tá bom; certo; ga door; ga verder
    oké; begrepen; prima; fortsätt; fortsett
    fortsæt; jatka; kontynuuj; dalej; dobrze; pokračuj
    dobře; folytasd; continuă; devam et; devam
    tamam; продолжай; продолжайте; дальше; хорошо
    понятно; ок; ладно; продовжуй; добре; συνέχισε; εντάξει
    המשך; בסדר; استمر; تابع; حسنا; जारी रखें; ठीक है
    继续; 繼續; 好的; 好; 明白了; 知道了; 続けて; 続けてください; はい; わかりました; 了解; 계속
    계속해; 알겠습니다; 네; tiếp tục; lanjutkan; baik; ทำต่อ; ต่อไป
"""
_FILLER = """
    there; again; everyone; everybody; all; team
    friend; folks; guys; please; so much; very much
    a lot; a bunch; you; for now; then; so; oh; ah
    um; well; and; very; really; much; too; to you
    mate; buddy; assistant; agent; bot
    à tous; s'il vous plaît; s'il te plaît; bitte; por favor
    per favore; alstublieft; proszę; пожалуйста; zusammen; alle; a todos; a tutti
"""

GREETING, THANKS, FAREWELL, CONTINUE = "a greeting", "thanks", "a goodbye", "nothing new is asked"

_LONGEST = 80  # characters; small talk is short
_NOT_WORDS = re.compile(r"[^\w']+|_+")


def small_talk(message: str) -> str | None:
    """Return what sort of small talk all of `message` is, None when it may ask for something."""
    if len(message) > _LONGEST:
        return None
    left = _words(message)
    kind: str | None = None
    while left:
        for size in range(min(_longest(), len(left)), 0, -1):
            phrase = _phrases().get(" ".join(left[:size]))
            if phrase is not None:
                break
        else:
            return None
        kind = kind or phrase or None
        left = left[size:]
    return kind


def _words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).replace("\u2019", "'").casefold()
    return _NOT_WORDS.sub(" ", _without_marks(folded)).split()


def _without_marks(text: str) -> str:
    """Return `text` without combining marks, so that "a bientot" is "à bientôt"."""
    apart = unicodedata.normalize("NFD", text)
    return "".join(item for item in apart if not unicodedata.combining(item))


@cache
def _phrases() -> Mapping[str, str]:
    """Return phrase -> sort, "" for words that add nothing. Made when first asked for."""
    table: dict[str, str] = {}
    lists = ((_FILLER, ""), (_CONTINUE, CONTINUE), (_FAREWELL, FAREWELL))
    for text, kind in (*lists, (_THANKS, THANKS), (_GREETING, GREETING)):
        phrases = (part for line in text.splitlines() for part in line.split(";"))
        table |= {" ".join(_words(phrase)): kind for phrase in phrases if phrase.strip()}
    return table


@cache
def _longest() -> int:
    return max(len(phrase.split()) for phrase in _phrases())
