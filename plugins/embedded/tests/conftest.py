from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from poise_embedded.use import UniversalSentenceEmbedder


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def use() -> UniversalSentenceEmbedder:
    """One for all tests: reading the model takes a second."""
    return UniversalSentenceEmbedder()


class Export:
    """Writes a tiny export as sentence-transformers would: a tokenizer and a table of vectors."""

    width = 8

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(
        self,
        words: Sequence[str] = ("where", "is", "my", "card", "lost", "fee"),
        *,
        type_ids: bool = True,
        pooled: bool = False,
        at: str = "model.onnx",
    ) -> Path:
        self.vocabulary = {
            word: number for number, word in enumerate(("[PAD]", "[UNK]", "[CLS]", *words))
        }
        self.table = (
            np.random.default_rng(7)
            .normal(size=(len(self.vocabulary), self.width))
            .astype(np.float32)
        )
        (self.folder / at).parent.mkdir(parents=True, exist_ok=True)
        self._write_model(self.folder / at, type_ids, pooled)
        self._write_tokenizer()
        return self.folder

    def write_json(self, path: str, content: object) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(json.dumps(content), encoding="utf-8")

    def _write_model(self, path: Path, type_ids: bool, pooled: bool) -> None:
        import onnx
        from onnx import TensorProto, helper, numpy_helper

        names = ["input_ids", "attention_mask", *(["token_type_ids"] if type_ids else [])]
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
            for name in names
        ]
        nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
        output = helper.make_tensor_value_info(
            "last_hidden_state", TensorProto.FLOAT, ["batch", "length", self.width]
        )
        tensors = [numpy_helper.from_array(self.table, "table")]
        if pooled:
            tensors.append(numpy_helper.from_array(np.array([1], dtype=np.int64), "axes"))
            nodes.append(
                helper.make_node(
                    "ReduceMax", ["last_hidden_state", "axes"], ["sentence_embedding"], keepdims=0
                )
            )
            output = helper.make_tensor_value_info(
                "sentence_embedding", TensorProto.FLOAT, ["batch", self.width]
            )
        graph = helper.make_graph(nodes, "tiny", inputs, [output], tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
        model.ir_version = 10
        onnx.save(model, str(path))

    def _write_tokenizer(self) -> None:
        from tokenizers import Tokenizer
        from tokenizers.models import WordLevel
        from tokenizers.normalizers import Lowercase
        from tokenizers.pre_tokenizers import Whitespace
        from tokenizers.processors import TemplateProcessing

        tokenizer = Tokenizer(WordLevel(self.vocabulary, unk_token="[UNK]"))
        tokenizer.normalizer = Lowercase()
        tokenizer.pre_tokenizer = Whitespace()
        tokenizer.post_processor = TemplateProcessing(
            single="[CLS] $A", special_tokens=[("[CLS]", self.vocabulary["[CLS]"])]
        )
        tokenizer.save(str(self.folder / "tokenizer.json"))


@pytest.fixture
def export(tmp_path: Path) -> Export:
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tokenizers")
    return Export(tmp_path)
