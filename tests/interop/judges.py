"""Finding the judges (official Lance releases, each in an environment of its own) and running programs.

OMNIGRAPH_JUDGES names the folder that holds them (default: .deps in the source tree). A judge that is not installed
skips its checks, except under CI, where everything must be there. Only Python's own library is used here.
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
JUDGES = os.environ.get("OMNIGRAPH_JUDGES") or os.path.join(SOURCE, ".deps")
SKIPPED = 77  # ctest's SKIP_RETURN_CODE

failures = []
passed = 0


def python_of(judge):
    """Path of the judge's Python, or None where it is not installed and may be missing."""
    path = os.path.join(JUDGES, judge, "bin", "python")
    if os.path.exists(path):
        return path
    if os.environ.get("CI"):
        raise SystemExit(f"judge {judge} is not installed below {JUDGES}")
    print(f"skipped: {judge} is not installed below {JUDGES}")
    return None


def run(*command, fails=False):
    """Run a program; returns its standard output, or all of its output where it is expected to fail."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if (done.returncode != 0) != fails:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout + done.stderr if fails else done.stdout


def lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def steps(python, script, table, operations):
    """Run table_writer.py: per operation a pair of its step line and the rows after it."""
    words = []
    for operation in operations:
        words += (["--"] if words else []) + list(operation)
    result = []
    for line in lines(run(python, script, table, *words)):
        if line["kind"] == "step":
            result.append((line, []))
        else:
            result[-1][1].append(line)
    if len(result) != len(operations):
        raise RuntimeError(f"{len(result)} of {len(operations)} operations ended")
    return result


def check(what, ok, detail=""):
    global passed
    if ok:
        passed += 1
    else:
        failures.append(what)
        print(f"FAILED: {what} {detail}")


def check_equal(what, got, expected):
    if got == expected:
        return check(what, True)
    where = next((i for i, pair in enumerate(zip(got, expected)) if pair[0] != pair[1]), min(len(got), len(expected)))
    detail = f"\n  {len(got)} against {len(expected)}, first difference at {where}:\n  {str(got[where:where + 1])[:600]}\n  {str(expected[where:where + 1])[:600]}"
    check(what, False, detail)


def finish(ran_any):
    if not ran_any:
        sys.exit(SKIPPED)
    print(f"{passed} checks passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)
