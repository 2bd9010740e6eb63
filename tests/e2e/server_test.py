"""The server as its clients meet it: docs/http.md."""
import http.client
import json
import pathlib
import resource
import select
import signal
import socket
import threading
import unittest

from harness import Case, Server, knows, person


class HttpSurface(Case):
    def setUp(self):
        super().setUp()
        self.init()

    def test_rows_stream_fold_and_answer(self):
        with Server(self.graph) as server:
            self.assertEqual(server.request("GET", "/healthz")[1]["status"], "ok")
            self.assertEqual([g["graph_id"] for g in server.request("GET", "/graphs")[1]["graphs"]], ["g"])
            status, out = server.ingest([person("a", age=1), person("b", age=200), person("c"), knows("a", "c"), knows("a", "zzz")])
            self.assertEqual(status, 200)
            self.assertEqual((out["acked"], out["refused"], out["errors"][0]["line"]), (4, 1, 2))
            status, fold = server.request("POST", "/graphs/g/ingest/fold")
            self.assertEqual(status, 200)
            status, state = server.request("GET", "/graphs/g/ingest/status")
            self.assertEqual((state["acked"], state["visible"], state["rejected"], state["pending"]), (4, 3, 1, 0))
            query = {"query": "query q($s: String) { match { $p: Person { slug: $s } $p knows $q } return { $q.slug as slug } }",
                     "params": {"s": "a"}}
            status, answer = server.request("POST", "/graphs/g/query", json.dumps(query))
            self.assertEqual((status, answer["rows"]), (200, [{"slug": "c"}]))
            status, text = server.request("POST", "/graphs/g/query?format=csv", json.dumps(query))
            self.assertEqual(text.split(), ["slug", "c"])
            self.assertEqual(server.stop(), 0)

    def test_a_chunked_body_may_be_cut_anywhere(self):
        with Server(self.graph) as server:
            body = "".join(person(f"p{i}", name="ä" * (i % 7)) + "\n" for i in range(50)).encode()
            for size in (1, 7, 4096):
                connection = http.client.HTTPConnection(server.address, timeout=60)
                connection.request("POST", "/graphs/g/ingest", (body[i:i + size] for i in range(0, len(body), size)),
                                   {"Content-Type": "application/x-ndjson", "Transfer-Encoding": "chunked"}, encode_chunked=True)
                answer = json.loads(connection.getresponse().read())
                connection.close()
                self.assertEqual((answer["acked"], answer["refused"]), (50, 0), size)

    def test_many_clients_share_the_log(self):
        with Server(self.graph) as server:
            results = []

            def client(number):
                for i in range(20):
                    results.append(server.ingest([person(f"c{number}-{i}")])[1]["acked"])

            threads = [threading.Thread(target=client, args=(n,)) for n in range(16)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(sum(results), 320)
            server.request("POST", "/graphs/g/ingest/fold")
            state = server.request("GET", "/graphs/g/ingest/status")[1]
            self.assertEqual((state["visible"], state["pending"]), (320, 0))

    def test_errors_name_the_remedy(self):
        with Server(self.graph) as server:
            for method, path, body, kind, expected in (
                    ("GET", "/nothing", None, "", 404),
                    ("GET", "/graphs/g/ingest", None, "", 400),
                    ("POST", "/graphs/other/ingest/fold", "", "", 404),
                    ("POST", "/graphs/g/ingest", '{"data":"x"}', "application/json", 400),
                    ("POST", "/graphs/g/ingest?on_eror=stop", person("a"), "application/x-ndjson", 400),
                    ("POST", "/graphs/g/query", "nope", "application/json", 400),
                    ("POST", "/graphs/g/query", '{"query":"query q() { match { $p: Nope } return { $p } }"}', "application/json", 400)):
                status, answer = server.request(method, path, body, kind)
                self.assertEqual(status, expected, (path, answer))
                self.assertTrue(answer["error"] and answer["code"], answer)
            status, answer = server.request("POST", "/graphs/g/ingest", "x", "application/x-ndjson", {"Content-Encoding": "gzip"})
            self.assertEqual(status, 501)

    def test_empty_bodies_are_answered_with_zeros(self):
        with Server(self.graph) as server:
            for body in ("", "\n", "\r\n \n"):
                status, out = server.request("POST", "/graphs/g/ingest", body, "application/x-ndjson")
                self.assertEqual((status, out["acked"], out["refused"]), (200, 0, 0))

    def test_the_program_works_on_a_server(self):
        with Server(self.graph) as server:
            out = self.omnigraph_json("ingest", "--stream", "--server", server.url, stdin=person("a") + "\n" + person("b") + "\nbad\n", code=1)
            self.assertEqual((out["acked"], out["refused"], out["pending"]), (2, 1, 0))
            self.assertIn("acked 2 = visible 2", self.omnigraph("ingest", "status", "--server", server.url))
            self.assertIn("Nothing was pending", self.omnigraph("ingest", "fold", "--server", server.url))
            answer = self.omnigraph_json("query", "-e", "query q() { match { $p: Person } return { count($p) as n } }", "--server", server.url)
            self.assertEqual(answer["rows"], [{"n": 2}])
            self.fails("query", "-e", "query q() {", "--server", server.url, code=2)
            self.fails("export", "--server", server.url, code=2, says=["--store"])
        self.fails("ingest", "status", "--server", server.url, code=6, says=[server.address])

    def test_a_program_beside_a_server_is_told_the_owners_address(self):
        """S9: the server owns the shards; a second process is refused, reads and folds."""
        with Server(self.graph) as server:
            server.ingest([person("a")])
            done = self.run_omnigraph("ingest", "--stream", "--store", self.graph, stdin=person("b") + "\n")
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertIn(server.address, done.stderr.decode())
            self.omnigraph("ingest", "fold", "--store", self.graph)
            self.assertEqual(self.status()["visible"], 1)
            self.assertEqual(server.ingest([person("c")])[1]["acked"], 1)
        self.assertEqual(self.stream(person("d"))["acked"], 1)  # a clean stop gave the shards back
        self.assertEqual(self.status()["visible"], 3)

    def test_a_last_line_that_cannot_be_taken_is_answered_once(self):
        """What `curl -d` sends has no LF at its end: its last line comes to the log with the end."""
        with Server(self.graph) as owner, Server(self.graph) as server:
            owner.ingest([person("a")])
            status, answer = server.request("POST", "/graphs/g/ingest", person("b"), "application/x-ndjson")
            self.assertEqual((status, answer["code"]), (503, "ingest.not_owner"))
            self.assertIn(owner.address, answer["error"])
            self.assertEqual((answer["retry"], answer["summary"]["acked"], answer["summary"]["failed"]), ("same_request", 0, 1))
            self.assertEqual(server.request("GET", "/healthz")[0], 200)

    def open_stream(self, server, parameters="", size=1_000_000):
        return self.send(server, f"POST /graphs/g/ingest?{parameters}", "",
                         {"Content-Type": "application/x-ndjson", "Content-Length": size})

    def wait_for(self, server, **counts):
        while any(server.request("GET", "/graphs/g/ingest/status")[1][name] < count for name, count in counts.items()):
            self.assertIsNone(server.process.poll())

    def test_a_stream_stops_at_its_first_bad_line_wherever_chunks_end(self):
        lines = (person("a") + "\nnope\n" + person("b") + "\n").encode()
        with Server(self.graph) as server:
            for size in (1, len(lines) - 3, len(lines)):
                connection = http.client.HTTPConnection(server.address, timeout=60)
                connection.request("POST", "/graphs/g/ingest?on_error=stop", (lines[i:i + size] for i in range(0, len(lines), size)),
                                   {"Content-Type": "application/x-ndjson", "Transfer-Encoding": "chunked"}, encode_chunked=True)
                response = connection.getresponse()
                answer = json.loads(response.read())
                connection.close()
                self.assertEqual((response.status, answer["acked"], answer["refused"], answer["errors"][0]["line"]), (200, 1, 1, 2), size)
            # It does not wait for the rest of the body.
            stream = self.open_stream(server, "on_error=stop")
            stream.sendall(lines[:-1])
            self.assertEqual(self.answer_of(stream)[1]["acked"], 1)
            out = self.omnigraph_json("ingest", "--stream", "--stop-on-error", "--server", server.url, code=1, stdin=lines)
            self.assertEqual((out["acked"], out["refused"]), (1, 1))
            self.assertNotIn("ended_by", out)

    def test_a_summary_accounts_for_every_acked_row(self):
        with Server(self.graph) as server:
            rest = person("a", age=2) + "\n" + person("b") + "\n" + knows("a", "zzz") + "\n"
            first = person("a", age=1) + "\n" + person("c") + "\n"
            stream = self.open_stream(server, "fold=true", len(first + rest))
            stream.sendall(first.encode())
            self.wait_for(server, visible=2)  # a fold in the background took them
            stream.sendall(rest.encode())
            status, out = self.answer_of(stream)
            self.assertEqual((status, out["acked"], out["visible"], out["superseded"], out["pending"]), (200, 5, 4, 0, 0))
            self.assertEqual(out["rejected_by_code"], {"edge.endpoint_missing": 1})
            self.assertEqual((out["folds"], len(out["commit_ids"])), (2, 2))

    def test_a_summary_claims_no_rows_of_others(self):
        with Server(self.graph) as server:
            line = person("a") + "\n"
            stream = self.open_stream(server, "fold=true", 2 * len(line))
            stream.sendall(line.encode())
            self.wait_for(server, acked=1)
            server.ingest([person("b"), person("c")])
            stream.sendall(line.encode())
            status, out = self.answer_of(stream)
            self.assertEqual((status, out["acked"], out["pending"]), (200, 2, 0))
            for name in ("visible", "superseded", "rejected_by_code"):
                self.assertNotIn(name, out)

    def test_acked_rows_are_not_asked_for_again(self):
        """G3: an end that comes early says what was acked, and never `send the same again`."""
        with Server(self.graph) as owner, Server(self.graph) as server:
            owner.ingest([person("a")])  # owns Person; Knows goes to whoever comes first
            stream = self.open_stream(server)
            stream.sendall((knows("a", "a") + "\n").encode())
            self.wait_for(server, acked=2)
            stream.sendall((person("b") + "\n").encode())
            response = http.client.HTTPResponse(stream)
            response.begin()
            answer = json.loads(response.read())
            stream.close()
            self.assertEqual((response.status, answer["code"], answer["retry"]), (503, "ingest.not_owner", "never"))
            self.assertIsNone(response.getheader("Retry-After"))
            self.assertEqual((answer["summary"]["acked"], answer["summary"]["failed"]), (1, 1))
            done = self.run_omnigraph("ingest", "--stream", "--server", server.url, "--json", stdin=person("b") + "\n")
            self.assertEqual(done.returncode, 5, done.stderr)
            out = json.loads(done.stdout)
            self.assertEqual((out["acked"], out["failed"], out["ended_by"]["code"]), (0, 1, "ingest.not_owner"))
            self.assertIn(owner.address, done.stderr.decode())

    def test_a_fold_that_fails_does_not_fail_the_rows(self):
        with Server(self.graph) as server:
            server.ingest([person("a")], fold="true")
            versions = pathlib.Path(self.graph) / "__manifest.lance" / "_versions"
            versions.rename(versions.with_name("aside"))
            versions.write_text("")  # no commit gets through
            status, out = server.ingest([person("b")], fold="true")
            self.assertEqual((status, out["acked"], out["pending"]), (200, 1, 1))
            self.assertTrue(out["fold_error"]["error"] and out["fold_error"]["code"], out)
            done = self.run_omnigraph("ingest", "--stream", "--server", server.url, "--json", stdin=person("c") + "\n")
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(json.loads(done.stdout)["acked"], 1)
            self.assertIn("stopped early", done.stderr.decode())
            versions.unlink()
            versions.with_name("aside").rename(versions)

    def test_slow_queries_hold_up_nobody_else(self):
        with Server(self.graph, options=("--queries", "2")) as server:
            server.ingest([person(f"p{i}", age=i % 100) for i in range(4000)], fold="true")
            busy = [self.slow_query(server) for _ in range(2 + 16 + 6)]  # those that run, those that wait, and too many
            # Requests on connections of their own are served while queries are under way.
            self.assertEqual(server.request("GET", "/healthz")[0], 200)
            self.assertEqual(server.request("GET", "/graphs/g/ingest/status")[1]["visible"], 4000)
            self.assertEqual(server.ingest([person("x")])[1]["acked"], 1)
            self.assertLess(len(select.select(busy, [], [], 0)[0]), len(busy))
            # A stop lets those that run end, and answers those that wait.
            self.assertEqual(server.stop(), 0)
            answers = [self.answer_of(client) for client in busy]
            self.assertEqual({(status, body.get("code"), body.get("retry")) for status, body in answers},
                             {(200, None, None), (429, "server.busy", "same_request"), (503, "server.stopping", "same_request")})

    SLOW = json.dumps({"query": "query q() { match { $a: Person $b: Person $a.age < $b.age } return { count($a) as n } }"})

    def slow_query(self, server):
        return self.send(server, "POST /graphs/g/query", self.SLOW, {"Content-Length": len(self.SLOW)})

    def send(self, server, target, body, headers):
        """A connection on which this much of a request was sent."""
        host, port = server.address.rsplit(":", 1)
        client = socket.create_connection((host, port))
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        client.sendall(f"{target} HTTP/1.1\r\nHost: x\r\n{head}\r\n{body}".encode())
        return client

    def answer_of(self, client):
        """The status and the JSON body; the connection is closed afterwards."""
        with client:
            response = http.client.HTTPResponse(client)
            response.begin()
            return response.status, json.loads(response.read())

    def test_an_early_answer_reaches_a_client_that_still_sends(self):
        with Server(self.graph) as server:
            for path, kind, expected in (("/nothing", "application/x-ndjson", 404), ("/graphs/g/ingest", "text/csv", 400)):
                with socket.create_connection(server.address.rsplit(":", 1)) as client:
                    body = (person("a") + "\n") * 200_000
                    client.sendall((f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\n"
                                    f"Content-Length: {len(body)}\r\n\r\n{body}").encode())
                    answer = b""
                    while part := client.recv(65536):
                        answer += part
                    self.assertIn(f"HTTP/1.1 {expected}".encode(), answer)

    def test_a_port_in_use(self):
        with Server(self.graph) as server:
            other = self.work / "other.omni"
            self.omnigraph("init", str(other), "--schema", str(self.work / "schema.pg"))
            with self.assertRaises(RuntimeError) as caught:
                Server(other, bind=server.address)
            self.assertIn("exit 6", str(caught.exception))
            self.assertIn("in use", str(caught.exception))

    def test_addresses_are_told_as_others_can_use_them(self):
        host = socket.gethostname()
        for bind, options, listens, told in (
                ("0.0.0.0:0", (), "0.0.0.0:", f"http://{host}:"),
                ("0.0.0.0:0", ("--advertise", "http://db.example:80"), "0.0.0.0:", "http://db.example:80"),
                ("[::1]:0", (), "[::1]:", "http://[::1]:")):
            if "::" in bind and not self.has_ipv6():
                continue
            with Server(self.graph, bind=bind, options=options) as server:
                self.assertTrue(server.address.startswith(listens), server.address)
                server.ingest([person("a")])
                shards = server.request("GET", "/graphs/g/ingest/status")[1]["shards"]
                addresses = [shard["address"] for shard in shards if shard["type"] == "Person"]
                self.assertTrue(addresses[0].startswith(told), addresses)
                done = self.run_omnigraph("ingest", "--stream", "--store", self.graph, stdin=person("b") + "\n")
                self.assertIn(told, done.stderr.decode())
                self.assertIn("acked", self.omnigraph("ingest", "status", "--server", server.url))
        for bind, options in (("::1:8080", ()), ("[::1]", ()), ("127.0.0.1:0", ("--advertise", "db.example"))):
            with self.assertRaises(RuntimeError) as caught:
                Server(self.graph, bind=bind, options=options)
            self.assertIn("exit 2", str(caught.exception))

    def has_ipv6(self):
        try:
            with socket.socket(socket.AF_INET6) as probe:
                probe.bind(("::1", 0))
            return True
        except OSError:
            return False

    def test_a_stop_settles_a_stream_in_flight(self):
        with Server(self.graph) as server:
            stream = self.open_stream(server)
            stream.sendall((person("a") + "\n" + person("b")).encode())
            gone = self.open_stream(server)
            gone.sendall((person("c") + "\n").encode())
            half = self.send(server, "POST /graphs/g/query", "{", {"Content-Length": 100})
            self.wait_for(server, acked=2)
            gone.close()
            server.process.send_signal(signal.SIGTERM)
            # The client keeps its side open, waits for more, and is told; its unfinished line is taken.
            status, answer = self.answer_of(stream)
            self.assertEqual((status, answer["code"], answer["retry"]), (503, "server.stopping", "never"))
            self.assertEqual((answer["summary"]["acked"], answer["summary"]["refused"]), (2, 0))
            self.assertEqual(self.answer_of(half)[0], 503)
            self.assertEqual(server.wait(), 0)
        self.omnigraph("ingest", "fold", "--store", self.graph)
        self.assertEqual(sorted(row["id"] for row in self.rows("Person")), ["a", "b", "c"])

    def test_connections_are_bounded(self):
        with Server(self.graph, options=("--connections", "2")) as server:
            streams = [self.open_stream(server, size=len(person(name)) + 1) for name in ("a", "b")]
            status, answer = server.request("GET", "/healthz")
            self.assertEqual((status, answer["code"], answer["retry"]), (503, "server.too_many_connections", "same_request"))
            for stream, name in zip(streams, ("a", "b")):
                stream.sendall((person(name) + "\n").encode())
                self.assertEqual(self.answer_of(stream)[1]["acked"], 1)
            while server.request("GET", "/healthz")[0] != 200:  # they are gone once the server has seen them close
                self.assertIsNone(server.process.poll())

    def test_idle_connections_cost_little_and_wait_for_descriptors(self):
        with Server(self.graph) as server:
            address = server.address.rsplit(":", 1)
            self.assertEqual(server.request("GET", "/healthz")[0], 200)
            before = self.resident(server)
            idle = [socket.create_connection(address) for _ in range(300)]
            self.assertEqual(server.request("GET", "/healthz")[0], 200)
            self.assertLess(self.resident(server) - before, 64 << 20)
            limit = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
            open_now = len(list(pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir()))
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (open_now, limit[1]))
            late = socket.create_connection(address)  # in the kernel's queue: the server cannot take it
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, limit)
            late.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertEqual(self.answer_of(late)[0], 200)
            for client in idle:
                client.close()

    def resident(self, server):
        """Bytes of the server's memory that are in use."""
        return int(pathlib.Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]) * resource.getpagesize()

    def test_a_quiet_stream_ends_with_its_summary(self):
        with Server(self.graph, options=("--stream-idle", "1")) as server:
            stream = self.open_stream(server)
            stream.sendall((person("a") + "\n").encode())
            status, answer = self.answer_of(stream)
            self.assertEqual((status, answer["code"], answer["retry"], answer["summary"]["acked"]), (504, "http.idle", "never", 1))


if __name__ == "__main__":
    unittest.main()
