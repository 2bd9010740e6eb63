"""Write one Arrow file and the official writer's data files of it: every page kind that it chooses by default.

    python make_golden_pages.py OUT_DIR      (with pylance; made tests/golden/data/lance/pages.tar.gz with 14.0.2)

Values are drawn so that the writer picks the encoding in the column's name; see docs/format/lance-file.md.
"""

import decimal
import os
import random
import sys

import pyarrow as pa
from lance.file import LanceFileWriter

ROWS = 1100
R = random.Random(20240607)


def rows(fn):
    return [fn(i) for i in range(ROWS)]


def words(least, most):
    return " ".join(R.choice(["lorem", "ipsum", "dolor", "sit", "amet"]) for _ in range(R.randint(least, most)))


def sparse(fn, share=0.1):
    return lambda i: None if R.random() < share else fn(i)


def columns():
    item = pa.struct([("x", pa.int32()), ("y", pa.utf8())])
    yield "flat64", pa.int64(), rows(lambda i: R.randint(-(2**63), 2**63 - 1))
    yield "inline64", pa.int64(), rows(lambda i: 5 * i)
    yield "inline32", pa.int32(), rows(lambda i: R.randint(0, 9) * 100 + i % 7)
    yield "inline16", pa.int16(), rows(lambda i: (i * 7919) % 700)
    yield "inline8", pa.int8(), rows(lambda i: R.randint(0, 7))
    yield "inline_float", pa.float32(), rows(lambda i: R.random())
    yield "levels_out_of_line", pa.int32(), rows(sparse(lambda i: R.randint(0, 100000)))
    yield "rle", pa.int32(), rows(lambda i: i // 100)
    yield "rle_null", pa.int32(), rows(lambda i: None if (i // 50) % 3 == 0 else i // 100)
    yield "dictionary_inline", pa.int64(), rows(lambda i: R.randint(0, 300))
    yield "dictionary_lz4", pa.int64(), rows(lambda i: R.choice([-(10**15), 5, 10**17]))
    yield "dictionary_decimal", pa.decimal128(20, 0), rows(lambda i: decimal.Decimal(R.randint(0, 49)))
    yield "dictionary_utf8", pa.utf8(), rows(sparse(lambda i: R.choice(["red", "green", "blue", "violet"])))
    yield "bools", pa.bool_(), rows(sparse(lambda i: R.random() < 0.5))
    yield "true", pa.bool_(), rows(lambda i: True)
    yield "variable", pa.utf8(), rows(sparse(lambda i: "k%d" % (i * 7919 % 9973)))
    yield "fsst", pa.utf8(), rows(lambda i: "user-%d@example.test/%d" % (i * 7919 % 9973, i))
    yield "fsst_full_zip", pa.utf8(), rows(sparse(lambda i: words(60, 70) + str(i)))
    yield "zstd_values", pa.utf8(), rows(lambda i: "abc"[i % 3] * (33000 + i) if i % 250 == 7 else "n%d" % i)
    yield "zstd_binary", pa.large_binary(), rows(lambda i: b"xy" * (16500 + i) if i % 250 == 9 else b"")
    yield "full_zip_plain", pa.utf8(), rows(lambda i: "z" * 300 if i == 3 else "v%d" % i)
    yield "same_utf8", pa.utf8(), rows(lambda i: "same")
    yield "same_utf8_null", pa.utf8(), rows(lambda i: None if i % 5 == 0 else "same")
    yield "same64", pa.int64(), rows(lambda i: 12345)
    yield "same64_null", pa.int64(), rows(lambda i: None if i % 5 == 0 else 77)
    yield "same_vector", pa.list_(pa.float32(), 4), rows(lambda i: [1.0, 2.0, 3.0, 4.0])
    yield "same_list", pa.list_(pa.int32()), rows(lambda i: [3] * R.randint(0, 3))
    yield "vector4_null", pa.list_(pa.float32(), 4), rows(sparse(lambda i: [None if i % 9 == 0 else i % 3, 1, 2, 3]))
    yield "vector70", pa.list_(pa.float32(), 70), rows(lambda i: [float(i % 5)] * 69 + [float(i)])
    yield "vector70_null", pa.list_(pa.float32(), 70), rows(sparse(lambda i: [float(i % 5)] * 69 + [float(i)]))
    yield "list_int", pa.list_(pa.int32()), rows(sparse(lambda i: [R.randint(0, 50) for _ in range(R.randint(0, 6))]))
    yield "list_utf8", pa.list_(pa.utf8()), rows(lambda i: [R.choice(["a", "bb"]) for _ in range(R.randint(0, 3))])
    yield "list_long", pa.list_(pa.utf8()), rows(lambda i: ["q" * R.randint(1, 300)] * R.randint(0, 2))
    yield "list_list", pa.list_(pa.list_(pa.int32())), rows(lambda i: [[R.randint(0, 9)] * R.randint(0, 2)] * R.randint(0, 3))
    yield "struct", item, rows(sparse(lambda i: {"x": R.randint(0, 9), "y": "n%d" % R.randint(0, 9)}))
    yield "list_struct", pa.list_(item), rows(lambda i: [{"x": i, "y": "n%d" % R.randint(0, 99)}] * R.randint(0, 3))
    yield "null_int", pa.int32(), rows(lambda i: None)
    yield "null_list", pa.list_(pa.int32()), rows(lambda i: None)
    yield "null_struct", pa.struct([("x", pa.int32())]), rows(lambda i: None)


def main(out_dir):
    os.makedirs(out_dir, exist_ok=True)
    fields, arrays = [], []
    for name, kind, values in columns():
        fields.append(pa.field(name, kind))
        arrays.append(pa.array(values, kind))
    table = pa.table(arrays, schema=pa.schema(fields))
    with pa.ipc.new_file(os.path.join(out_dir, "pages.arrow"), table.schema) as writer:
        writer.write_table(table)
    for version in ("2.1", "2.2"):
        path = os.path.join(out_dir, "pages_v%s.lance" % version.replace(".", ""))
        writer = LanceFileWriter(path, table.schema, version=version)
        for batch in table.to_batches():
            writer.write_batch(batch)
        writer.close()


if __name__ == "__main__":
    main(sys.argv[1])
