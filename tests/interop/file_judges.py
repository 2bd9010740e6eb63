"""Data files made with src/lance/file before official releases, and theirs before us: every type, with and without
nulls, one page and many, whole and row by row.

file_judges.py TOOL   (the built lance_file_tool)
"""
import os
import sys
import tempfile

import judges
from judges import check_equal, run

TOOL = sys.argv[1]
WORKER = os.path.join(judges.HERE, "file_worker.py")
# (rows, with nulls) per release; the newest one gets them all.
CASES = {"14.0.2": [(5, 0), (5, 1), (3000, 0), (3000, 1)], "12.0.0": [(3000, 1)], "9.0.1": [(3000, 1)]}
EVERY = 7


def their_reading(folder, source, python, release, rows, nulls):
    for page_bytes in (8 << 20, 20000):
        ours = os.path.join(folder, "ours.lance")
        run(TOOL, "encode", source, ours, page_bytes)
        what = f"pylance {release} reads our file of {rows} rows, nulls {nulls}, pages of {page_bytes}"
        check_equal(what, run(python, WORKER, "compare", source, ours, EVERY).splitlines(), [])


def our_reading(folder, source, python, release, rows, nulls):
    for version in ("2.1", "2.2"):
        theirs, back, want = (os.path.join(folder, name) for name in ("theirs.lance", "back.arrow", "want.arrow"))
        run(python, WORKER, "write", source, theirs, version, want)
        what = f"we read a {version} file of pylance {release}, {rows} rows, nulls {nulls}"
        for batch_rows in (1 << 30, 1111):
            run(TOOL, "decode", theirs, back, batch_rows)
            check_equal(f"{what}, by {batch_rows}", run(python, WORKER, "same", want, back, 1).splitlines(), [])
        run(TOOL, "take", theirs, back, EVERY)
        check_equal(f"{what}, taken", run(python, WORKER, "same", want, back, EVERY).splitlines(), [])


def main():
    ran_any = False
    for release, cases in CASES.items():
        python = judges.python_of(f"pylance-{release}")
        if python is None:
            continue
        ran_any = True
        with tempfile.TemporaryDirectory() as folder:
            for rows, nulls in cases:
                source = os.path.join(folder, "source.arrow")
                run(python, WORKER, "make", rows, nulls, source)
                their_reading(folder, source, python, release, rows, nulls)
                our_reading(folder, source, python, release, rows, nulls)
    judges.finish(ran_any)


main()
