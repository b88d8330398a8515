from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poise.errors import ConfigError
from poise_embedded.onnx_export import OnnxEmbedder


def _unit(row: np.ndarray) -> np.ndarray:
    unit: np.ndarray = row / np.linalg.norm(row)
    return unit


def _rows(export: Any, *words: str) -> np.ndarray:
    rows: np.ndarray = export.table[[export.vocabulary[word] for word in words]]
    return rows


@pytest.mark.anyio
async def test_pools_the_mean_of_all_tokens_but_padding(export: Any) -> None:
    subject = OnnxEmbedder(export.write())

    rows = await subject.embed(["where is my card", "lost"])

    expected = _rows(export, "[CLS]", "lost").mean(axis=0)
    assert np.allclose(rows[1], _unit(expected), atol=1e-5)


@pytest.mark.anyio
async def test_pools_the_first_token_where_the_export_says_so(export: Any) -> None:
    export.write()
    export.write_json(
        "1_Pooling/config.json",
        {
            "word_embedding_dimension": 8,
            "pooling_mode_cls_token": True,
            "pooling_mode_mean_tokens": False,
        },
    )

    rows = await OnnxEmbedder(export.folder).embed(["my card"])

    assert np.allclose(rows[0], _unit(_rows(export, "[CLS]")[0]), atol=1e-5)


@pytest.mark.anyio
async def test_takes_a_vector_that_the_model_pooled_itself(export: Any) -> None:
    subject = OnnxEmbedder(export.write(pooled=True))

    rows = await subject.embed(["my card"])

    expected = _rows(export, "[CLS]", "my", "card").max(axis=0)
    assert np.allclose(rows[0], _unit(expected), atol=1e-5)


@pytest.mark.anyio
async def test_runs_a_model_that_takes_no_token_types(export: Any) -> None:
    rows = await OnnxEmbedder(export.write(type_ids=False)).embed(["my card"])

    assert rows.shape == (1, 8)


@pytest.mark.anyio
async def test_finds_the_model_in_the_folder_that_newer_exports_use(export: Any) -> None:
    rows = await OnnxEmbedder(export.write(at="onnx/model.onnx")).embed(["my card"])

    assert rows.shape == (1, 8)


@pytest.mark.anyio
async def test_heeds_the_length_that_the_export_states(export: Any) -> None:
    export.write()
    export.write_json("sentence_bert_config.json", {"max_seq_length": 3})

    rows = await OnnxEmbedder(export.folder).embed(["my card lost fee", "my card"])

    assert np.allclose(rows[0], rows[1], atol=1e-5)


@pytest.mark.anyio
async def test_puts_the_prefix_before_every_text(export: Any) -> None:
    export.write()

    prefixed = await OnnxEmbedder(export.folder, prefix="my ").embed(["card"])
    written_out = await OnnxEmbedder(export.folder).embed(["my card"])

    assert np.allclose(prefixed, written_out, atol=1e-5)


def test_its_identity_changes_with_the_model_the_prefix_and_the_pooling(export: Any) -> None:
    export.write()
    plain = OnnxEmbedder(export.folder).identity
    prefixed = OnnxEmbedder(export.folder, prefix="query: ").identity
    export.write_json("1_Pooling/config.json", {"pooling_mode_cls_token": True})
    first_token = OnnxEmbedder(export.folder).identity
    export.write(["other", "words"])
    other_model = OnnxEmbedder(export.folder).identity

    assert len({plain, prefixed, first_token, other_model}) == 4


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_folder_without_an_export_is_an_error_that_names_what_is_missing(
    export: Any, missing: str
) -> None:
    export.write()
    (export.folder / missing).unlink()

    with pytest.raises(ConfigError, match=rf"embedded\.onnx_path.*there is no {missing}"):
        OnnxEmbedder(export.folder)


@pytest.mark.parametrize(
    ("path", "content", "complaint"),
    [
        ("model.onnx", b"nothing", "can't be run"),
        ("tokenizer.json", b"nothing", "can't be read"),
        ("sentence_bert_config.json", b"nothing", "is not JSON"),
        ("1_Pooling/config.json", b"[]", "does not hold an object"),
        ("1_Pooling/config.json", b'{"pooling_mode_max_tokens": true}', "only mean_tokens or cls"),
    ],
)
def test_a_file_that_is_no_good_is_an_error_that_names_it(
    export: Any, path: str, content: bytes, complaint: str
) -> None:
    export.write()
    (export.folder / path).parent.mkdir(exist_ok=True)
    (export.folder / path).write_bytes(content)

    with pytest.raises(ConfigError, match=complaint) as refused:
        OnnxEmbedder(export.folder)

    assert path in str(refused.value)


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_without_the_extra_the_error_says_what_to_install(
    export: Any, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    folder: Path = export.write()
    monkeypatch.setitem(sys.modules, library, None)

    with pytest.raises(ConfigError, match=r"pip install 'poise-embedded\[onnx\]'"):
        OnnxEmbedder(folder)
