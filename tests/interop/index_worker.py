"""What pylance does with a table that has an index on `id`, step by step. Runs in a judge's interpreter.

index_worker.py TABLE STEPS   STEPS is a JSON list of
  ["look", [KEY...]]   per key the values of n that a filter on it finds; all of them by one IN list; a range; the plan; validate()
  ["index"] ["delete", SQL] ["rename", OLD, NEW] ["append", [[id, n]...]] ["merge", [[id, n]...]] ["optimize"] ["compact"]
Prints a JSON line per step.
"""
import json
import sys

import lance
import pyarrow as pa


def table_of(pairs, schema):
    return pa.table({"id": [pair[0] for pair in pairs], "n": [pair[1] for pair in pairs]}, schema=schema)


def look(data, keys):
    found = {key: data.to_table(columns=["n"], filter=f"id = '{key}'").column("n").to_pylist() for key in keys}
    listed = ", ".join(f"'{key}'" for key in keys)
    together = data.to_table(filter=f"id IN ({listed})").to_pylist()
    low, high = sorted(keys)[len(keys) // 3], sorted(keys)[len(keys) // 2]
    try:
        data.validate()
        verdict = "ok"
    except Exception as error:
        verdict = str(error)
    return {"found": found, "together": sorted([row["id"], row["n"]] for row in together),
            "range": data.count_rows(filter=f"id >= '{low}' AND id < '{high}'"), "bounds": [low, high], "nulls": data.count_rows(filter="id IS NULL"),
            "plan": data.scanner(filter=f"id = '{keys[0]}'").explain_plan(), "validate": verdict}


def main():
    path = sys.argv[1]
    for step in json.loads(sys.argv[2]):
        data = lance.dataset(path)
        name, arguments = step[0], step[1:]
        result = {}
        if name == "look":
            result = look(data, *arguments)
        elif name == "index":
            data.create_scalar_index("id", "BTREE")
        elif name == "delete":
            data.delete(*arguments)
        elif name == "rename":
            data.update({"id": f"'{arguments[1]}'"}, where=f"id = '{arguments[0]}'")
        elif name == "append":
            lance.write_dataset(table_of(arguments[0], data.schema), path, mode="append")
        elif name == "merge":
            data.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(table_of(arguments[0], data.schema))
        elif name == "optimize":
            data.optimize.optimize_indices()
        elif name == "compact":
            data.optimize.compact_files()
        else:
            raise SystemExit(f"no step {name}")
        print(json.dumps({"kind": name, **result}), flush=True)


main()
