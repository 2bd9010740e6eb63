"""Makes the golden archives btree_row_ids and btree_addresses. Run it in a judge's interpreter:

make_golden_btree.py FOLDER NAME   pylance 12 for btree_row_ids, 14 for btree_addresses

FOLDER/NAME/NAME.lance: stable row ids; 300 rows in two fragments, one deleted before the BTREE on `id` was made and one after; ten rows
that it does not cover. FOLDER/NAME/expected.jsonl: every live row as {"id", "n", "address"}, in scan order.
"""
import json
import os
import sys

import lance
import pyarrow as pa


def rows(first, end):
    schema = pa.schema([pa.field("id", pa.string(), nullable=False), pa.field("n", pa.int64())])
    return pa.table({"id": ["golden-%06d" % (i * 7919 % 1009) for i in range(first, end)], "n": list(range(first, end))}, schema=schema)


folder, name = sys.argv[1:]
path = os.path.join(folder, name, name + ".lance")
os.makedirs(os.path.join(folder, name))
lance.write_dataset(rows(0, 200), path, enable_stable_row_ids=True)
lance.write_dataset(rows(200, 300), path, mode="append")
lance.dataset(path).delete("n = 7")
lance.dataset(path).create_scalar_index("id", "BTREE")
lance.dataset(path).delete("n = 208")
lance.write_dataset(rows(300, 310), path, mode="append")
with open(os.path.join(folder, name, "expected.jsonl"), "w") as file:
    for row in lance.dataset(path).to_table(with_row_address=True).to_pylist():
        print(json.dumps({"id": row["id"], "n": row["n"], "address": row["_rowaddr"]}), file=file)
