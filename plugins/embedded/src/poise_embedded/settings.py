"""The section `embedded` of the settings."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, field_validator


class EmbeddedSettings(BaseModel):
    """What the offline provider may be told; every setting has a default that works."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    threads: PositiveInt = Field(
        default=1,
        description="Threads of linear algebra for one embedding; more helps only while indexing.",
    )
    band: tuple[float, float] = Field(
        default=(0.2, 0.6),
        description="The model `prior` says no up to the first number and yes from the second.",
    )
    onnx_path: Path | None = Field(
        default=None,
        description="Folder of a sentence-transformers export; adds the embedder `onnx`.",
    )
    onnx_prefix: str = Field(
        default="",
        description="Put before every text, for models that were trained so (E5: 'query: ').",
    )
    onnx_batch: PositiveInt = Field(
        default=32,
        description="Texts per pass; 1 for exports that quantise over the whole batch.",
    )

    @field_validator("band")
    @classmethod
    def _ordered(cls, band: tuple[float, float]) -> tuple[float, float]:
        low, high = band
        if not 0.0 <= low < high <= 1.0:
            raise ValueError("needs two numbers within 0 to 1, the lower one first")
        return band
