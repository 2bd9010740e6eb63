"""The index on `id` before the official releases, and their indexes before us.

index_judges.py TOOL   (the built lance_index_tool)
"""
import json
import os
import shutil
import sys
import tempfile

import judges
from judges import check, check_equal, lines, run

TOOL = sys.argv[1]
WORKER = os.path.join(judges.HERE, "index_worker.py")


def key_of(number):
    return "key-%010d" % (number * 7919 % 1000003)


class Table:
    """A table and what it must hold: `rows` maps each key to its n."""

    def __init__(self, folder, name, rows=None):
        self.folder, self.name, self.rows = folder, name, dict(rows or {})
        self.path = os.path.join(folder, name + ".lance")

    def tool(self, *arguments):
        return run(TOOL, self.folder, self.name + ".lance", *arguments)

    def put(self, first, count, n, *options):
        self.tool("put", first, count, n, *options)
        self.rows.update({key_of(i): n + i for i in range(first, first + count)})

    def delete(self, first, count):
        self.tool("delete", first, count)
        for i in range(first, first + count):
            del self.rows[key_of(i)]

    def copy(self, name):
        shutil.copytree(self.path, os.path.join(self.folder, name + ".lance"))
        return Table(self.folder, name, self.rows)

    def asked(self):
        """Some keys that are there, some that are not."""
        there = sorted(self.rows)
        return there[:: max(1, len(there) // 10)] + [key_of(900000), "", "zzz"]

    def look(self, what, scanned=None):
        """We find every key."""
        keys = sorted(set(self.rows) | set(self.asked()))
        seen = lines(self.tool("look", *keys))
        counts = seen.pop()
        check_equal(what, [(line["id"], line["n"]) for line in seen], [(key, self.rows.get(key)) for key in keys])
        if scanned is not None:
            check_equal(f"{what}: fragments scanned", counts["scanned"], scanned)
        return counts

    def worker(self, python, *steps):
        seen = lines(run(python, WORKER, self.path, json.dumps(steps)))
        if len(seen) != len(steps):
            raise RuntimeError(f"{len(seen)} of {len(steps)} steps ended")
        return seen

    def judged(self, what, python, index=True):
        """The judge finds every key, by an index."""
        seen = self.worker(python, ["look", self.asked()])[0]
        expected = {key: [self.rows[key]] if key in self.rows else [] for key in self.asked()}
        check_equal(f"{what}: one by one", sorted(seen["found"].items()), sorted(expected.items()))
        check_equal(f"{what}: together", seen["together"], sorted([key, n] for key, (n,) in ((k, v) for k, v in expected.items() if v)))
        low, high = seen["bounds"]
        check_equal(f"{what}: range", seen["range"], sum(low <= key < high for key in self.rows))
        check_equal(f"{what}: nulls and validate()", [seen["nulls"], seen["validate"]], [0, "ok"])
        if index:
            check(f"{what}: uses the index", "ScalarIndexQuery" in seen["plan"], seen["plan"])


def make_tables(folder):
    """Ours: several segments, one of them merged, upserts, deletes, a tail that no segment covers."""
    tables = []
    for name, options in (("stable", []), ("plain", ["--addresses"])):
        table = Table(folder, name)
        table.tool("create", *options)
        table.put(0, 3000, 0)
        for i in range(5):
            table.put(3000 + 300 * i, 300, 0)
        table.delete(100, 50)
        table.put(10, 40, 1000000)
        table.put(5000, 30, 0)
        table.put(20, 5, 2000000, "--bare")
        counts = table.look(f"{name}: ours by us", scanned=1)
        check(f"{name}: some segments", 2 <= counts["segments"] <= 5, counts)
        tables.append(table)
    return tables


def judge_ours(python, release, table):
    """pylance reads through our segments; changes the table; merges our segments. Then we look again."""
    what = f"pylance {release}, {table.name}"
    table.judged(what, python)
    copy = table.copy(f"{table.name}_by_{release}")
    key, gone = key_of(200), key_of(201)
    copy.worker(python, ["delete", f"id = '{gone}'"], ["rename", key, "renamed"], ["append", [["appended", 7], ["appended2", 8]]],
                ["merge", [[key_of(202), 9], ["merged", 10]]])
    del copy.rows[gone]
    copy.rows["renamed"] = copy.rows.pop(key)
    copy.rows.update({"appended": 7, "appended2": 8, key_of(202): 9, "merged": 10})
    copy.look(f"{what}: its changes by us")
    copy.put(6000, 20, 0)  # and our next segment, which covers what it left uncovered
    copy.look(f"{what}: our turn", scanned=0)
    copy.judged(f"{what}: our turn", python)
    copy.worker(python, ["optimize"])
    copy.look(f"{what}: optimized", scanned=0)
    copy.judged(f"{what}: optimized", python)
    copy.put(6100, 20, 0)
    copy.worker(python, ["compact"])
    copy.look(f"{what}: compacted")
    copy.judged(f"{what}: compacted", python, index=False)


def we_read_theirs(python, release, folder):
    """An index that pylance made, over stable row ids: releases up to 12 store ids, 14 stores addresses."""
    what = f"index of pylance {release}"
    table = Table(folder, f"index_{release}")
    table.tool("create")
    table.put(0, 5000, 0, "--bare")
    table.put(4000, 2000, 50000, "--bare")
    table.worker(python, ["index"])
    table.look(what, scanned=0)
    table.put(5000, 100, 90000)
    table.delete(7, 9)
    table.worker(python, ["append", [["appended", 7]]])
    table.rows["appended"] = 7
    table.look(f"{what}, beside ours")
    table.judged(f"{what}, beside ours", python)
    table.worker(python, ["optimize"])
    table.look(f"{what}, optimized", scanned=0)
    table.judged(f"{what}, optimized", python)
    table.tool("cover")
    table.worker(python, ["compact"])
    table.look(f"{what}, compacted")
    table.judged(f"{what}, compacted", python, index=False)
    return table


def main():
    ran = []
    with tempfile.TemporaryDirectory() as folder:
        tables = make_tables(folder)
        for release in ("14.0.2", "12.0.0", "9.0.1"):
            python = judges.python_of(f"pylance-{release}")
            if python is None:
                continue
            ran.append((release, python))
            for table in tables if release == "14.0.2" else tables[:1]:
                judge_ours(python, release, table)
            we_read_theirs(python, release, folder)
    judges.finish(bool(ran))


main()
