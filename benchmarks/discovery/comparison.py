"""What simpler ways would find: plain cosine, the opposite side alone, documents by rules.

Each by the intents alone, and with the profile counted, too; by the deployment's own model.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from benchmarks.discovery.scores import Ranked, summed_up
from cairn.discovery.matching.lenses import lenses_of
from cairn.discovery.matching.searching import FITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from benchmarks.discovery.corpus import Corpus
    from cairn.embedding.port import Embedder

PROFILE = 0.4
"""What the profile weighs where it is counted."""


def compared(corpus: Corpus, embedder: Embedder) -> dict[str, Any]:
    """Return how good each simpler way is."""
    names = list(corpus.intents)
    texts = [corpus.intents[name]["text"] for name in names]
    intents = _vectors(embedder, texts)
    people = list(corpus.people)
    profiles = _vectors(embedder, [corpus.about(person) or person for person in people])
    place = {person: at for at, person in enumerate(people)}
    owners = [place[corpus.intents[name]["person"]] for name in names]
    by_intent, by_profile = intents @ intents.T, (intents @ profiles.T)[:, owners]
    through, in_profiles = _through_lenses(corpus, embedder, names, intents, profiles)
    hyde, hyde_profile = through, (in_profiles)[:, owners]
    ways: list[tuple[str, NDArray[Any], NDArray[Any], bool]] = [
        ("cosine", by_intent, by_profile, False),
        ("opposite_side", by_intent, by_profile, True),
        ("hyde_by_rules", hyde, hyde_profile, True),
    ]
    table: dict[str, Any] = {}
    for name, own, profile, opposite in ways:
        table[name] = summed_up(corpus, _ranked(corpus, names, own, opposite=opposite))
        both = (1 - PROFILE) * own + PROFILE * profile
        table[f"{name}_with_profile"] = summed_up(
            corpus, _ranked(corpus, names, both, opposite=opposite)
        )
    return table


def _through_lenses(
    corpus: Corpus,
    embedder: Embedder,
    names: Sequence[str],
    intents: NDArray[Any],
    profiles: NDArray[Any],
) -> tuple[NDArray[Any], NDArray[Any]]:
    import numpy as np

    rows: dict[str, list[Any]] = {"intents": [], "profiles": []}
    for name in names:
        intent = corpus.intents[name]
        lenses = lenses_of(intent["text"], intent["side"])
        vectors = _vectors(embedder, [lens.document for lens in lenses])
        for corpus_name, against in (("intents", intents), ("profiles", profiles)):
            near: list[Any] = [
                vector @ against.T
                for lens, vector in zip(lenses, vectors, strict=True)
                if lens.corpus == corpus_name
            ]
            rows[corpus_name].append(np.max(near, axis=0))
    return np.array(rows["intents"]), np.array(rows["profiles"])


def _vectors(embedder: Embedder, texts: Sequence[str]) -> NDArray[Any]:
    import numpy as np

    return np.array([embedder.embed([text])[0] for text in texts])


def _ranked(
    corpus: Corpus, names: Sequence[str], likeness: NDArray[Any], *, opposite: bool
) -> list[Ranked]:
    rankings: list[Ranked] = []
    for at, name in enumerate(names):
        if name not in corpus.pairs:
            continue
        best: Mapping[str, float] = _best(corpus, names, name, likeness[at], opposite=opposite)
        people = sorted(best, key=lambda person: (-best[person], person))
        rankings.append(Ranked(intent=name, people=people))
    return rankings


def _best(
    corpus: Corpus,
    names: Sequence[str],
    name: str,
    likeness: NDArray[Any],
    *,
    opposite: bool,
) -> dict[str, float]:
    asker, best = corpus.intents[name], defaultdict[str, float](lambda: -1.0)
    for other, score in zip(names, likeness.tolist(), strict=True):
        intent = corpus.intents[other]
        shared = set(intent["networks"]) & set(asker["networks"])
        if intent["person"] == asker["person"] or not shared:
            continue
        if not opposite or intent["side"] in FITS[asker["side"]]:
            best[intent["person"]] = max(best[intent["person"]], score)
    return dict(best)
