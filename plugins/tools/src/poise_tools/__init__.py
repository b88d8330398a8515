"""Tools for Poise: Python functions as a service, and arguments read without guessing."""

from poise_tools.caller import ReadingToolCaller
from poise_tools.extractor import PatternExtractor
from poise_tools.functions import FunctionToolService
from poise_tools.settings import ToolSettings

__all__ = ["FunctionToolService", "PatternExtractor", "ReadingToolCaller", "ToolSettings"]
