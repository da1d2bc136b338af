#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mutate: does a test notice when a line of the code is wrong?

  mutate.py [N [SEED]]

In a clone of the tree (build/mutate), N (60) times: one random line of lib/ or fsck/ is changed in one
place, what it needs is built, and the tests run, those that are fastest and see most first, until one
fails or hangs. Prints a line for each mutant, and the share that was killed. A mutant that does not
build, or gives the same program, is drawn again.
"""
import glob
import os
import random
import re
import signal
import subprocess
import sys
import time

CLONE = "build/mutate"
OUT = "build/debug"
MAKE = ["make", "-s", "-j2", "BUILD=debug"]
RECIPES = f"{OUT}/tests/recipes/test_recipes"
TIMEOUT_S = 600

# What a mutation does, and where: never inside of text, comments or preprocessor lines.
SWAPS = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
    (r" == ", " != "), (r" != ", " == "), (r" && ", " || "), (r" \|\| ", " && "),
    (r" \+ ", " - "), (r" - ", " + "), (r" \+= ", " -= "), (r" -= ", " += "),
    (r" & ", " | "), (r" << ", " >> "), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    (r"!(?=[a-z(])", ""), (r"\b([1-9][0-9]*)(u?)\b", None), (r"^\t+(?:[a-z_]+\(.*\)|[a-z][^=]*[-+|&]?= .*);$", ""),
]
SKIP = re.compile(r'^\s*(#|/\*|\*|//|$|[{}]*$|case |default:|static const|struct |enum |typedef|assert|break;)|"|^[a-z]')


def changes(line):
    """All changed forms of a line."""
    if SKIP.search(line):
        return []
    code = line.split("/*")[0].rstrip()
    found = []
    for pattern, new in SWAPS:
        for match in re.finditer(pattern, code):
            text = new
            if new is None:
                text = f"{int(match[1]) + 1}{match[2]}"
            found.append(code[:match.start()] + text + code[match.end():])
    return found


def candidates():
    for path in sorted(glob.glob("lib/*.c") + glob.glob("lib/*/*.c") + glob.glob("fsck/*.c")):
        with open(path, encoding="utf-8") as source:
            lines = source.read().split("\n")
        in_function = False
        for number, line in enumerate(lines):
            if line in ("{", "}"):
                in_function = line == "{"
            elif in_function and changes(line):
                yield path, number, lines


def run(command, until=None):
    """None if all went well; else why not. Stops at the first line that begins with until."""
    started = time.monotonic()
    process = subprocess.Popen(command, cwd=CLONE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               stdin=subprocess.DEVNULL, text=True, errors="replace", start_new_session=True)
    signal.alarm(TIMEOUT_S)
    why = None
    try:
        for line in process.stdout:
            if until and line.startswith(until):
                why = line.strip()
                break
        else:
            if process.wait() != 0:
                why = f"status {process.returncode}"
    except TimeoutError:
        why = "hangs"
    finally:
        signal.alarm(0)
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
    return why and f"{why} ({time.monotonic() - started:.0f} s)"


def on_alarm(_number, _frame):
    raise TimeoutError


def code_of(path):
    """The object's instructions, without line numbers."""
    obj = f"{CLONE}/{OUT}/{path[:-2]}.o"
    dump = subprocess.run(["objdump", "-d", "--no-show-raw-insn", obj], capture_output=True, text=True, check=False)
    return dump.stdout


def killer():
    """What noticed, or None."""
    why = run(MAKE + [RECIPES]) or run([RECIPES], "not ok")
    if why:
        return f"recipes: {why}"
    for kinds in ("unit", "crash recipes", "cli", "diff sim lint"):
        why = run(MAKE + ["run-tests", f"KINDS={kinds}", "JOBS=2"], "not ok")
        if why:
            return f"{kinds}: {why}"
    return None


def mutate(path, number, lines, rng):
    """Tries one change; None if it does not build, or makes no difference to the program."""
    changed = list(lines)
    changed[number] = rng.choice(changes(lines[number]))
    target = f"{CLONE}/{path}"
    before = code_of(path)
    with open(target, "w", encoding="utf-8") as source:
        source.write("\n".join(changed))
    result = None
    if not run(MAKE + [f"{OUT}/{path[:-2]}.o"]) and code_of(path) != before:
        why = killer()
        result = why is not None
        print(f"{'killed' if result else 'SURVIVES'}: {path}:{number + 1}: {changed[number].strip() or '(deleted)'}"
              f" # was: {lines[number].strip()}" + (f" # {why}" if why else ""), flush=True)
    with open(target, "w", encoding="utf-8") as source:
        source.write("\n".join(lines))
    return result


def main():
    n_wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    signal.signal(signal.SIGALRM, on_alarm)
    subprocess.run(["rm", "-rf", CLONE], check=True)
    subprocess.run(["git", "clone", "-q", ".", CLONE], check=True)
    why = run(MAKE + ["all", RECIPES])
    if why:
        sys.exit(f"mutate: the tree as it is does not build: {why}")
    places = list(candidates())
    n_killed = n = 0
    while n < n_wanted:
        result = mutate(*rng.choice(places), rng)
        if result is not None:
            n += 1
            n_killed += result
    print(f"{n_killed} of {n} mutants killed")


main()
