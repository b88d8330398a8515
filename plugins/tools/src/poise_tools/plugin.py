"""What this distribution offers."""

from __future__ import annotations

from poise import Extractor, Offers, Sections, ToolCaller, ToolService, hookimpl


@hookimpl
def poise_config(sections: Sections) -> None:
    sections.add("tools", "poise_tools.settings:ToolSettings")


@hookimpl
def poise_provide(offers: Offers) -> None:
    offers.add(ToolService, "functions", "poise_tools.functions:FunctionToolService")
    offers.add(ToolCaller, "default", "poise_tools.caller:ReadingToolCaller", default=True)
    offers.add(Extractor, "patterns", "poise_tools.extractor:PatternExtractor", default=True)
