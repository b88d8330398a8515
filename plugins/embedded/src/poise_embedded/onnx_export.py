"""The optional embedder: a sentence-transformers export in a local folder, run by onnxruntime."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from poise.errors import ConfigError
from poise_embedded.texts import READING
from poise_embedded.threaded import ThreadedEmbedder

if TYPE_CHECKING:
    # Optional, and one of them has no types.
    from onnxruntime import InferenceSession  # type: ignore[import-untyped,import-not-found,unused-ignore]
    from tokenizers import Tokenizer  # type: ignore[import-untyped,import-not-found,unused-ignore]

_WHERE = "embedded.onnx_path"
_MODEL_FILES = ("model.onnx", "onnx/model.onnx")
_MAX_TOKENS = 512  # where the export does not say


class OnnxEmbedder(ThreadedEmbedder):
    """Embeds with `model.onnx` and `tokenizer.json` of an export, pooled as the export says.

    The files are read when it is made, so what is wrong with them shows at start.

    Args:
        folder: The export. `sentence_bert_config.json` (length) and `1_Pooling/config.json`
            (mean, the default, or the first token) are heeded where they are there.
        prefix: Put before every text.
        batch: Texts per pass.
        threads: Of onnxruntime.

    Raises:
        ConfigError: The extra is not installed, or the folder holds no export that can be run.
    """

    model: ClassVar[str] = "onnx"

    def __init__(
        self, folder: Path, prefix: str = "", batch: int = 32, *, threads: int = 1
    ) -> None:
        model, vocabulary = _files(folder)
        self._pools_mean = _pools_mean(folder)
        self._session = _session(model, threads)
        self._tokenizer = _tokenizer(vocabulary, _max_tokens(folder))
        self._inputs = {each.name for each in self._session.get_inputs()}
        self._output = self._session.get_outputs()[0]
        self._prefix = prefix
        content = hashlib.sha256(f"{prefix}\n{self._pools_mean}\n{READING}".encode())
        for path in (model, vocabulary):
            with path.open("rb") as file:
                content.update(hashlib.file_digest(file, "sha256").digest())
        dimensions = self._output.shape[-1]
        if not isinstance(dimensions, int):
            raise ConfigError(
                f"{_WHERE}: output {self._output.name!r} of {model} has no fixed width; "
                "export the model again with only batch and length left open"
            )
        super().__init__(
            identity=f"onnx-{folder.name}-{content.hexdigest()[:16]}",
            dimensions=dimensions,
            batch=batch,
        )

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        tokens = self._tokenizer.encode_batch([f"{self._prefix}{text}" for text in texts])
        mask = np.array([each.attention_mask for each in tokens], dtype=np.int64)
        given = {
            "input_ids": np.array([each.ids for each in tokens], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([each.type_ids for each in tokens], dtype=np.int64),
        }
        feed = {name: value for name, value in given.items() if name in self._inputs}
        found: NDArray[np.float32] = np.asarray(
            self._session.run([self._output.name], feed)[0], dtype=np.float32
        )
        if found.ndim == 2:  # pooled within the model
            return found
        if not self._pools_mean:
            return found[:, 0]
        weights = mask[:, :, None].astype(np.float32)
        pooled: NDArray[np.float32] = (found * weights).sum(axis=1) / weights.sum(axis=1)
        return pooled


def _files(folder: Path) -> tuple[Path, Path]:
    model = next((folder / each for each in _MODEL_FILES if (folder / each).is_file()), None)
    vocabulary = folder / "tokenizer.json"
    if model is None or not vocabulary.is_file():
        missing = "model.onnx" if model is None else "tokenizer.json"
        raise ConfigError(
            f"{_WHERE} = {str(folder)!r}: there is no {missing} in it; "
            "name the folder of a sentence-transformers export"
        )
    return model, vocabulary


def _session(model: Path, threads: int) -> InferenceSession:
    try:
        from onnxruntime import InferenceSession, SessionOptions
    except ImportError as exc:
        raise _missing_extra(exc) from exc
    options = SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    try:
        return InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as exc:  # onnxruntime raises classes of its own, one per kind of failure
        raise ConfigError(f"{_WHERE}: {model} can't be run: {exc}") from exc


def _tokenizer(vocabulary: Path, max_tokens: int) -> Tokenizer:
    try:
        from tokenizers import Tokenizer
    except ImportError as exc:
        raise _missing_extra(exc) from exc
    try:
        tokenizer = Tokenizer.from_file(str(vocabulary))
    except Exception as exc:  # tokenizers raises plain `Exception`
        raise ConfigError(f"{_WHERE}: {vocabulary} can't be read: {exc}") from exc
    padding = tokenizer.padding or {}
    tokenizer.enable_truncation(max_tokens)
    tokenizer.enable_padding(
        pad_id=padding.get("pad_id", 0), pad_token=padding.get("pad_token", "[PAD]")
    )
    return tokenizer


def _missing_extra(exc: ImportError) -> ConfigError:
    return ConfigError(
        f"{_WHERE} is set, but {exc.name} is not installed; pip install 'poise-embedded[onnx]'"
    )


def _max_tokens(folder: Path) -> int:
    stated = _read(folder / "sentence_bert_config.json").get("max_seq_length")
    return min(stated, _MAX_TOKENS) if isinstance(stated, int) and stated > 0 else _MAX_TOKENS


def _pools_mean(folder: Path) -> bool:
    path = folder / "1_Pooling" / "config.json"
    chosen = {
        name.removeprefix("pooling_mode_")
        for name, value in _read(path).items()
        if name.startswith("pooling_mode_") and value is True
    } or {"mean_tokens"}
    if chosen == {"mean_tokens"}:
        return True
    if chosen == {"cls_token"}:
        return False
    raise ConfigError(
        f"{_WHERE}: {path} asks for pooling by {', '.join(sorted(chosen))}; "
        "only mean_tokens or cls_token alone can be done"
    )


def _read(path: Path) -> Mapping[str, Any]:  # JSON of others
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as exc:
        raise ConfigError(f"{_WHERE}: {path} is not JSON: {exc}") from exc
    if not isinstance(content, dict):
        raise ConfigError(f"{_WHERE}: {path} does not hold an object")
    return content
