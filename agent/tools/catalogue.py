"""The tools there are."""

from collections.abc import Mapping

from agent.tools import bash, edit, python, read, scratchpad, submit, validate, write
from agent.tools.base import Tool

TOOLS: Mapping[str, Tool] = {
    part.TOOL.spec.name: part.TOOL for part in (bash, python, read, write, edit, scratchpad, validate, submit)
}
"""Every tool by its name, in the order in which a model is told of them."""
