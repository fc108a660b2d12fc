"""Which compiler is taken: the short pipeline where it passes its check, else one that needs less of numba."""

import importlib.abc
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from simengine2d.errors import UnsupportedError
from simengine2d.numerics import compiler_choice, compiler_verdicts, inside_numba, kernel_files
from simengine2d.numerics.compiler_choice import BARE, PYTHON, SHORT, STOCK, VARIABLE, asked, chosen, wanted
from simengine2d.numerics.kernel import JIT

needs_numba = pytest.mark.skipif(not JIT, reason="needs numba")
SOURCES = Path(compiler_choice.__file__).parent


def python(code, **environment):
    go = [sys.executable, "-c", code]
    return subprocess.run(go, capture_output=True, text=True, env=os.environ | environment, timeout=300)


# What the user asks for ---------------------------------------------------------------------------------


def test_the_environment_chooses(monkeypatch):
    for value, expected in ((STOCK, STOCK), (SHORT, SHORT), ("", SHORT)):
        monkeypatch.setenv(VARIABLE, value)
        assert asked() == expected
    monkeypatch.delenv(VARIABLE)
    assert asked() == SHORT


@pytest.mark.parametrize("value", ["plain", "Stock", "bare", "python"])
def test_an_unknown_compiler_is_answered_with_a_sentence(monkeypatch, value):
    monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(UnsupportedError, match=f"SIMENGINE2D_COMPILER is '{value}'.*'stock'.*'short'"):
        asked()


def test_the_command_line_answers_with_the_sentence_too():
    go = [sys.executable, "-m", "simengine2d", "check", "four_bar"]
    done = subprocess.run(go, capture_output=True, text=True, env=os.environ | {VARIABLE: "fast"})
    assert done.returncode == 3
    assert done.stderr.startswith("error: the environment variable SIMENGINE2D_COMPILER is 'fast'")


# Without numba --------------------------------------------------------------------------------------------


class Broken(importlib.abc.MetaPathFinder):
    """An installation of numba that cannot be imported."""

    def find_spec(self, name, path=None, target=None):
        if name == "numba":
            raise ImportError("Numba needs NumPy 2.2 or less. Got NumPy 2.4.")


@pytest.fixture
def enabled(monkeypatch):
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)


def lines(caplog) -> str:
    """What was logged."""
    return "".join(f"{record.getMessage()}\n" for record in caplog.records)


def without_numba(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)


def test_numba_that_is_missing_is_said_in_one_line(monkeypatch, caplog, enabled):
    without_numba(monkeypatch)
    assert not wanted()
    told = lines(caplog)
    assert told.count("\n") == 1
    assert "numba is not installed (`pip install numba` brings it); kernels run as plain Python" in told


def test_numba_that_is_broken_is_said_with_its_cause(monkeypatch, caplog, enabled):
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    assert not wanted()
    told = lines(caplog)
    assert told.count("\n") == 1
    assert "numba cannot be imported (ImportError: Numba needs NumPy 2.2 or less. Got NumPy 2.4.)" in told


def test_in_a_browser_and_where_the_user_wants_none_nothing_is_said(monkeypatch, caplog, enabled):
    without_numba(monkeypatch)
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert not wanted()
    monkeypatch.undo()
    without_numba(monkeypatch)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert not wanted()
    assert lines(caplog) == ""


ABSENT = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numba", "llvmlite"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Refuse())
"""
MOTION = """
import simengine2d as se
from simengine2d import builders
from simengine2d.numerics import kernel
r = se.dynamics(builders.four_bar(1, 2, 3, 3), t_end=0.05)
print(kernel.JIT, r["rocker.phi"][-1])
"""


def test_a_run_where_numba_is_really_absent():
    import simengine2d as se
    from simengine2d import builders

    done = python(ABSENT + MOTION, NUMBA_DISABLE_JIT="0")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == 1 and "numba is not installed" in done.stderr
    jit, phi = done.stdout.split()
    assert jit == "False"
    r = se.dynamics(builders.four_bar(1, 2, 3, 3), t_end=0.05)
    assert float(phi) == pytest.approx(r["rocker.phi"][-1], rel=1e-9)


# The ladder ---------------------------------------------------------------------------------------------


def descend(monkeypatch, caplog, verdicts, first=SHORT):
    """The compiler that is chosen where the checks say this, and what is told."""
    monkeypatch.setenv(VARIABLE, first)
    monkeypatch.setattr(compiler_verdicts, "verdict", verdicts.get)
    return chosen(), lines(caplog)


@needs_numba
@pytest.mark.parametrize(
    ("verdicts", "first", "taken", "told"),
    [
        ({SHORT: ""}, SHORT, SHORT, ""),
        ({STOCK: ""}, STOCK, STOCK, ""),
        ({SHORT: "it crashes", STOCK: ""}, SHORT, STOCK, "it crashes; kernels are compiled by numba's usual"),
        ({SHORT: "a", STOCK: "b", BARE: ""}, SHORT, BARE, "a; kernels are compiled .* at each start"),
        ({STOCK: "b", BARE: ""}, STOCK, BARE, "the stock pipeline: b; kernels are compiled .* at each start"),
        ({SHORT: "a", STOCK: "b", BARE: "c"}, SHORT, PYTHON, "a; kernels run as plain Python"),
        ({}, SHORT, STOCK, "could not be checked"),  # nobody could find out
        ({}, STOCK, STOCK, ""),
    ],
)
def test_the_first_compiler_that_passes_is_taken(monkeypatch, caplog, verdicts, first, taken, told):
    found, line = descend(monkeypatch, caplog, verdicts, first)
    assert found == taken
    assert line.count("\n") == (told != "")
    assert re.search(told, line)


@needs_numba
def test_another_layout_of_arrays_is_noticed_before_anything_is_compiled(monkeypatch, caplog):
    monkeypatch.setattr(inside_numba, "ARRAY", inside_numba.ARRAY[1:])
    found, line = descend(monkeypatch, caplog, {STOCK: ""})
    assert found == STOCK
    assert "its arrays consist of meminfo, parent, nitems, itemsize, data, shape, strides" in line


# Verdicts -----------------------------------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SIMENGINE2D_CACHE", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        ("print('noise'); print('{{\"problem\": \"\"}}')", ""),
        ('print(\'{{"problem": "it differs"}}\')', "it differs"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "the machine code crashes (SIGSEGV)"),
        ("import os; os.abort()", "the machine code crashes (SIGABRT)"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", None),
        ("raise MemoryError", None),
        ("import time; time.sleep(60)", None),
    ],
)
@needs_numba
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_verdict_is_remembered_and_a_process_that_somebody_ended_is_none(
    cache, monkeypatch, check, verdict
):
    monkeypatch.setattr(compiler_verdicts, "CHECK", check)
    monkeypatch.setattr(compiler_verdicts, "PATIENCE", 0.5 if "sleep" in check else 60.0)
    assert compiler_verdicts.verdict(SHORT) == verdict
    monkeypatch.setattr(compiler_verdicts, "checked", lambda compiler: "checked again")
    assert compiler_verdicts.verdict(SHORT) == ("checked again" if verdict is None else verdict)


@needs_numba
def test_damaged_verdicts_count_as_missing_and_each_compiler_has_its_own(cache, monkeypatch):
    answers = iter(["one", "two", "three", "four"])
    monkeypatch.setattr(compiler_verdicts, "checked", lambda compiler: next(answers))
    assert [compiler_verdicts.verdict(name) for name in (SHORT, STOCK, SHORT)] == ["one", "two", "one"]
    path = compiler_verdicts.file_of(SHORT)
    path.write_text(json.dumps({"problem": 7}))
    assert compiler_verdicts.verdict(SHORT) == "three"
    path.write_bytes(path.read_bytes()[:-3])
    assert compiler_verdicts.verdict(SHORT) == "four"


@needs_numba
def test_where_no_python_can_be_started_there_is_no_verdict(cache, monkeypatch):
    for program in ("", "/usr/bin/modeler", "/nowhere/python3"):
        monkeypatch.setattr(sys, "executable", program)
        assert compiler_verdicts.verdict(SHORT) is None


# The key ------------------------------------------------------------------------------------------------


def test_every_module_that_knows_numba_is_part_of_the_key():
    imports = re.compile(r"^\s*(?:from|import) (?:numba|llvmlite)", re.MULTILINE)
    knowing = {path.stem for path in SOURCES.rglob("*.py") if imports.search(path.read_text())}
    assert knowing <= set(kernel_files.COMPILER)
    assert all((SOURCES / f"{name}.py").exists() for name in kernel_files.COMPILER)


@needs_numba
def test_the_key_knows_the_compiler_its_sources_and_the_versions(monkeypatch):
    keys = {kernel_files.source_key(SHORT), kernel_files.source_key(STOCK)}
    monkeypatch.setattr(kernel_files, "versions", lambda: "numba 9")
    keys.add(kernel_files.source_key(SHORT))
    monkeypatch.setattr(kernel_files, "COMPILER", kernel_files.COMPILER[1:])
    keys.add(kernel_files.source_key(SHORT))
    assert len(keys) == 4


# Names that are gone ------------------------------------------------------------------------------------

HIDING = """
import importlib, os, sys
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple
import numba, numpy
from numba.core import cpu, datamodel
from simengine2d.numerics.inside_numba import KEEPING, PIPELINE

numba.njit(lambda x: x[0])(numpy.zeros(1))  # numba loads the rest of itself

def hide(path):
    module, _, names = path.partition(":")
    first, *more = names.split(".")
    real = importlib.import_module(module)
    if first == "CPUTargetOptions":  # numba itself knows the option no more
        owner = next(kind for kind in real.CPUTargetOptions.__mro__ if more[0] in kind.__dict__)
        delattr(owner, more[0])
        return
    copy = ModuleType(module)  # numba has its own name of it already
    copy.__dict__.update(real.__dict__)
    copy.__dict__.pop(first)
    if more:
        owner = getattr(real, first)
        kept = {name: getattr(owner, name) for name in dir(owner) if name != more[0] and name[:2] != "__"}
        setattr(copy, first, SimpleNamespace(**kept))
    sys.modules[module] = copy

def another_layout(path):
    usual = datamodel.models.StructModel.__init__
    def longer(self, manager, kind, members):
        more = [("flags", numba.types.int64)] if type(self) is datamodel.models.ArrayModel else []
        usual(self, manager, kind, [*members, *more])
    datamodel.models.StructModel.__init__ = longer

def compiled():
    @kernel
    def inner(x, k):
        return 2.0 * x[k]
    @kernel(entry=True)
    def outer(x, k):
        total = 0.0
        for i in range(k.size):
            total += inner(x, k[i]) / (i + 1)
        return total
    x, k = numpy.array([1.0, 3.0, 7.0]), numpy.array([2, 0, 1], dtype=numpy.uint32)
    return outer(x, k) == outer.py_func(x, k)

class Context(NamedTuple):
    x: Any
    k: Any
    n: int

def compiled_pointer():
    @kernel_pointer
    def last(c, t, y, out):
        out[0] = c.x[-1, c.k[c.n]] + y[0]
    context = Context(numpy.arange(6.0).reshape(2, 3), numpy.array([2, 0], dtype=numpy.uint32), 1)
    out = numpy.zeros(1)
    last.bind(context)(0.5, numpy.array([0.25]), out)
    return out[0] == 3.25

def in_a_copy(change, path, act):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.dup2(1, 2)
        try:
            before = dict(sys.modules)
            change(path)
            global kernel_pointer, kernel
            from simengine2d.numerics.kernel_pointer import kernel_pointer
            from simengine2d.numerics.kernel import RUNG, kernel
            sys.modules.update(before)  # numba looks for some of its own names when it compiles
            print(path, RUNG, act(), flush=True)
        finally:
            sys.stdout.flush()
            os._exit(0)
    os.waitpid(child, 0)

for path in KEEPING + PIPELINE:
    in_a_copy(hide, path, compiled)
in_a_copy(another_layout, "layout", compiled_pointer)
"""


@pytest.mark.slow
@needs_numba
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs copies of a process that has imported numba")
def test_without_any_single_name_inside_numba_kernels_are_compiled_by_its_usual_pipeline(cache, tmp_path):
    for name in (STOCK, BARE):
        assert compiler_verdicts.verdict(name) == ""  # all copies remember it
    (tmp_path / "hiding.py").write_text(HIDING)
    go = [sys.executable, "-W", "ignore", str(tmp_path / "hiding.py")]
    environment = {name: text for name, text in os.environ.items() if name != VARIABLE}
    lines = subprocess.run(
        go, capture_output=True, text=True, env=environment, timeout=600
    ).stdout.splitlines()
    told = [line for line in lines if line.startswith("simengine2d: numba")]
    found = [line for line in lines if not line.startswith("simengine2d:")]
    expected = [f"{path} {BARE} True" for path in inside_numba.KEEPING]
    expected += [f"{path} {STOCK} True" for path in inside_numba.PIPELINE]
    assert found == [*expected, f"layout {STOCK} True"]
    assert len(told) == len(found)
    for line, path in zip(told, inside_numba.KEEPING + inside_numba.PIPELINE, strict=False):
        assert f"{path.replace(':', '.')} does not exist" in line
