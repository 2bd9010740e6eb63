"""Logs of ours before the official releases, and theirs before us. Every claim is made on a copy.

memwal_judges.py TOOL   (the built memwal_tool)
"""
import os
import shutil
import sys
import tempfile

import judges
from judges import check, check_equal, lines, run

TOOL = sys.argv[1]
JUDGE = os.path.join(judges.HERE, "memwal_judge.py")
WRITER = os.path.join(judges.HERE, "memwal_writer.py")
RELEASES = ["pylance-9.0.1", "pylance-12.0.0", "pylance-14.0.2"]
READER = "pylance-14.0.2"


class Table:
    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.path = os.path.join(folder, name + ".lance")

    def tool(self, *arguments):
        return run(TOOL, self.folder, self.name + ".lance", *arguments)

    def rows(self, command="rows"):
        return [line["row"] for line in lines(self.tool(command))]

    def shard(self):
        return lines(self.tool("shard"))[0]

    def copy(self, name):
        shutil.copytree(self.path, os.path.join(self.folder, name + ".lance"))
        return Table(self.folder, name)

    def judged(self, judge, view):
        """The rows of one view. `claimed` claims first, and so flushes what was only in the log."""
        arguments = ["--view", ""] + ["--claim"] if view == "claimed" else ["--view", view]
        return [line["row"] for line in lines(run(judges.python_of(judge), JUDGE, self.path, *arguments)) if line["view"] == view]


def ours(folder, name):
    """Base rows 0 to 2; entries: puts, an overwrite, tombstones of a base row, of a log row and of nothing."""
    table = Table(folder, name)
    table.tool("create")
    table.tool("append", "a", "3", "4", "5", "6")
    table.tool("append", "b", "4", "7", "-", "1", "5", "99")
    table.tool("append", "c", "8", "1", "-", "3")
    return table


EXPECTED_OURS = {"k0000": "base", "k0001": "c", "k0002": "base", "k0004": "b", "k0006": "a", "k0007": "b", "k0008": "c"}


def names(rows):
    return {row["id"]: row["name"] for row in rows}


def claim_by(judge, table, what, expected):
    """The release claims and replays `table` on a copy; the reader then sees exactly `expected`."""
    copy = table.copy(f"{table.name}-{what}-{judge}")
    run(judges.python_of(judge), WRITER, copy.path, "close")
    check_equal(f"{what}: rows after {judge} claimed", copy.judged(READER, "lsm"), expected)
    check(f"{what}: {judge} raised the epoch", copy.shard()["epoch"] == table.shard()["epoch"] + 1)
    return copy


def our_log_before(judge, folder):
    table = ours(folder, f"ours-{judge}")
    expected = table.rows()
    check_equal("our own reading", names(expected), EXPECTED_OURS)
    check("field 1001 is there", table.shard()["owner"])
    claimed = claim_by(judge, table, "unfolded", expected)
    check_equal("we read what the release flushed", claimed.rows(), expected)

    # A fold of ours: entries gone, replay_after moved, no SSTable anywhere (O.5, 8). A first entry above it stays.
    folded = table.copy(f"folded-{judge}")
    last = lines(folded.tool("append", "d", "9", "-", "0"))[0]["position"]
    folded.tool("fold", last - 2)
    check("replay_after moved", folded.shard()["replay_after"] == last - 2)
    expected = folded.rows()
    check_equal("rows after our fold", names(expected), {**{k: v for k, v in EXPECTED_OURS.items() if k != "k0000"}, "k0009": "d"})
    claim_by(judge, folded, "folded", expected)

    # The release writes on; the newest row wins over what we folded and over what we logged.
    put = folded.copy(f"put-{judge}")
    late = {**names(expected), "k0002": "late", "k0004": "late", "k0020": "late"}
    run(judges.python_of(judge), WRITER, put.path, "put", "late", "2", "4", "20", *deletes(judge, late, 7))
    check_equal(f"we read what {judge} wrote", names(put.rows()), late)
    check_equal(f"we claim what {judge} wrote", names(put.copy(f"claim-{judge}").rows("claim")), late)
    back = put.copy(f"back-{judge}")
    back.tool("append", "again", "7", "21", "-", "20")
    again = {**late, "k0007": "again", "k0021": "again"}
    del again["k0020"]
    check_equal(f"rows of both after {judge}", names(back.rows()), again)
    official_sees(judge, back, again)


def deletes(judge, rows, *numbers):
    """A delete step. 9 makes tombstones only of tables whose other columns are all nullable: none then."""
    if judge == "pylance-9.0.1":
        return []
    for number in numbers:
        del rows[f"k{number:04}"]
    return ["--", "delete", *map(str, numbers)]


def official_sees(judge, table, expected):
    """The others claim what we and `judge` wrote. 9 cannot claim entries of 12 and 14 here (they relax not-null columns), 12 none of 14
    (field ids on the items of lists)."""
    for reader in RELEASES:
        if judges.python_of(reader) is None or RELEASES.index(reader) < RELEASES.index(judge):
            continue
        copy = table.copy(f"{table.name}-{reader}")
        run(judges.python_of(reader), WRITER, copy.path, "close")
        check_equal(f"log of us and {judge}, claimed by {reader}", names(copy.judged(READER, "lsm")), expected)


def take_over(judge, folder):
    """They own and write, we claim: they are fenced, and everything acked is there. Then they come back."""
    table = Table(folder, f"theirs-{judge}")
    table.tool("create")
    expected = {"k0000": "base", "k0001": "base", "k0002": "base", "k0003": "x", "k0004": "y", "k0005": "y"}
    run(judges.python_of(judge), WRITER, table.path, "put", "x", "3", "4", "--", "put", "y", "4", "5", *deletes(judge, expected, 1, 3))
    check_equal(f"we read a log of {judge}", names(table.rows()), expected)
    check_equal(f"we claim a log of {judge}", names(table.copy(f"claimed-{judge}").rows("claim")), expected)
    table.tool("append", "ours", "6", "-", "4")
    expected = {**expected, "k0006": "ours"}
    del expected["k0004"]
    check_equal(f"our row above a log of {judge}", names(table.rows()), expected)
    run(judges.python_of(judge), WRITER, table.path, "close")
    check_equal(f"{judge} claims back", names(table.judged(READER, "lsm")), expected)


def main():
    ran = False
    with tempfile.TemporaryDirectory() as folder:
        for judge in RELEASES:
            if judges.python_of(judge) is None or judges.python_of(READER) is None:
                continue
            ran = True
            our_log_before(judge, folder)
            take_over(judge, folder)
    judges.finish(ran)


main()
