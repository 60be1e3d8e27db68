"""Time of rendering and splitting against size, on repetitions that parsers fear.

python -m benchmarks.rendering [--dialects telegram,slack] [--sizes 25000,50000,100000]

Prints for each dialect and input the milliseconds of CPU for each size, the best of three, and the
last divided by the one before: with the usual sizes 2 is linear and 4 is quadratic.
"""

import argparse
import time

from delivery.dialects import DIALECTS
from delivery.ports import Dialect
from gateway.platforms.console.formatting import ConsoleDialect
from gateway.platforms.telegram.formatting import TelegramDialect

LONG_LINE = "words and more words, "
INPUTS = {
    "[": "[",
    "*": "*",
    "```": "```\n",
    "😀": "😀",
    "one line": LONG_LINE,
    "one word": "x",
    "prose": "Some **bold** words and `code`, a [link](https://example.com/a_b). \n\n",
    "list": "- item\n",
    "table": "| a | b |\n",
    "quote": "> a\n",
    "![": "![",
    "[a](": "[a](",
    "<": "<",
    "url": "https://e.co/_*~",
}


def milliseconds(dialect: Dialect, markdown: str) -> float:
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        dialect.render(markdown)
        best = min(best, time.process_time() - started)
    return best * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dialects", default="telegram,console,discord,slack,mattermost,matrix")
    parser.add_argument("--sizes", default="25000,50000,100000")
    chosen = parser.parse_args()
    sizes = [int(size) for size in chosen.sizes.split(",")]
    for name in chosen.dialects.split(","):
        own = {"telegram": TelegramDialect, "console": ConsoleDialect}
        dialect = own[name]() if name in own else DIALECTS[name](None)
        for title, unit in INPUTS.items():
            times = [
                milliseconds(dialect, (unit * (size // len(unit) + 1))[:size]) for size in sizes
            ]
            shown = " ".join(f"{each:8.0f}" for each in times)
            print(f"{name:11} {title:9} {shown}  x{times[-1] / times[-2]:.1f}", flush=True)


if __name__ == "__main__":
    main()
