"""Models small enough to write by hand: an ONNX file and its tokenizer, each.

A cross-encoder: each word of the vocabulary has a weight; a pair's logit is the sum of the weights
of the words of its second text, less `BIAS`. A sentence encoder: each word's state is a row of a
table, and words that mean the same share one. The files are ONNX's protobuf, written field by
field.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

WEIGHTS = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "lunch": 4, "repaired": 12, "pump": 9}
BIAS = 10.0
FLOAT, INT64 = 1, 7
ENCODER_INPUTS = ("input_ids", "attention_mask")


def cross_encoder(folder: Path, *, token_types: bool = True) -> Path:
    """Write the model into `folder` and return it; without `token_types` all words count."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(_model(token_types=token_types))
    (folder / "tokenizer.json").write_text(json.dumps(_tokenizer()), encoding="utf-8")
    return folder


def sentence_encoder(folder: Path, synonyms: Sequence[Sequence[str]], dimensions: int) -> Path:
    """Write a model that knows these words into `folder`: XLM-R's tokens, no token types."""
    folder.mkdir(parents=True, exist_ok=True)
    words = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
    table = [[0.01] + [0.0] * (dimensions - 1) for _ in words]
    for place, group in enumerate(synonyms, start=1):
        for word in group:
            words[word] = len(table)
            table.append([float(at == place) for at in range(dimensions)])
    raw = b"".join(struct.pack(f"<{dimensions}f", *row) for row in table)
    graph = b"".join(
        [
            _node("Gather", ["table", "input_ids"], "states"),
            _text(2, "tiny"),
            _message(5, _tensor("table", FLOAT, raw, (len(table), dimensions))),
            *[_message(11, _value(name, INT64, ["batch", "tokens"])) for name in ENCODER_INPUTS],
            _message(12, _value("states", FLOAT, ["batch", "tokens", dimensions])),
        ]
    )
    (folder / "model.onnx").write_bytes(_file(graph))
    between = {"cls": ["<s>", 0], "sep": ["</s>", 2]}
    processor = {"type": "RobertaProcessing", **between, "trim_offsets": True}
    told = {**_tokenizer(), "post_processor": {**processor, "add_prefix_space": False}}
    told["model"] = {"type": "WordLevel", "vocab": words, "unk_token": "<unk>"}
    (folder / "tokenizer.json").write_text(json.dumps(told), encoding="utf-8")
    return folder


def _tokenizer() -> dict[str, object]:
    def piece(kind: str, name: str, type_id: int) -> dict[str, object]:
        return {kind: {"id": name, "type_id": type_id}}

    special = {
        name: {"id": name, "ids": [WEIGHTS[name]], "tokens": [name]} for name in ("[CLS]", "[SEP]")
    }
    first = [
        piece("SpecialToken", "[CLS]", 0),
        piece("Sequence", "A", 0),
        piece("SpecialToken", "[SEP]", 0),
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": first,
            "pair": [*first, piece("Sequence", "B", 1)],
            "special_tokens": special,
        },
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": WEIGHTS, "unk_token": "[UNK]"},
    }


def _model(*, token_types: bool) -> bytes:
    """Return logits = float(sum(input_ids x token_type_ids)) - BIAS, one a row."""
    asked = ["input_ids", "attention_mask", *(["token_type_ids"] if token_types else [])]
    kept = "token_type_ids" if token_types else "attention_mask"
    graph = b"".join(
        [
            _node("Mul", ["input_ids", kept], "kept"),
            _node("ReduceSum", ["kept", "axis"], "sum", {"keepdims": 1}),
            _node("Cast", ["sum"], "weight", {"to": FLOAT}),
            _node("Sub", ["weight", "bias"], "logits"),
            _text(2, "tiny"),
            _message(5, _tensor("axis", INT64, struct.pack("<q", 1))),
            _message(5, _tensor("bias", FLOAT, struct.pack("<f", BIAS))),
            *[_message(11, _value(name, INT64, ["batch", "tokens"])) for name in asked],
            _message(12, _value("logits", FLOAT, ["batch", 1])),
        ]
    )
    return _file(graph)


def _file(graph: bytes) -> bytes:
    return _number(1, 8) + _message(7, graph) + _message(8, _text(1, "") + _number(2, 13))


def _node(kind: str, inputs: list[str], output: str, given: dict[str, int] | None = None) -> bytes:
    attributes = [
        _message(5, _text(1, name) + _number(3, value) + _number(20, 2))
        for name, value in (given or {}).items()
    ]
    names = b"".join(_text(1, name) for name in inputs) + _text(2, output)
    return _message(1, names + _text(3, output) + _text(4, kind) + b"".join(attributes))


def _tensor(name: str, kind: int, raw: bytes, shape: Sequence[int] = (1,)) -> bytes:
    sizes = b"".join(_number(1, size) for size in shape)
    return sizes + _number(2, kind) + _text(8, name) + _message(9, raw)


def _value(name: str, kind: int, shape: list[str | int]) -> bytes:
    sizes = [_number(1, item) if isinstance(item, int) else _text(2, item) for item in shape]
    dimensions = b"".join(_message(1, size) for size in sizes)
    tensor = _number(1, kind) + _message(2, dimensions)
    return _text(1, name) + _message(2, _message(1, tensor))


def _text(field: int, text: str) -> bytes:
    return _message(field, text.encode())


def _message(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _number(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])
