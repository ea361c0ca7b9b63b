"""Reads a strategy's source against the allow-list of its task. This finds and names what is forbidden; what makes
it harmless is the process it runs in (`evaluation.strategies`)."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tasks.contract import Broken

ALLOWED_MODULES = frozenset(
    """
    random math collections itertools functools statistics operator bisect heapq fractions
    dataclasses enum typing numpy __future__
    """.split()  # noqa: SIM905 -- a list of words is read as words
)
FORBIDDEN_NAMES = frozenset(
    """
    open exec eval compile input breakpoint help globals locals vars getattr setattr delattr
    memoryview __import__ __builtins__ __loader__ __spec__
    """.split()  # noqa: SIM905 -- a list of words is read as words
)
FORBIDDEN_ATTRIBUTES = frozenset(
    """
    f_back f_globals f_locals f_builtins f_code tb_frame tb_next gi_frame cr_frame ag_frame sys os
    io inspect builtins subprocess socket ctypes ctypeslib f2py memmap fromfile tofile loadtxt
    savetxt genfromtxt load save savez savez_compressed DataSource attrgetter methodcaller
    """.split()  # noqa: SIM905 -- a list of words is read as words
)
SEEDERS = frozenset({"random.seed", "random.setstate", "numpy.random.seed", "np.random.seed", "numpy.random.set_state"})
HARMLESS_PRIVATE = frozenset({"_replace", "_asdict", "_fields", "_make", "_field_defaults"})
HARMLESS_DUNDERS = frozenset({"__name__", "__doc__", "__init__", "__len__", "__post_init__", "__call__"})
# `"{0.__class__}".format(x)` looks into objects without an attribute in the code.
_HIDDEN_DUNDER = re.compile(r"\{[^{}]*\.__\w+__")
MAX_BYTES = 256 * 1024
MAX_EVIDENCE = 5


@dataclass(frozen=True)
class Strategy:
    """A strategy's source, the modules it needs, and what it breaks."""

    source: str
    modules: tuple[str, ...]
    violations: tuple[Broken, ...]


def read_strategy(path: Path, *, function: str) -> Strategy:
    """Read and check a strategy; `ValueError` says in one line why it can't be played at all."""
    raw = path.read_bytes()
    if len(raw) > MAX_BYTES:
        raise ValueError(f"{path.name} has {len(raw):,} bytes; at most {MAX_BYTES:,} are read")
    try:
        source = raw.decode("utf-8-sig")
        tree = ast.parse(source, path.name)
    except SyntaxError as error:
        raise ValueError(f"{path.name} line {error.lineno}: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"{path.name} can't be read as Python: {type(error).__name__}") from error
    _require_function(tree, path.name, function)
    modules = sorted({module for module, _ in _imports(tree) if module in ALLOWED_MODULES})
    return Strategy(source=source, modules=tuple(modules), violations=tuple(_violations(tree, path.name)))


def _require_function(tree: ast.Module, name: str, function: str) -> None:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            arguments = node.args
            required = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
            if required > 1 or (required < 1 and not arguments.vararg and not arguments.args):
                raise ValueError(f"{name} line {node.lineno}: {function} must take one argument, history")
            return
    raise ValueError(f"{name} defines no function {function}(history)")


def _violations(tree: ast.Module, name: str) -> Iterator[Broken]:
    forbidden = sorted({(line, what) for line, what in _forbidden(tree)})
    if forbidden:
        shown = "; ".join(f"{name} line {line}: {what}" for line, what in forbidden[:MAX_EVIDENCE])
        more = len(forbidden) - MAX_EVIDENCE
        yield {"rule": "allowed_code", "evidence": shown + (f"; and {more} more" if more > 0 else "")}
    seeding = sorted({(node.lineno, ast.unparse(node.func)) for node in _calls(tree) if _seeds(node)})
    if seeding:
        shown = "; ".join(f"{name} line {line}: {what}" for line, what in seeding[:MAX_EVIDENCE])
        yield {"rule": "no_global_seeding", "evidence": shown}


def _forbidden(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for module, line in _imports(tree):
        if module not in ALLOWED_MODULES:
            yield line, f"imports {module[:60]}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and _is_forbidden_name(node.id):
            yield node.lineno, f"uses {node.id[:60]}"
        elif isinstance(node, ast.Attribute) and _is_forbidden_attribute(node):
            yield node.lineno, f"reaches for .{node.attr[:60]}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _HIDDEN_DUNDER.search(node.value):
            yield node.lineno, f"names {node.value[:60]!r} in a string"
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.name in FORBIDDEN_ATTRIBUTES or alias.name.startswith("_"):
                    yield node.lineno, f"imports {alias.name[:60]} from {(node.module or '')[:60]}"


def _is_forbidden_name(name: str) -> bool:
    return name in FORBIDDEN_NAMES or (name.startswith("__") and name not in HARMLESS_DUNDERS)


def _is_forbidden_attribute(node: ast.Attribute) -> bool:
    if node.attr in FORBIDDEN_ATTRIBUTES:
        return True
    if node.attr.startswith("__"):
        return node.attr not in HARMLESS_DUNDERS
    if node.attr.startswith("_") and node.attr not in HARMLESS_PRIVATE:
        return not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
    return False


def _imports(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.partition(".")[0], node.lineno
        elif isinstance(node, ast.ImportFrom):
            module = (node.module or "").partition(".")[0]
            yield ("." * node.level + module) if node.level else module, node.lineno


def _calls(tree: ast.Module) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _seeds(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and ast.unparse(node.func) in SEEDERS
