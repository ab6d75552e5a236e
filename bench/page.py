"""How large the HTML page of a large program is, and how soon it can be used.

    python -m bench.page [--lines N] [--work FOLDER]

A program of about 100,000 lines with a planted fault is made, whose failing run has more than ten million recorded
events; ``whence locate --no-alter`` writes its page, which Chromium opens from the file several times. Times are by the
clock, medians: from the start of the navigation until the first statement is selected and its line is there
(``interactive``), and from an input until what it asked for was drawn.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.common import markdown, options, work_folder

FILES = 20
FAULTY = (10, 120)  # file and function
OPENED = 5  # times
BUDGET = "10m"
FUNCTION = """\

/* Moves what cell {n} has. */
long {name}(long *cells, long seed)
{{
    long total = seed;
    for (int i = 0; i < {rounds}; i++) {{
        long here = cells[i % 64];
        long next = cells[(i + {n}) % 64];
        if (here > next)
            total += here - next;
        else
            total -= next - here;
        cells[i % 64] = (here + total + {n}) % 1009;
        {extra}
    }}
    if (total < 0)
        total = -total;
    return total % 1009;
}}
"""
INPUT = """
async (step) => {
  const start = performance.now();
  await step();
  await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
  return performance.now() - start;
}
"""
STEPS = {
    "next statement": "() => dispatch('keydown', 'j')",
    "another file": """async () => {
        const file = document.getElementById('file');
        file.value = String(file.length - 1);
        file.dispatchEvent(new Event('change'));
        const loaded = () => document.querySelector(`[id^="l${file.value}-"]`);
        while (!loaded()) await new Promise(requestAnimationFrame);
    }""",
    "search in all source": """async () => {
        const find = document.getElementById('find');
        find.value = 'cell 17 has';
        find.dispatchEvent(new Event('input'));
        while (!document.querySelector('#list .group')) await new Promise(requestAnimationFrame);
    }""",
}


def make(folder: Path, lines: int) -> int:
    """Write the program, its cases and the right program's name into a folder; the lines of its source."""
    folder.mkdir(parents=True, exist_ok=True)
    count = lines // FILES // FUNCTION.count("\n")
    rounds = 1 + 10_000_000 // (FILES * count * 14)  # about so many events has a round
    for file in range(FILES):
        functions = "".join(_function(file, n, rounds) for n in range(count))
        calls = "".join(f"    seed = f_{file}_{n}(cells, seed);\n" for n in range(count))
        last = f"\nlong part{file}(long *cells, long seed)\n{{\n{calls}    return seed;\n}}\n"
        (folder / f"part{file}.c").write_text(f'#include "parts.h"\n{functions}{last}')
    parts = range(FILES)
    (folder / "parts.h").write_text("".join(f"long part{file}(long *cells, long seed);\n" for file in parts))
    calls = "\n".join(f"    seed = part{file}(cells, seed);" for file in parts)
    (folder / "main.c").write_text(
        f'#include <stdio.h>\n#include <stdlib.h>\n#include "parts.h"\nint main(int argc, char **argv)\n{{\n'
        f"    static long cells[64];\n    long seed = argc > 1 ? atol(argv[1]) : 0;\n{calls}\n"
        f'    printf("%ld\\n", seed);\n    return 0;\n}}\n'
    )
    (folder / "cases.txt").write_text("\n".join(map(str, range(1, 7))) + "\n")
    (folder / "whence.toml").write_text(
        '[program]\nsources = ["*.c"]\n\n[cases]\nfile = "cases.txt"\nreference = "reference"\n'
    )
    sources = sorted(folder.glob("*.c"))
    subprocess.run(["gcc", "-O1", "-w", "-DRIGHT", "-o", folder / "reference", *sources], check=True)
    return sum(path.read_text().count("\n") for path in sources)


def _function(file: int, n: int, rounds: int) -> str:
    extra = "total ^= i & 1;"
    if (file, n) == FAULTY:
        extra = "#ifdef RIGHT\n        total += i & 1;\n#else\n        total += i & (1 + (seed % 3 == 1));\n#endif"
    return FUNCTION.format(name=f"f_{file}_{n}", n=n, rounds=rounds, extra=extra)


def opened(page: Path) -> dict[str, list[float]]:
    """Milliseconds of each opening of a page in Chromium, and of inputs there."""
    from playwright.sync_api import sync_playwright

    times: dict[str, list[float]] = {}
    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for _ in range(OPENED):
            tab = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
            tab.goto(page.as_uri())
            tab.wait_for_selector("html[data-ready]", state="attached")
            times.setdefault("interactive", []).append(_marked(tab))
            tab.evaluate(
                "dispatch = (kind, key) => document.body.dispatchEvent(new KeyboardEvent(kind, {key, bubbles: true}))"
            )
            for name, step in STEPS.items():
                times.setdefault(name, []).append(tab.evaluate(f"({INPUT})({step})"))
            tab.context.close()
        browser.close()
    return times


def _marked(tab: Any) -> float:
    """When the page was ready, from the start of the navigation on."""
    return float(tab.evaluate("performance.getEntriesByName('whence-ready')[0].startTime"))


def main() -> int:
    parser = options(__doc__)
    parser.add_argument("--lines", type=int, default=100_000, help="of source, about (default 100,000)")
    arguments = parser.parse_args()
    work = work_folder(arguments.work)
    folder, page = work / "large", work / "large.html"
    lines = make(folder, arguments.lines)
    start = time.perf_counter()
    command = [sys.executable, "-m", "whence", "locate", "-C", str(folder), "--no-alter", "--budget", BUDGET]
    command += ["--html", str(page), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return 1
    seconds = time.perf_counter() - start
    result = json.loads(done.stdout)
    print(f"{lines:,} lines; {'; '.join(line for line in result['summary'] if 'events' in line)}")
    print(f"located in {seconds:.0f} s; first: {result['ranking'][0]['file']}:{result['ranking'][0]['line']}")
    rows = [("size, MB", f"{page.stat().st_size / 1e6:.2f}")]
    rows += [(f"{name}, ms", f"{statistics.median(found):.0f}") for name, found in opened(page).items()]
    print(markdown(("page", "measured"), rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
