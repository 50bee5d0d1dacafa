"""Cut a message into clauses that their speaker states. Questions, quotes, jokes and "if" go."""

import re
from collections.abc import Iterator

from cairn.kernel.text import words

QUOTED = "\u25a1"
"""Stands for what is quoted or code: no words of the speaker."""

_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.S)
_QUOTE = re.compile(r'"[^"\n]*"')

_JOKE = re.compile(
    r"\b(?:just )?(?:kidding|joking)\b|\bjk\b|\byeah,? right\b|(?<!\w)/s\b|^oh sure\b"
    r"|\bsarcas|\bin my dreams\b|\bas if i\b"
    r"|^(?:oh|ah|wow|yeah|yay)?\W*(?:great|wonderful|lovely|brilliant|fantastic|perfect|yay)\b"
    r".*\bi (?:just|so|really|simply) (?:love|adore|enjoy)\b"
    r"|\bi (?:just|so|simply) (?:love|adore|enjoy) (?:it when|when|how|being|getting|having to"
    r"|paying|queu(?:e?ing)|sitting|standing|waiting)\b",
    re.I,
)
_INJECTED = re.compile(
    r"\b(?:ignore (?:all |the |any )?(?:previous|prior|above)|system prompt|you are now|as an admin"
    r"|remember that (?:the )?(?:admin|system|owner)|mark me as|new instructions)\b",
    re.I,
)
_SUPPOSED = re.compile(
    r"\bif\b|^(?:suppose|supposing|imagine|unless|assuming|hypothetically|in theory|let's say)\b",
    re.I,
)
_UNSURE = re.compile(
    r"\b(?:not sure|no idea|i (?:think|guess|suppose|thought|doubt|believe|assume|wonder|wish)"
    r"|correct me|apparently|allegedly|supposedly|rumou?r|(?:they|people) say"
    r"|some(?:one|body) (?:said|told|says))\b",
    re.I,
)
_WOULD = re.compile(
    r"\b(?:as though|would have|could have|should have|might|maybe|perhaps|possibly"
    r"|provided that|can you believe)\b",
    re.I,
)
_ASKED_AFTER = re.compile(
    r",\s*(?:want|do|does|did|would|will|can|could|shall|should|right|see|remember|is|are|isn't"
    r"|aren't|have|has|ok|okay|agreed|you know|wanna|what|how|when|who|where|why)\b[^,]*\?$",
    re.I,
)
_ASKED = re.compile(
    r"^(?:want|do|does|did|would|could|can|shall|should|is|are|what|how|when|who|where|why|will)"
    r"\s+(?:i|you|we|he|she|it|they|the|to see)\b",
    re.I,
)
_OPENING = re.compile(
    r"^(?:(?:yes|yep|yeah|no wait|no way|nope|nah|no|oh|ah|ha+(?: ha+)*|wow|really|actually|right"
    r"|agreed|sorry|thanks|thank you|lol|well|ok|okay|so|and|but|anyway|great|nice|sure"
    r"|of course|guess what|good to know|good (?:morning|evening|afternoon)|hey|hi|hello"
    r"|heads up|by the way|btw|to be (?:honest|fair)|honestly|fine|finally|true|ouch|oops|hm+"
    r"|aww|wait|also|plus|still|because|fair enough|exactly|absolutely|definitely"
    r"|unfortunately|luckily|sadly|and then|you know|i mean|note that|fyi|update|reminder|news"
    r"|correction|scratch that|yesterday|today|lately|recently|currently|these days|congrats"
    r"|congratulations|cool|sweet|awesome|jealous|impressive|that's why|at the moment|in fact"
    r"|obviously"
    r")\b(?:[ ]+[A-Z]\w+(?=[,!]))?[\s,.:!;\-\u2013\u2014]+)+",
    re.I,
)
_ASIDE = re.compile(
    r",?\s*\b(?:by the way|you know|to be (?:honest|exact|fair)|i guess|lol|haha|tbh|btw|though"
    r"|after all|as you know)\b,?",
    re.I,
)
_PRONOUN = r"(?:i|we|my|our|he|she|they|the|it)"
_BETWEEN = re.compile(
    rf";\s+|,?\s+but\s+|,?\s+so (?:that )?(?=(?:{_PRONOUN}|no|please|weekends)\b)"
    rf"|,?\s+because\s+(?!of\b)|,?\s+and\s+(?=(?:{_PRONOUN}|don't|please|never)(?:'\w+)?\s)"
    rf"|,\s+(?=(?:i|we|my|our|he|she|they|it|please|that|hope)(?:'\w+)?\s)"
    r"|,?\s+which is\b|\s+[\u2013\u2014-]\s+",
    re.I,
)


def sentences(text: str) -> list[str]:
    """Return the sentences of a message that are meant: no jokes, nothing that gives orders.

    A joke told as such takes the sentence before it along. Quotes and code become `QUOTED`.
    """
    if _INJECTED.search(text):
        return []
    plain = text.replace("\u2019", "'").replace("\u201c", '"').replace("\u201d", '"')
    plain = _QUOTE.sub(QUOTED, _CODE.sub(QUOTED, plain))
    meant: list[str] = []
    for sentence in words.sentences(plain):
        if not _JOKE.search(sentence):
            meant.append(sentence)
        elif meant and re.search(r"kidding|joking|\bjk\b", sentence, re.I):
            meant.pop()
    return [sentence for sentence in meant if re.search(r"\w", sentence)]


def clauses(sentence: str) -> Iterator[str]:
    """Yield what a sentence states, clause by clause, without what opens or fills it."""
    if sentence.endswith("?"):
        question = _ASKED_AFTER.search(sentence)
        if question is None:
            return
        sentence = sentence[: question.start()]
    sentence = _ASIDE.sub("", without_opening(sentence))
    if QUOTED in sentence or _ASKED.match(sentence) or is_supposed(sentence):
        return
    for clause in _BETWEEN.split(sentence):
        stated = without_opening(clause.strip(" ,.!\u2026")) if clause else ""
        if stated and not _WOULD.search(stated):
            yield stated


def is_supposed(sentence: str) -> bool:
    """Return whether a sentence says what may be, not what is."""
    return bool(_SUPPOSED.search(sentence) or _UNSURE.search(sentence))


def without_opening(clause: str) -> str:
    """Return a clause without "yes,", "by the way" and the like before it."""
    return _OPENING.sub("", clause).strip()
