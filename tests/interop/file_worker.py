"""What file_judges.py asks of one official release (run with its Python).

file_worker.py make ROWS NULLS OUT.arrow
file_worker.py write IN.arrow OUT.lance VERSION WANT.arrow   (WANT: the columns that this version can hold)
file_worker.py compare WANT.arrow FILE.lance EVERY           (prints a line for every column that differs)
file_worker.py same WANT.arrow GOT.arrow EVERY               (GOT holds every EVERY-th row)
"""
import datetime
import decimal
import random
import sys

import pyarrow as pa
from lance.file import LanceFileReader, LanceFileWriter

R = random.Random(7)


def make(rows, nulls):
    names, arrays = [], []

    def add(name, kind, value, spread=0.15):
        values = [None if nulls and R.random() < spread else value(i) for i in range(rows)]
        names.append(name)
        arrays.append(pa.array(values, kind))

    def maybe(value):
        return None if nulls and R.random() < 0.1 else value

    def some(*lengths):
        return range(R.choice(lengths if nulls else [n for n in lengths if n] or lengths))

    pair = pa.struct([("x", pa.int32()), ("y", pa.utf8())])
    for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64()):
        add(str(kind), kind, lambda i: R.randint(-100, 100))
    for kind in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()):
        add(str(kind), kind, lambda i: R.randint(0, 200))
    for kind in (pa.float32(), pa.float64()):
        add(str(kind), kind, lambda i: R.random())
    add("bool", pa.bool_(), lambda i: R.random() < 0.5)
    add("string", pa.utf8(), lambda i: "x" * R.randint(0, 30) + str(i))
    add("large_string", pa.large_utf8(), lambda i: "y" * R.randint(0, 30) + str(i))
    add("binary", pa.binary(), lambda i: bytes([i % 256]) * R.randint(0, 20))
    add("long_binary", pa.large_binary(), lambda i: bytes([i % 256]) * R.randint(0, 600))
    add("long_string", pa.utf8(), lambda i: "z" * R.randint(0, 600) + str(i))
    add("fixed_binary", pa.binary(4), lambda i: b"%04d" % (i % 10000))
    add("date", pa.date32(), lambda i: datetime.date(2020, 1, 1) + datetime.timedelta(days=i % 1000))
    add("instant", pa.timestamp("ms", "UTC"), lambda i: i * 1000)
    add("local", pa.timestamp("us"), lambda i: i * 1000)
    add("time", pa.time64("us"), lambda i: i)
    add("duration", pa.duration("us"), lambda i: i)
    add("decimal128", pa.decimal128(10, 2), lambda i: decimal.Decimal(i) / 100)
    add("decimal256", pa.decimal256(40, 2), lambda i: decimal.Decimal(-i) / 100)
    add("vector4", pa.list_(pa.float32(), 4), lambda i: [maybe(float(i + k)) for k in range(4)])
    add("vector100", pa.list_(pa.float32(), 100), lambda i: [maybe(float(i + k)) for k in range(100)])
    add("bools3", pa.list_(pa.bool_(), 3), lambda i: [R.random() < 0.5 for _ in range(3)])
    add("ints", pa.list_(pa.int32()), lambda i: [maybe(R.randint(0, 9)) for _ in some(0, 1, 2, 5)])
    add("strings", pa.list_(pa.utf8()), lambda i: [maybe("q" * R.randint(0, 9)) for _ in some(0, 1, 2, 5)])
    add("long_strings", pa.list_(pa.utf8()), lambda i: [maybe("q" * R.randint(0, 900)) for _ in some(0, 1, 2, 5)])
    add("vectors", pa.list_(pa.list_(pa.float32(), 80)), lambda i: [[float(k) for k in range(80)] for _ in some(0, 1, 2)])
    add("lists", pa.list_(pa.list_(pa.int32())), lambda i: [maybe([R.randint(0, 9) for _ in some(0, 3)]) for _ in some(0, 1, 5)])
    add("struct", pair, lambda i: {"x": maybe(i), "y": str(i)})
    add("structs", pa.list_(pair), lambda i: [{"x": i, "y": maybe("a")} for _ in some(0, 1, 2)])
    add("nested", pa.struct([("l", pa.list_(pa.int32())), ("z", pa.int64())]), lambda i: {"l": [1 for _ in some(0, 1, 3)], "z": i})
    add("map", pa.map_(pa.utf8(), pa.int32()), lambda i: [(str(k), k) for k in some(0, 1, 2)])
    for name, kind in (("null_int", pa.int32()), ("null_string", pa.utf8()), ("null_list", pa.list_(pa.int32())), ("null_struct", pair)):
        add(name, kind, lambda i: None)
    add("empty_lists", pa.list_(pa.utf8()), lambda i: [], spread=0)
    return pa.table(arrays, names)


def save(table, path):
    with pa.ipc.new_file(path, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=777):
            writer.write_batch(batch)


def load(path):
    return pa.ipc.open_file(path).read_all()


def report(name, want, got):
    if want != got:
        at = next((i for i, pair in enumerate(zip(want, got)) if pair[0] != pair[1]), min(len(want), len(got)))
        print(f"{name}: {len(want)} and {len(got)} rows, first difference at {at}: {want[at:at + 1]} {got[at:at + 1]}"[:400])


def compare(want, path, every):
    rows = list(range(0, want.num_rows, every))
    for name in want.column_names:
        whole = LanceFileReader(path, columns=[name]).read_all().to_table().column(0)
        report(name, want.column(name).to_pylist(), whole.to_pylist())
        taken = LanceFileReader(path, columns=[name]).take_rows(rows).to_table().column(0)
        report(name + " taken", want.column(name).take(rows).to_pylist(), taken.to_pylist())


def main(mode, *words):
    if mode == "make":
        save(make(int(words[0]), words[1] == "1"), words[2])
    elif mode == "write":
        table = load(words[0])
        if words[2] == "2.1":
            table = table.drop_columns(["map"])  # official writers need 2.2 for it
        writer = LanceFileWriter(words[1], table.schema, version=words[2])
        for batch in table.to_batches():
            writer.write_batch(batch)
        writer.close()
        save(table, words[3])
    elif mode == "compare":
        compare(load(words[0]), words[1], int(words[2]))
    else:
        want, got, every = load(words[0]), load(words[1]), int(words[2])
        want = want.take(list(range(0, want.num_rows, every)))
        for name in want.column_names:
            report(name, want.column(name).to_pylist(), got.column(name).to_pylist())


main(*sys.argv[1:])
