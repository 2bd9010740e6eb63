"""The program as its users meet it: docs/cli.md, and the guarantees of docs/ingest.md that show at this border."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import unittest

from harness import BIN, EXAMPLE, PEOPLE, ROOT, Case, Server, knows, person


class Story(Case):
    def test_the_sample_catalogue_streams_folds_and_answers(self):
        self.omnigraph("init", self.graph, "--schema", str(EXAMPLE / "packages.pg"))
        out = self.omnigraph_json("ingest", "--stream", str(EXAMPLE / "sample.ndjson"), "--store", self.graph)
        lines = (EXAMPLE / "sample.ndjson").read_text().splitlines()
        names = {json.loads(line)["data"]["name"] for line in lines if '"type":"Package"' in line}
        edges = [json.loads(line) for line in lines if '"edge":' in line and '"InSection"' not in line]
        dangling = sum(edge["to"] not in names for edge in edges)
        self.assertGreater(dangling, 0)
        self.assertEqual(out["acked"], len(lines))
        self.assertEqual(out["rejected_by_code"], {"edge.endpoint_missing": dangling})
        self.assertEqual(out["pending"], 0)
        self.assertEqual(out["visible"], len(lines) - dangling)
        self.assertEqual(len(self.rows()), len(lines) - dangling)
        rejects = self.omnigraph_json("ingest", "rejects", "list", "--limit", "1000", "--store", self.graph)["rejects"]
        self.assertEqual(len(rejects), dangling)
        self.assertEqual(self.status()["open_rejects_by_code"], {"edge.endpoint_missing": dangling})

        questions = str(EXAMPLE / "questions.gq")
        by_source = {}
        for edge in edges:
            if edge["edge"] == "DependsOn" and edge["to"] in names:
                by_source.setdefault(edge["from"], set()).add(edge["to"])
        first = by_source["curl"]
        second = set().union(*(by_source.get(name, set()) for name in first))
        needs = self.omnigraph_json("query", "needs", "--query", questions, "--params", '{"name":"curl"}', "--store", self.graph)
        self.assertEqual([row["package"] for row in needs["rows"]], sorted(first | second))

        most = self.omnigraph_json("query", "most_depended_upon", "--query", questions, "--store", self.graph)
        counts = {}
        for targets in by_source.values():
            for target in targets:
                counts[target] = counts.get(target, 0) + 1
        self.assertEqual([row["dependents"] for row in most["rows"]], sorted(counts.values(), reverse=True)[:10])

        who = self.omnigraph_json("query", "recommenders", "--query", questions, "--params", '{"name":"git"}', "--store", self.graph)
        self.assertEqual([row["package"] for row in who["rows"]],
                         sorted(edge["from"] for edge in edges if edge["edge"] == "Recommends" and edge["to"] == "git"))

    def test_commits_tables_and_schema_are_listed(self):
        self.init()
        self.stream(person("a"), person("b"), knows("a", "b"))
        ops = [commit["op"] for commit in self.omnigraph_json("commit", "list", "--store", self.graph)["commits"]]
        self.assertEqual(ops[-1], "init")
        self.assertIn("fold", ops)
        tables = self.omnigraph_json("table", "list", "--store", self.graph)["tables"]
        self.assertEqual({table.get("type") for table in tables if table["kind"] in ("node", "edge")},
                         {"Person", "City", "Knows", "LivesIn"})
        for table in tables:
            self.assertTrue((pathlib.Path(self.graph) / table["path"]).is_dir(), table)
        self.assertIn("node Person", self.omnigraph("schema", "show", "--store", self.graph))

    def test_the_history_says_who_wrote(self):
        self.omnigraph("init", self.graph, "--schema", self.file("schema.pg", PEOPLE), "--as", "ines")
        self.stream(person("a"), options=["--as", "stella"])
        self.omnigraph("load", self.graph, "--mode", "merge", "--data", self.file("rows.ndjson", person("b")), "--as", "Löwe")
        commits = self.omnigraph_json("commit", "list", "--store", self.graph)["commits"]
        self.assertEqual({commit["op"]: commit["actor_id"] for commit in commits if commit["op"] != "maintain"},
                         {"init": "ines", "enrol": "stella", "fold": "stella", "load": "Löwe"})

    def test_a_stream_of_nobody_is_ours(self):
        self.init()
        self.stream(person("a"))
        commits = self.omnigraph_json("commit", "list", "--store", self.graph)["commits"]
        self.assertEqual({commit["op"]: commit["actor_id"] for commit in commits if commit["op"] in ("enrol", "fold")},
                         {"enrol": "omnigraph:ingest", "fold": "omnigraph:ingest"})

    def test_an_actor_that_is_no_text_is_refused(self):
        schema = self.file("schema.pg", PEOPLE)
        self.fails("init", self.graph, "--schema", schema, "--as", b"\xff", code=2, says=["UTF-8"])
        self.assertFalse(os.path.exists(self.graph))
        self.init()
        self.fails("ingest", "--stream", "--store", self.graph, "--as", b"a\xc3", code=2, says=["UTF-8"], stdin=person("a"))
        self.fails("ingest", "status", "--server", "http://127.0.0.1:1", "--as", "me", code=2, says=["--as"])

    def test_export_loads_into_a_second_graph_unchanged(self):
        self.init()
        self.stream(person("a", name="Ada", age=36), person("b"), knows("a", "b"))
        first = self.omnigraph("export", self.graph)
        second = str(self.work / "second.omni")
        self.omnigraph("init", second, "--schema", str(self.work / "schema.pg"))
        self.omnigraph("load", second, "--mode", "append", "--data", self.file("rows.ndjson", first))
        self.assertEqual(sorted(self.omnigraph("export", second).splitlines()), sorted(first.splitlines()))

    def test_help_teaches_every_command(self):
        teaches = {
            "": ["--store", "--server", "--graph", "--as", "--json", "--quiet", "init", "load", "ingest", "query", "export", "commit",
                 "schema", "table", "version", "First steps", "Exit codes"],
            "init": ["create a graph", "URI", "--schema"],
            "load": ["one commit", "URI", "--data", "--mode", "append", "merge", "overwrite"],
            "ingest": ["FILE", "--stream", "--no-fold", "--stop-on-error", "fold", "status", "rejects", "repair", "Ctrl-C", "Example"],
            "ingest fold": ["one commit"],
            "ingest repair": ["--type", "--accept-loss", "copy"],
            "ingest status": ["acked", "visible", "rejected", "pending"],
            "ingest rejects": ["list"],
            "ingest rejects list": ["--by-reason", "--type", "--code", "--limit"],
            "query": ["NAME", "--query", "-e", "--params", "--params-file", "--format", "table", "jsonl", "csv", "kv", "Example"],
            "export": ["NDJSON", "URI", "--type"],
            "commit": ["list"],
            "commit list": ["newest first", "--limit"],
            "schema": ["show"],
            "schema show": ["schema"],
            "table": ["list"],
            "table list": ["folder"],
            "version": ["version"],
        }
        for command, words in teaches.items():
            help_text = self.omnigraph(*command.split(), "--help")
            for word in words:
                self.assertIn(word, help_text, f"omnigraph {command} --help")
        # docs/cli.md teaches the same.
        page = (ROOT / "docs" / "cli.md").read_text()
        for command in teaches:
            # The groups are not commands of their own.
            if command not in ("", "ingest rejects", "commit", "schema", "table"):
                self.assertIn(f"`{command}", page)


class Load(Case):
    def test_a_broken_pattern_makes_no_graph(self):
        schema = self.file("schema.pg", 'node A { s: String @check(s, "a(") }')
        self.fails("init", self.graph, "--schema", schema, code=2, says=["a(", "regular expression"])
        self.fails("load", self.graph, "--mode", "merge", "--data", schema, code=3, says=[self.graph])

    def test_modes_append_merge_overwrite(self):
        self.init()
        rows = self.file("rows.ndjson", person("a", name="A", age=1) + "\n" + person("b") + "\n")
        self.omnigraph("load", self.graph, "--mode", "append", "--data", rows)
        out = self.omnigraph_json("load", self.graph, "--mode", "append", "--data", rows, code=2)
        self.assertEqual([(error["line"], error["code"]) for error in out["errors"]], [(1, "load.key_conflict"), (2, "load.key_conflict")])
        merge = self.file("merge.ndjson", person("a", name="A2") + "\n" + person("c") + "\n")
        out = self.omnigraph_json("load", self.graph, "--mode", "merge", "--data", merge)
        self.assertEqual([(n["name"], n["inserted"], n["updated"]) for n in out["nodes"]], [("Person", 1, 1)])
        by_id = {row["id"]: row["data"] for row in self.rows("Person")}
        self.assertEqual(by_id["a"], {"slug": "a", "name": "A2"})  # a whole row replaces: age is gone
        over = self.file("over.ndjson", person("z") + "\n")
        self.omnigraph("load", self.graph, "--mode", "overwrite", "--data", over)
        self.assertEqual([row["id"] for row in self.rows("Person")], ["z"])

    def test_a_row_acked_before_a_load_is_never_folded_over_it(self):  # G12
        self.init()
        self.stream(person("a", name="streamed"), person("b", name="streamed"), options=["--no-fold"])
        self.omnigraph("load", self.graph, "--mode", "merge", "--data", self.file("rows.ndjson", person("a", name="loaded") + "\n"))
        self.omnigraph("ingest", "fold", "--store", self.graph)
        self.assertEqual({row["id"]: row["data"]["name"] for row in self.rows("Person")}, {"a": "loaded", "b": "streamed"})

    def test_one_bad_line_loads_nothing_and_is_named(self):
        self.init()
        rows = self.file("rows.ndjson", person("a") + "\n" + person("b", age=151) + "\n")
        out = self.omnigraph_json("load", self.graph, "--mode", "append", "--data", rows, code=2)
        self.assertEqual([error["line"] for error in out["errors"]], [2])
        self.assertEqual(self.rows(), [])


class Output(Case):
    """Output that does not get out is an error; with --json everything that is said is JSON."""

    def to_full_disk(self, *arguments):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([BIN / "omnigraph", *arguments], stdout=full, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("standard output", done.stderr.decode())

    def test_lost_output_is_no_success(self):
        self.init()
        self.stream(person("a"))
        self.to_full_disk("export", self.graph)
        self.to_full_disk("query", "-e", "query q() { match { $p: Person } return { $p.slug } }", "--store", self.graph)
        self.to_full_disk("ingest", "status", "--store", self.graph, "--json")
        self.to_full_disk("--help")

    def test_an_error_that_cannot_be_printed_as_json_is_told_all_the_same(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([BIN / "omnigraph", "table", "list", "--json", "--store", str(self.work / "none")],
                                  stdout=full, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, 3)
        self.assertIn("none", done.stderr.decode())

    def test_a_wrong_command_line_is_told_in_json_too(self):
        for arguments in (["--json", "nonsense"], ["load", "g", "--json"], ["ingest", "rejects", "list", "--json", "--limit", "-1"], ["--json"]):
            done = self.run_omnigraph(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            error = json.loads(done.stdout)
            self.assertEqual((error["code"], error["kind"]), ("cli.usage", "invalid"))
            self.assertEqual(done.stderr, b"")


class Pipes(Case):
    """What comes through a pipe is whole: nothing looks at it before it is read."""

    ROWS = person("a") + "\n" + person("b") + "\n"

    def through_fifo(self, *arguments):
        fifo = str(self.work / "rows.fifo")
        os.mkfifo(fifo)
        writer = subprocess.Popen(["sh", "-c", 'cat > "$0"', fifo], stdin=subprocess.PIPE)
        writer.stdin.write(self.ROWS.encode())
        writer.stdin.close()
        self.addCleanup(writer.wait)
        self.addCleanup(writer.kill)
        return self.omnigraph_json(*[fifo if part == "ROWS" else part for part in arguments])

    def test_stream_from_a_fifo(self):
        self.init()
        out = self.through_fifo("ingest", "--stream", "ROWS", "--store", self.graph)
        self.assertEqual((out["acked"], out["refused"]), (2, 0))

    def test_load_from_a_fifo(self):
        self.init()
        self.through_fifo("load", self.graph, "--mode", "append", "--data", "ROWS")
        self.assertEqual([row["id"] for row in self.rows("Person")], ["a", "b"])

    def test_dev_stdin_and_process_substitution(self):
        self.init()
        out = self.omnigraph_json("ingest", "--stream", "/dev/stdin", "--store", self.graph, stdin=self.ROWS)
        self.assertEqual((out["acked"], out["refused"]), (2, 0))
        rows = self.file("rows.ndjson", self.ROWS)
        subprocess.run(["bash", "-c", f"{BIN}/omnigraph load {self.graph} --mode merge --data <(cat {rows})"], check=True, capture_output=True)
        self.assertEqual([row["id"] for row in self.rows("Person")], ["a", "b"])

    def test_a_folder_is_no_input(self):
        self.init()
        self.fails("ingest", "--stream", str(self.work), "--store", self.graph, code=2, says=["directory"])


class Orphans(Case):
    """C6: what a killed process leaves goes a day later, by whoever comes by."""

    def age(self, path, days):
        past = path.stat().st_mtime - days * 86400
        os.utime(path, (past, past))

    def leave_orphans(self):
        table = next((pathlib.Path(self.graph) / "nodes").glob("*.lance/data")).parent
        old, young = table / "data" / "old.lance", table / "data" / "young.lance"
        for path in (old, young):
            path.write_bytes(b"of a killed process")
        self.age(old, 2)
        return old, young

    def check(self, bring_rows):
        self.init()
        bring_rows()  # marks the graph
        old, young = self.leave_orphans()
        bring_rows()
        self.assertTrue(old.exists())  # somebody swept less than a day ago
        mark = pathlib.Path(self.graph) / "_sweep" / "last"
        self.age(mark, 2)
        before = self.rows()
        bring_rows()
        self.assertFalse(old.exists())
        self.assertTrue(young.exists())
        self.assertEqual(self.rows(), before)

    def test_a_load_sweeps_once_a_day(self):
        rows = self.file("rows.ndjson", person("a") + "\n")
        self.check(lambda: self.omnigraph("load", self.graph, "--mode", "merge", "--data", rows))

    def test_a_process_that_folds_sweeps_once_a_day(self):
        self.check(lambda: self.stream(person("a")))


class BadLines(Case):
    """G8: what can be checked without the graph fails its row alone, with line, column and reason."""

    def check(self, bad, column=None, word=None):
        out = self.stream(person("good1"), bad, person("good2"), code=1)
        self.assertEqual((out["acked"], out["refused"]), (2, 1), out)
        error = out["errors"][0]
        self.assertEqual(error["line"], 2)
        self.assertTrue(error["code"])
        if column is not None:
            self.assertEqual(error.get("column"), column, error)
        if word is not None:
            self.assertIn(word, error["message"])
        self.assertEqual(sorted(row["id"] for row in self.rows("Person")), ["good1", "good2"])

    def setUp(self):
        super().setUp()
        self.init()

    def test_not_json(self):
        self.check("{nope}")

    def test_not_an_object(self):
        self.check("[1,2]")

    def test_cut_off(self):
        self.check('{"type":"Person","data":{"slug":"x')

    def test_unknown_type(self):
        self.check('{"type":"Persn","data":{"slug":"x"}}', word="Persn")

    def test_unknown_property(self):
        self.check('{"type":"Person","data":{"slug":"x","nam":"y"}}', word="nam")

    def test_wrong_value_type(self):
        self.check('{"type":"Person","data":{"slug":"x","age":"old"}}', word="age")

    def test_out_of_range(self):
        self.check('{"type":"Person","data":{"slug":"x","age":151}}', word="150")

    def test_duplicate_member(self):
        self.check('{"type":"Person","data":{"slug":"x","slug":"y"}}', word="slug")

    def test_missing_key(self):
        self.check('{"type":"Person","data":{"name":"y"}}', word="slug")

    def test_type_without_stream(self):
        self.check('{"type":"City","data":{"slug":"rome"}}', word="City")

    def test_not_utf8(self):
        data = person("good1").encode() + b"\n" + b'{"type":"Person","data":{"slug":"\xff"}}\n' + person("good2").encode() + b"\n"
        out = self.omnigraph_json("ingest", "--stream", "--store", self.graph, stdin=data, code=1)
        self.assertEqual((out["acked"], out["refused"], out["errors"][0]["line"]), (2, 1, 2))

    def test_too_long(self):
        data = person("good1") + "\n" + person("x", name="y" * (17 << 20)) + "\n" + person("good2") + "\n"
        out = self.omnigraph_json("ingest", "--stream", "--store", self.graph, stdin=data, code=1)
        self.assertEqual((out["acked"], out["refused"], out["errors"][0]["line"]), (2, 1, 2))

    def test_stop_on_error_keeps_what_came_before(self):
        out = self.omnigraph_json("ingest", "--stream", "--stop-on-error", "--store", self.graph, code=1,
                                  stdin=person("a") + "\nnope\n" + person("b") + "\n")
        self.assertEqual(out["acked"], 1)

    def test_empty_input_is_nothing_done(self):
        for text in ("", "\n", "\r\n  \n"):
            out = self.omnigraph_json("ingest", "--stream", "--store", self.graph, stdin=text)
            self.assertEqual((out["acked"], out["refused"]), (0, 0))
        self.assertEqual([c["op"] for c in self.omnigraph_json("commit", "list", "--store", self.graph)["commits"]], ["init"])


class BadWorld(Case):
    """One clear sentence, a non-zero code, nothing half-written."""

    def test_store_that_does_not_exist(self):
        self.fails("ingest", "status", "--store", str(self.work / "none"), code=3, says=["none"])

    def test_store_that_is_no_graph(self):
        self.file("a.txt", "hello")
        self.fails("table", "list", "--store", str(self.work), code=3, says=[str(self.work)])

    def test_store_that_is_a_file(self):
        self.fails("table", "list", "--store", self.file("f", "x"), code=2)

    def test_graph_of_a_newer_format(self):
        self.init()
        newest = min((pathlib.Path(self.graph) / "__manifest.lance" / "_versions").glob("*.manifest"))
        data = newest.read_bytes()
        entry = b"\x0a\x10omnigraph.format\x12\x01"
        self.assertIn(entry + b"1", data)
        newest.write_bytes(data.replace(entry + b"1", entry + b"9"))
        self.fails("table", "list", "--store", self.graph, code=2, says=["9", "newer"])

    def test_init_twice(self):
        self.init()
        self.fails("init", self.graph, "--schema", str(self.work / "schema.pg"), code=3, says=["already"])

    def test_schema_error_names_file_line_and_column_and_writes_nothing(self):
        schema = self.file("bad.pg", "node Person {\n  slug: Strng @key\n}\n")
        self.fails("init", self.graph, "--schema", schema, code=2, says=["bad.pg:2:9", "Strng"])
        self.assertFalse(os.path.exists(self.graph) and os.listdir(self.graph))

    def test_missing_files(self):
        self.init()
        self.fails("ingest", "--stream", "nowhere.ndjson", "--store", self.graph, code=3, says=["nowhere.ndjson"])
        self.fails("load", self.graph, "--mode", "append", "--data", "nowhere.ndjson", code=3, says=["nowhere.ndjson"])
        self.fails("query", "--query", "nowhere.gq", "--store", self.graph, code=3, says=["nowhere.gq"])

    def test_plain_ingest_points_at_load(self):
        self.init()
        self.fails("ingest", "--store", self.graph, code=2, says=["--stream", "load"])

    def test_query_error_has_line_and_column(self):
        self.init()
        query = self.file("q.gq", "query q() {\n  match { $p: Persn }\n  return { $p.name }\n}\n")
        self.fails("query", "--query", query, "--store", self.graph, code=2, says=["q.gq:2", "Persn"])

    @unittest.skipUnless(os.geteuid() == 0, "needs root to become another user")
    def test_folder_without_write_permission(self):
        self.init()
        self.stream(person("a"))
        os.chmod(self.work, 0o755)
        subprocess.run(["chmod", "-R", "a+rX,go-w", self.graph], check=True)
        other = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
        done = self.run_omnigraph("ingest", "--stream", "--store", self.graph, stdin=person("b") + "\n", prefix=other)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("permission", done.stderr.decode().lower())
        self.assertEqual([row["id"] for row in self.rows("Person")], ["a"])
        done = self.run_omnigraph("init", "/omnigraph-e2e-not-allowed", "--schema", str(self.work / "schema.pg"), prefix=other)
        self.assertEqual(done.returncode, 2, done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "needs root to mount a small disk")
    def test_full_disk_loses_no_acked_row(self):
        """G1, G2: on a disk that fills up while rows stream, the program says so, and what was acked is there afterwards."""
        rows = self.file("rows.ndjson", "".join(person(f"p{i}", name="x" * 200) + "\n" for i in range(60_000)))
        schema = self.file("schema.pg", "node Person @stream { slug: String @key name: String? }")
        script = f"""
            set -u
            mkdir -p {self.work}/disk && mount -t tmpfs -o size=6m none {self.work}/disk || exit 99
            g={self.work}/disk/g.omni
            {BIN}/omnigraph init $g --schema {schema} >/dev/null || exit 98
            {BIN}/omnigraph ingest --stream {rows} --store $g --json >{self.work}/out.json 2>{self.work}/err; echo $? >{self.work}/code
            mount -o remount,size=400m {self.work}/disk
            {BIN}/omnigraph ingest fold --store $g >/dev/null 2>{self.work}/err2 || exit 97
            {BIN}/omnigraph ingest status --store $g --json >{self.work}/status.json || exit 96
            {BIN}/omnigraph export $g | wc -l >{self.work}/count || exit 95
        """
        done = subprocess.run(["unshare", "--mount", "bash", "-c", script], capture_output=True, timeout=120)
        if done.returncode == 99:
            self.skipTest("no mount namespaces here")
        self.assertEqual(done.returncode, 0, (done.stdout, done.stderr, self.read("err"), self.read("err2")))
        self.assertEqual(self.read("code").strip(), "6", self.read("out.json"))
        out = json.loads(self.read("out.json"))
        status = json.loads(self.read("status.json"))
        acked = out.get("acked", 0)
        self.assertGreaterEqual(status["visible"], acked)
        self.assertLess(acked, 60_000)
        self.assertEqual(status["visible"], int(self.read("count")))
        self.assertEqual(status["pending"], 0)

    def read(self, name):
        path = self.work / name
        return path.read_text() if path.exists() else ""


def waits_for_input(pid):
    """Whether the process's first thread waits within poll()."""
    try:
        return pathlib.Path(f"/proc/{pid}/syscall").read_text().split()[0] in ("7", "271", "73")
    except OSError:
        return False


class Signals(Case):
    def test_ctrl_c_stops_in_order_and_says_what_was_acked(self):
        self.init()
        process = subprocess.Popen([BIN / "omnigraph", "ingest", "--stream", "--store", self.graph, "--json"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for i in range(1000):
            process.stdin.write((person(f"p{i}") + "\n").encode())
        process.stdin.flush()
        # The rows are acked when a status from outside counts them; only then is the stream interrupted.
        while self.status()["acked"] < 1000:
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(json.loads(out)["acked"], 1000)
        self.omnigraph("ingest", "fold", "--store", self.graph)
        self.assertEqual(self.status()["visible"], 1000)

    def interrupt(self, *arguments, when=lambda process: True):
        """Start it, send one Ctrl-C once `when` holds, return the exit code."""
        process = subprocess.Popen([BIN / "omnigraph", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        while not when(process):
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        return process.wait(timeout=30)

    def test_what_has_nothing_to_settle_ends_at_the_first_ctrl_c(self):
        self.init()
        self.stream(*[person(f"p{i}", name="x" * 100) for i in range(2000)])
        # More than a pipe holds, and nobody reads on.
        code = self.interrupt("export", self.graph, when=lambda process: process.stdout.read(1))
        self.assertEqual(code, -signal.SIGINT)

        with socket.create_server(("127.0.0.1", 0)) as silent:
            port = silent.getsockname()[1]
            accepted = []
            code = self.interrupt("ingest", "status", "--server", f"http://127.0.0.1:{port}", "--graph", "g",
                                  when=lambda process: accepted.append(silent.accept()) or True)
            self.assertEqual(code, -signal.SIGINT)
            accepted[0][0].close()

    def test_waiting_for_the_writer_of_a_fifo_can_be_interrupted(self):
        self.init()
        fifo = str(self.work / "rows.fifo")
        os.mkfifo(fifo)
        code = self.interrupt("ingest", "--stream", fifo, "--store", self.graph, when=lambda process: waits_for_input(process.pid))
        self.assertEqual(code, 130)

    def test_after_kill_9_the_next_process_claims_at_once_and_nothing_acked_is_lost(self):
        """G1, G7, S9."""
        self.init()
        with Server(self.graph) as server:
            status, answer = server.ingest([person("a"), person("b"), knows("a", "b")])
            self.assertEqual((status, answer["acked"]), (200, 3))
            server.kill()
        out = self.stream(person("c"), knows("c", "a"))
        self.assertEqual(out["acked"], 2)
        self.assertEqual(sorted(row["id"] for row in self.rows("Person")), ["a", "b", "c"])
        self.assertEqual(len(self.rows("Knows")), 2)

    def test_a_torn_log_names_its_remedy_and_is_repaired_with_consent(self):  # S7
        self.init()
        lines = "".join(person(slug) + "\n" for slug in "ab")
        for line in lines.splitlines():
            self.omnigraph("ingest", "--stream", "--no-fold", "--store", self.graph, stdin=line + "\n")
        logs = list(pathlib.Path(self.graph).glob("nodes/*/_mem_wal/*/wal"))
        self.assertEqual(len(logs), 1)
        # Entries are named by their position, lowest bit first; the last one is the row `b`.
        last = max(logs[0].iterdir(), key=lambda path: path.stem[::-1])
        last.write_bytes(last.read_bytes()[:100])
        self.fails("ingest", "--stream", "--store", self.graph, stdin=person("c"), code=7,
                   says=["stopped early", "omnigraph ingest repair", "position 4"])
        self.assertEqual([row["id"] for row in self.rows("Person")], [])  # reads go on
        repair = ["ingest", "repair", "--type", "Person", "--store", self.graph]
        self.fails(*repair, code=7, says=["may be lost"])
        self.fails("ingest", "repair", "--type", "City", "--store", self.graph, code=3, says=["nothing was streamed"])
        done = self.omnigraph_json(*repair, "--accept-loss")
        self.assertTrue((pathlib.Path(self.graph) / done["copy"]).exists())
        self.fails(*repair, "--accept-loss", code=2, says=["is whole"])
        self.stream(person("c"))
        self.assertEqual(sorted(row["id"] for row in self.rows("Person")), ["a", "c"])


if __name__ == "__main__":
    unittest.main()
