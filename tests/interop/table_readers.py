"""Runs in an environment with lancedb or duckdb: counts rows of a table, with and without a filter, and prints ids.

table_readers.py lancedb|duckdb FOLDER NAME FILTER      ->  one JSON line {count, filtered, ids, n, texts}
table_readers.py lancedb FOLDER NAME --change           ->  tries to change the table: a JSON line {operation, error} each
"""
import glob
import json
import os
import sys


def by_lancedb(folder, name, condition):
    import lancedb
    table = lancedb.connect(folder).open_table(name)
    found = table.search().where(condition).limit(100000).select(["id", "n"]).to_arrow()
    everything = table.to_arrow()
    return table.count_rows(), found, everything


def by_duckdb(folder, name, condition):
    import duckdb
    import duckdb_extension_lance
    db = duckdb.connect()
    home = os.path.dirname(duckdb_extension_lance.__file__)
    db.execute("LOAD '%s'" % glob.glob(os.path.join(home, "extensions", "*", "lance.duckdb_extension"))[0])
    path = os.path.join(folder, name + ".lance")
    columns = "id, n, text, flag, i32, u32, u64, f32, day, tags, counts, v4"
    everything = db.execute("SELECT %s FROM '%s'" % (columns, path)).fetchall()
    found = db.execute("SELECT id FROM '%s' WHERE %s ORDER BY n" % (path, condition)).fetchall()
    print(json.dumps({"count": len(everything), "filtered": len(found), "ids": [row[0] for row in found],
                      "n": sorted(row[1] for row in everything), "texts": sorted(row[2] for row in everything if row[2] is not None)}))


def attempts(folder, name):
    """Name -> what an outsider with lancedb would do to a table."""
    import datetime
    import lancedb
    table = lancedb.connect(folder).open_table(name)
    return {"add": lambda: table.add([{"id": "x", "n": 1}]), "delete": lambda: table.delete("n = 1"),
            "optimize": lambda: table.optimize(cleanup_older_than=datetime.timedelta(0), delete_unverified=True)}


def main():
    if sys.argv[4] == "--change":
        for operation, attempt in attempts(*sys.argv[2:4]).items():
            error = None
            try:
                attempt()
            except Exception as failure:
                error = str(failure)
            print(json.dumps({"operation": operation, "error": error}))
        return
    kind, folder, name, condition = sys.argv[1:5]
    if kind == "duckdb":
        return by_duckdb(folder, name, condition)
    count, found, everything = by_lancedb(folder, name, condition)
    print(json.dumps({"count": count, "filtered": found.num_rows, "ids": sorted(found["id"].to_pylist()),
                      "n": sorted(everything["n"].to_pylist()),
                      "texts": sorted(t for t in everything["text"].to_pylist() if t is not None)}))


main()
