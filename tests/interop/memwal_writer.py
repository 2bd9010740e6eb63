#!/usr/bin/env python3
"""A writer of the log that is an official release: memwal_writer.py TABLE STEP [-- STEP ...], all in one process, which then
dies without closing anything, unless its last step is `close`.

  put NAME N...      rows with these numbers, as memwal_tool.cc makes them
  delete N...        tombstones
  close              flush what is there into an SSTable and end
"""
import os
import sys

import lance
import pyarrow as pa

SHARD = "aa48498d-ac91-59e2-8452-69f46010ace2"


def rows(schema, name, numbers):
    return pa.table({
        "id": [f"k{n:04}" for n in numbers], "name": [name] * len(numbers), "n": numbers,
        "score": [None if n % 3 == 0 else n * 0.25 for n in numbers], "ok": [n % 2 == 0 for n in numbers],
        "tags": [[f"t{i}" for i in range(n % 4)] for n in numbers], "vec": [[n * 0.5, -1.0] for n in numbers]}, schema=schema)


def main():
    dataset = lance.dataset(sys.argv[1])
    writer = dataset.mem_wal_writer(SHARD)
    step = []
    for word in sys.argv[2:] + ["--"]:
        if word != "--":
            step.append(word)
            continue
        if step[0] == "put":
            writer.put(rows(dataset.schema, step[1], [int(n) for n in step[2:]]))
        elif step[0] == "delete":
            writer.delete(pa.table({"id": [f"k{int(n):04}" for n in step[1:]]}, schema=pa.schema([dataset.schema.field("id")])))
        elif step[0] == "close":
            writer.close()
        else:
            raise SystemExit(f"unknown step {step}")
        step = []
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
