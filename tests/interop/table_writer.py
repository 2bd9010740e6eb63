"""Runs in a judge's environment: operations of pylance on a table, one process for all of them.

table_writer.py TABLE OPERATION [ARGUMENTS] [-- OPERATION [ARGUMENTS]]...

Prints, per operation, {kind: step, operation, version, error} and, when it changed the table or is `rows`, the rows
as judge.py prints them. New rows carry the columns `id` and `n` of the interop tables; the others are null. An
operation that fails does not stop those after it.
"""
import datetime
import json
import subprocess
import sys

import judge
import lance
import pyarrow as pa


def new_rows(data, first, count):
    """Rows first .. first + count - 1 with only id and n, in the table's schema."""
    columns = {"id": ["k%08d" % n for n in range(first, first + count)], "n": list(range(first, first + count))}
    arrays = [pa.array(columns.get(f.name, [None] * count), f.type) for f in data.schema]
    return pa.Table.from_arrays(arrays, schema=data.schema)


def change(data, operation, arguments):
    if operation == "append":
        lance.write_dataset(new_rows(data, int(arguments[0]), int(arguments[1])), data, mode="append")
    elif operation == "delete":
        data.delete(arguments[0])
    elif operation == "update":
        data.update({"text": "'updated'"}, where=arguments[0])
    elif operation == "merge":
        merge = data.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
        merge.execute(new_rows(data, int(arguments[0]), int(arguments[1])))
    elif operation == "compact":
        data.optimize.compact_files()
    elif operation == "optimize":
        data.optimize.compact_files()
        data.optimize.optimize_indices()
    elif operation == "cleanup":
        data.cleanup_old_versions(older_than=datetime.timedelta(0), delete_unverified=True)
    elif operation == "index":
        data.create_scalar_index("id", "BTREE")
    elif operation == "validate":
        data.validate()
    else:
        raise SystemExit("unknown operation " + operation)


def perform(table, operation, arguments):
    """Rows to print after the operation; `rows [VERSION|-] [FILTER]` only reads."""
    if operation == "rows":
        version = int(arguments[0]) if arguments and arguments[0] != "-" else None
        data = lance.dataset(table, version=version)
        return data.version, list(judge.rows(data, None, arguments[1] if len(arguments) > 1 else None))
    data = lance.dataset(table)
    if operation == "race":  # race COMMAND OPERATION ...: the command runs between opening and the operation
        subprocess.run(json.loads(arguments[0]), check=True, stdout=subprocess.DEVNULL)
        operation, *arguments = arguments[1:]
    change(data, operation, arguments)
    data = lance.dataset(table)
    reads = operation in ("validate", "cleanup")
    return data.version, [] if reads else list(judge.rows(data, None, None))


def main():
    table, words, steps = sys.argv[1], sys.argv[2:], [[]]
    for word in words:
        if word == "--":
            steps.append([])
        else:
            steps[-1].append(word)
    for operation, *arguments in steps:
        version, rows, error = None, [], None
        try:
            version, rows = perform(table, operation, arguments)
        except Exception as failure:
            error = str(failure)
        print(json.dumps({"kind": "step", "operation": operation, "version": version, "error": error}))
        for row in rows:
            print(row)


main()
