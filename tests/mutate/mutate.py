#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mutate: does a test notice when a line of the code is wrong?

  mutate.py [N [SEED]]

In a clone of the tree (build/mutate), N (60) times: one random line of lib/ or fsck/ is changed in one
place, what it needs is built, and the tests of `make check` run, one program at a time, those first that
are cheap and near the file, until one fails or hangs. Prints a line for each mutant, and the share that
was killed. A mutant that does not build, or gives the same instructions, is drawn again.

A hang is seen by the processor's time, so that a loaded machine kills nothing.
"""
import glob
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time

CLONE = "build/mutate"
OUT = "build/debug"
MAKE = ["make", "-s", "-j2", "BUILD=debug"]
RECIPES = f"{OUT}/tests/recipes/test_recipes"
MAX_CPU_S = 180  # of one process: ten times what the slowest takes
MAX_BYTES = 4 << 30
MAX_WAIT_S = 900  # for what sleeps for ever

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


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_S, MAX_CPU_S + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))


def run(command, **variables):
    """None if all went well; else why not. Stops at the first "not ok"."""
    started = time.monotonic()
    env = dict(os.environ, FATWISE_BIN=os.path.abspath(OUT), O=OUT,
               CMOCKA_MESSAGE_OUTPUT="TAP", **variables)
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               stdin=subprocess.DEVNULL, text=True, errors="replace", start_new_session=True,
                               preexec_fn=limit)
    signal.alarm(MAX_WAIT_S)
    why = None
    try:
        for line in process.stdout:
            if line.startswith("not ok") and not re.search("# *skip", line, re.IGNORECASE):
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
    obj = f"{OUT}/{path[:-2]}.o"
    dump = subprocess.run(["objdump", "-d", "--no-show-raw-insn", obj], capture_output=True, text=True, check=False)
    return dump.stdout


def programs(kind, stem=""):
    """Those of a kind that have it in their name."""
    return [f"{OUT}/{test[:-2]}" for test in sorted(glob.glob(f"tests/{kind}/test_*.c")) if stem in test]


def steps(path):
    """(what must be built, command, variables of its environment), the cheapest and nearest first."""
    in_lib = path.startswith("lib/")
    near = programs("unit", os.path.basename(path)[:-2].split("_")[0])
    far = [program for program in programs("unit") if program not in near]
    crash, others = programs("crash"), programs("diff") + programs("sim") if in_lib else []
    recipes = [([RECIPES], [RECIPES], {"RECIPES_EVERY": every}) for every in ("16", "1")]
    bats = sorted(glob.glob("tests/cli/*.bats"), key=lambda test: not re.search("fsck|undo|outputs", test))
    if not in_lib:
        bats = [test for test in bats if not re.search("mkfs|fatlabel|fatadvise|populate", test)]
    todo = [(near, [program], {}) for program in near] + recipes[:1]
    todo += [(far, [program], {}) for program in far] + recipes[1:]
    todo += [(crash, [program], {}) for program in crash]
    tools = ["all"] + [f"{OUT}/{source[:-7]}" for source in glob.glob("tests/recipes/*_main.c")]
    todo += [(tools, ["bats", "--tap", test], {}) for test in bats]
    return todo + [(others, [program], {}) for program in others]


def killer(path):
    """What noticed, or None."""
    built = set()
    for targets, command, variables in steps(path):
        if not built.issuperset(targets):
            if run(MAKE + targets):
                sys.exit(f"mutate: {' '.join(targets)}: cannot be built; no mutant is to blame")
            built.update(targets)
        why = run(command, **variables)
        if why:
            return f"{os.path.basename(command[-1])}: {why}"
    return None


def mutate(path, number, lines, rng):
    """Tries one change; None if it does not build, or makes no difference to the program."""
    changed = list(lines)
    changed[number] = rng.choice(changes(lines[number]))
    target = path
    before = code_of(path)
    with open(target, "w", encoding="utf-8") as source:
        source.write("\n".join(changed))
    result = None
    if not run(MAKE + [f"{OUT}/{path[:-2]}.o"]) and code_of(path) != before:
        why = killer(path)
        result = why is not None
        print(f"{'killed' if result else 'SURVIVES'}: {path}:{number + 1}: {changed[number].strip() or '(deleted)'}"
              f" # was: {lines[number].strip()}" + (f" # {why}" if why else ""), flush=True)
    with open(target, "w", encoding="utf-8") as source:
        source.write("\n".join(lines))
    run(MAKE + [f"{OUT}/{path[:-2]}.o"]) # for the next one in this file to be compared with
    return result


def main():
    n_wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    signal.signal(signal.SIGALRM, on_alarm)
    subprocess.run(["rm", "-rf", CLONE], check=True)
    subprocess.run(["git", "clone", "-q", ".", CLONE], check=True)
    os.chdir(CLONE)  # what happens to the tree meanwhile is of no account
    why = run(MAKE + ["all"]) or killer("lib/")
    if why:
        sys.exit(f"mutate: the tree as it is fails: {why}")
    places = list(candidates())
    n_killed = n = 0
    while n < n_wanted:
        result = mutate(*rng.choice(places), rng)
        if result is not None:
            n += 1
            n_killed += result
    print(f"{n_killed} of {n} mutants killed")


main()
