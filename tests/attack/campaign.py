"""Attacks on the engine: random members of a class of hard inputs, each checked by an oracle of its own.

A file `test_NAME.py` in this folder defines

    def attack(rng, count):
        '''Yield a sentence for each of `count` random members whose answer is wrong.'''

and a test that asserts with a small count that nothing comes. More of it, by one command:

    python tests/attack/campaign.py NAME --count 1000 --seed 7
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
Attack = Callable[[np.random.Generator, int], Iterator[str]]


def names() -> list[str]:
    return sorted(path.stem.removeprefix("test_") for path in HERE.glob("test_*.py"))


def attack_named(name: str) -> Attack:
    spec = importlib.util.spec_from_file_location(f"attack_{name}", HERE / f"test_{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    attack: Attack = module.attack
    return attack


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Attack the engine with random members of a class of inputs."
    )
    parser.add_argument("name", choices=[*names(), "all"])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    sys.path[:0] = [str(HERE.parent), str(HERE.parent / "unit")]
    wrong = 0
    for name in names() if given.name == "all" else [given.name]:
        begun = time.perf_counter()
        found = 0
        for sentence in attack_named(name)(np.random.default_rng(given.seed), given.count):
            found += 1
            print(f"  {sentence}", flush=True)
        print(f"{name}: {found} wrong of {given.count}, {time.perf_counter() - begun:.0f} s", flush=True)
        wrong += found
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
