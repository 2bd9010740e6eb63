"""Tables made with src/lance alone, before the official releases, and their changes before us.

table_judges.py TOOL   (the built lance_table_tool)
"""
import json
import os
import shutil
import sys
import tempfile

import judges
from judges import check, check_equal, lines, run

TOOL = sys.argv[1]
JUDGE = os.path.join(judges.HERE, "judge.py")
WRITER = os.path.join(judges.HERE, "table_writer.py")
READERS = os.path.join(judges.HERE, "table_readers.py")


class Table:
    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.path = os.path.join(folder, name + ".lance")

    def tool(self, *arguments):
        return run(TOOL, self.folder, self.name + ".lance", *arguments)

    def rows(self, *version):
        return lines(self.tool("rows", *version))

    def copy(self, name):
        shutil.copytree(self.path, os.path.join(self.folder, name + ".lance"))
        return Table(self.folder, name)


def make_tables(folder):
    """One table per way of keeping rows, each with appends, deletes and upserts of ours."""
    tables = []
    for name, options in (("stable", []), ("plain", ["--addresses"])):
        table = Table(folder, name)
        table.tool("create", *options)
        table.tool("append", 0, 200)
        table.tool("append", 200, 100)
        table.tool("delete", 3, 4, 5, 250)
        table.tool("upsert", 190, 20)
        tables.append(table)
    compacted = tables[0].copy("compacted")
    compacted.tool("compact")
    promoted = tables[0].copy("promoted")
    head = promoted.tool("promote", 500).strip()
    return tables + [compacted, promoted], (promoted, head)


FILTER = "n >= 150 AND n < 205"


def read_all(python, release, table, detached=None):
    """What pylance sees of a table against what we see."""
    what = f"pylance {release}, {table.name}"
    ours = table.rows()
    check(f"{what}: there are rows", len(ours) > 250)
    if release != "9.0.1":  # judge.py needs release 12 for all but the rows
        theirs = lines(run(python, JUDGE, table.path, "--no-rows"))
        check_equal(f"{what}: validate()", [line["validate"] for line in theirs if line["kind"] == "table"], ["ok"])
    operations = [("rows",), ("rows", "-", FILTER), ("validate",)] + ([("rows", detached)] if detached else [])
    seen = judges.steps(python, WRITER, table.path, operations)
    check_equal(f"{what}: no errors", [step["error"] for step, _ in seen], [None] * len(seen))
    check_equal(f"{what}: all values", seen[0][1], ours)
    check_equal(f"{what}: filter", seen[1][1], [row for row in ours if 150 <= row["v"]["n"] < 205])
    if detached:
        check_equal(f"{what}: the detached version by number", seen[3][1], table.rows(detached))


def check_steps(what, python, table, operations):
    for (step, rows), operation in zip(judges.steps(python, WRITER, table.path, operations), operations):
        check(f"{what}: {operation}", step["error"] is None, step["error"])
        if step["error"] is None and operation[0] != "validate":
            check_equal(f"{what}: we read {operation}", table.rows(step["version"]), rows)


def write_and_read_back(python, release, table):
    """pylance changes a copy of a table of ours, we read every step; then we go on where it stopped, and it after us."""
    copy = table.copy(f"{table.name}_by_{release}")
    what = f"pylance {release} on {table.name}"
    check_steps(what, python, copy, [
        ("append", "1000", "50"), ("delete", "n = 7 OR n = 1003"), ("update", "n < 3"), ("merge", "20", "10"), ("merge", "2000", "5"),
        ("index",), ("delete", "n % 2 = 0"), ("optimize",), ("append", "3000", "3")])
    copy.tool("append", 4000, 30)
    copy.tool("delete", 4001, 3001)
    copy.tool("upsert", 4010, 40)
    check_steps(f"{what}, after our turn", python, copy, [("rows",), ("validate",), ("append", "5000", "2"), ("merge", "4010", "3"), ("compact",)])


def race(python, release, table):
    """pylance holds version V, we commit or promote V + 1, it commits from V: rebased or refused, never wrong."""
    what = f"pylance {release} races"
    copy = table.copy(f"race_{release}")
    command = lambda *words: json.dumps([TOOL, copy.folder, copy.name + ".lance", *words])
    check_steps(what, python, copy, [
        ("race", command("append", "600", "5"), "append", "700", "5"), ("race", command("delete", "601"), "delete", "n = 602"),
        ("race", command("upsert", "603", "1"), "merge", "800", "2"), 
        ("race", command("compact"), "append", "900", "1"), ("race", command("compact"), "delete", "n = 11")])
    left = [row["v"]["n"] for row in copy.rows()]
    check_equal(f"{what}: every row once", sorted(left), sorted(set(left)))
    check_equal(f"{what}: what was deleted stays deleted", [n for n in (11, 601, 602) if n in left], [])
    check_equal(f"{what}: what was added is there", [n for n in (600, 603, 700, 704, 800, 801, 900) if n not in left], [])


def race_promotion(python, release, folder):
    """The same against promotion: one transaction covers everything since the ordinary version before."""
    what = f"pylance {release} races promotion"
    table = Table(folder, f"promotion_{release}")
    table.tool("create")
    table.tool("promote", 500)
    command = lambda n: json.dumps([TOOL, folder, table.name + ".lance", "promote", n])
    check_steps(what, python, table, [("race", command("700"), "delete", "n = 505")])
    left = [row["v"]["n"] for row in table.rows()]
    expected = [n for n in [*range(502, 530), *range(702, 730)] if n != 505]
    check_equal(f"{what}: its delete and all of ours", sorted(left), expected)
    # Above a stranger's version promotion says Restore, and a racing writer is told so.
    (step, _), = judges.steps(python, WRITER, table.path, [("race", command("900"), "delete", "n = 506")])
    check(f"{what}: refused over a restore", "ncompatible" in str(step["error"]), step["error"])


def other_readers(kind, python, tables):
    for table in tables:
        ours = table.rows()
        seen = lines(run(python, READERS, kind, table.folder, table.name, FILTER))[0]
        what = f"{kind}, {table.name}"
        check_equal(f"{what}: count", [seen["count"]], [len(ours)])
        check_equal(f"{what}: n", seen["n"], sorted(row["v"]["n"] for row in ours))
        check_equal(f"{what}: text", seen["texts"], sorted(row["v"]["text"] for row in ours if row["v"]["text"] is not None))
        check_equal(f"{what}: filter", sorted(seen["ids"]), sorted(row["v"]["id"] for row in ours if 150 <= row["v"]["n"] < 205))


def main():
    releases = [(release, judges.python_of("pylance-" + release)) for release in ("14.0.2", "12.0.0", "9.0.1")]
    others = [(kind, judges.python_of(kind)) for kind in ("lancedb", "duckdb")]
    with tempfile.TemporaryDirectory() as folder:
        tables, (promoted, head) = make_tables(folder)
        for release, python in releases:
            if python:
                for table in tables:
                    read_all(python, release, table, head if table is promoted else None)
                write_and_read_back(python, release, tables[0])
                write_and_read_back(python, release, tables[1])
                race(python, release, tables[0])
                race_promotion(python, release, folder)
        for kind, python in others:
            if python:
                other_readers(kind, python, tables)
    judges.finish(any(python for _, python in releases + others))


main()
