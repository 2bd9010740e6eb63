"""A guarded table (writer flag 62, ancient tagged version 1) before outside writers: reading is open, changes are
refused or fail, and nothing of ours is deleted.

table_guard.py TOOL
"""
import os
import sys
import tempfile

import judges
from judges import check, check_equal, lines, run

TOOL = sys.argv[1]
READERS = os.path.join(judges.HERE, "table_readers.py")
WRITER = os.path.join(judges.HERE, "table_writer.py")


def files_below(path):
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)


def tool(folder, *arguments):
    return run(TOOL, folder, "t.lance", *arguments)


def make(folder):
    """Three fragments, of which detached versions name more; returns the newest detached version."""
    tool(folder, "create", "--guarded")
    tool(folder, "append", 0, 100)
    tool(folder, "append", 100, 100)
    tool(folder, "append", 200, 100)
    tool(folder, "delete", 5)
    return tool(folder, "promote", 500).strip()


REFUSED_FROM_12 = [("append", "900", "5"), ("delete", "n = 1"), ("update", "n = 1"), ("merge", "0", "5"), ("compact",),
                   ("optimize",), ("index",)]
REFUSED_BEFORE = [("append", "900", "5")]  # the flag stops releases up to 11 only at append and overwrite
SAID = ("Not supported", "not supported", "cannot be written")


def outsider(python, release):
    with tempfile.TemporaryDirectory() as folder:
        head = make(folder)
        path = os.path.join(folder, "t.lance")
        ours = lines(tool(folder, "rows"))
        detached = lines(tool(folder, "rows", head))
        before = files_below(path)
        refused = REFUSED_BEFORE if release == "9.0.1" else REFUSED_FROM_12
        seen = judges.steps(python, WRITER, path, [("rows",)] + refused + [("cleanup",), ("rows",)])
        check_equal(f"pylance {release} reads a guarded table", seen[0][1], ours)
        for step, _ in seen[1:-2]:
            check(f"pylance {release} {step['operation']} is refused", any(text in str(step["error"]) for text in SAID), step["error"])
        check(f"pylance {release} cleanup fails", any(text in str(seen[-2][0]["error"]) for text in SAID + ("Cleanup error",)), seen[-2][0])
        check_equal(f"pylance {release} reads the same rows afterwards", seen[-1][1], ours)
        lost = set(before) - set(files_below(path))
        check(f"pylance {release} deletes nothing", not lost, str(lost))
        check_equal(f"pylance {release}: our rows", lines(tool(folder, "rows")), ours)
        check_equal(f"pylance {release}: the detached version stands", lines(tool(folder, "rows", head)), detached)
        if release == "9.0.1":
            old_delete(python, folder, path, head, detached)


def old_delete(python, folder, path, head, detached):
    """A delete by release 9 passes the flag; what is detached stays as it was, and we promote over the stranger."""
    (step, _), = judges.steps(python, WRITER, path, [("delete", "n = 1")])
    check("pylance 9.0.1 deletes", step["error"] is None, step["error"])
    check_equal("its delete does not touch the detached version", lines(tool(folder, "rows", head)), detached)
    tool(folder, "promote", 500)
    check("we promote over it", len(lines(tool(folder, "rows"))) > 0)
    (step, _), = judges.steps(python, WRITER, path, [("cleanup",)])
    check("and its cleanup still fails", "Cleanup error" in str(step["error"]), step["error"])
    check_equal("so that the detached version stands", lines(tool(folder, "rows", head)), detached)


def lancedb_outsider(python):
    kind = "lancedb"
    with tempfile.TemporaryDirectory() as folder:
        head = make(folder)
        ours = lines(tool(folder, "rows"))
        detached = lines(tool(folder, "rows", head))
        before = files_below(os.path.join(folder, "t.lance"))
        for attempt in lines(run(python, READERS, kind, folder, "t", "--change")):
            check(f"{kind} {attempt['operation']} is refused", any(text in str(attempt["error"]) for text in SAID), attempt["error"])
        check_equal(f"{kind}: our rows", lines(tool(folder, "rows")), ours)
        check_equal(f"{kind}: the detached version stands", lines(tool(folder, "rows", head)), detached)
        lost = set(before) - set(files_below(os.path.join(folder, "t.lance")))
        check(f"{kind} deletes nothing", not lost, str(lost))


def main():
    releases = [(release, judges.python_of("pylance-" + release)) for release in ("14.0.2", "12.0.0", "9.0.1")]
    for release, python in releases:
        if python:
            outsider(python, release)
    lancedb = judges.python_of("lancedb")
    if lancedb:
        lancedb_outsider(lancedb)
    judges.finish(lancedb or any(python for _, python in releases))


main()
