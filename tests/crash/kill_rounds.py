#!/usr/bin/env python3
"""Kill -9 rounds: a server is killed at random moments while clients stream rows and folds run.

    kill_rounds.py --omnigraph build/release/bin/omnigraph --rounds 200 [--seed N] [--rows FILE] [--keep]

Guarantees checked after every kill, on the graph opened again (docs/ingest.md): G1 an acked row survives; G2 it has exactly
one end and acked = visible + superseded + rejected + pending; G3 a request without an answer is in the graph whole rows at
most once; G6 an acked row is applied once; G7 the restart on the same host claims at once.

The oracle notes each request before it is sent and settles it by its answer. Edges carry no id, so each that is sent is a row
of its own: a doubled or a lost one shows in the counts. A failing round prints the command that repeats it.
"""
import argparse
import collections
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "debian-packages"
CLIENTS = 4
ROUNDS_PER_GRAPH = 10


class Failure(Exception):
    pass


class Oracle:
    """What must hold of the graph: for each row the number of times that it may stand there, at least and at most.

    A keyed node stands once however often it was acked; an edge stands as often as it was acked.
    """

    def __init__(self):
        self.lock = threading.Lock()
        self.acked = collections.Counter()
        self.unknown = collections.Counter()
        self.acked_rows = 0
        self.unknown_rows = 0

    def loaded(self, keys):
        """Rows that stand in the graph before anything streams."""
        self.acked.update(keys)

    def settle(self, keys, outcome):
        with self.lock:
            if outcome == "acked":
                self.acked.update(keys)
                self.acked_rows += len(keys)
            elif outcome == "unknown":
                self.unknown.update(keys)
                self.unknown_rows += len(keys)

    def check(self, found, end):
        """`found` counts rows by key over visible and rejected; `end` is the status after the last fold."""
        for key in self.acked.keys() | self.unknown.keys() | found.keys():
            acked, unknown, have = self.acked[key], self.unknown[key], found[key]
            if key[0] == "node":
                least, most = min(acked, 1), min(acked + unknown, 1)
            else:
                least, most = acked, acked + unknown
            if not least <= have <= most:
                raise Failure(f"{key}: acked {acked}, unknown {unknown}, but it stands {have} times")
        total = end["visible"] + end["superseded"] + end["rejected"] + end["pending"]
        if end["acked"] != total:
            raise Failure(f"acked {end['acked']} is not visible + superseded + rejected + pending = {total}")
        if end["pending"] != 0:
            raise Failure(f"{end['pending']} rows are pending after a fold of everything")
        if not self.acked_rows <= end["acked"] <= self.acked_rows + self.unknown_rows:
            raise Failure(f"clients counted {self.acked_rows} acked and {self.unknown_rows} unknown rows, the graph {end['acked']}")


def key_of(row):
    if "type" in row:
        return ("node", row["type"], row["data"]["name"])
    return ("edge", row["edge"], row["from"], row["to"])


class Rounds:
    def __init__(self, arguments):
        self.omnigraph = pathlib.Path(arguments.omnigraph).resolve()
        self.server_program = self.omnigraph.with_name("omnigraph-server")
        self.arguments = arguments
        self.lines = [line for line in open(arguments.rows, "rb") if line.strip()]
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="omnigraph-crash-"))
        self.server = None
        self.totals = collections.Counter()

    # The programs.

    def run(self, *command):
        result = subprocess.run([str(self.omnigraph), *command], capture_output=True, text=True)
        if result.returncode != 0:
            raise Failure(f"{' '.join(command)}: exit {result.returncode}: {result.stdout}{result.stderr}")
        return result.stdout

    def run_json(self, *command):
        return json.loads(self.run(*command, "--json"))

    def start_server(self):
        self.server = subprocess.Popen(
            [str(self.server_program), "--graph", f"g={self.graph}", "--bind", "127.0.0.1:0", "--unauthenticated"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.server.stdout.readline()
        if not line.startswith("OMNIGRAPH_LISTEN_ADDR="):
            self.server.wait()
            raise Failure(f"the server did not start: exit {self.server.returncode}: {self.server.stderr.read()}")
        return line.strip().split("=")[1]

    def kill_server(self):
        self.server.send_signal(signal.SIGKILL)
        self.server.communicate()
        self.server = None

    def load_nodes(self, oracle):
        """All nodes first, so that most edges of a random window find their endpoints; the nodes stream all the same."""
        nodes = [line for line in self.lines if line.startswith(b'{"type"')]
        data = self.work / "nodes.ndjson"
        data.write_bytes(b"".join(nodes))
        self.run("load", self.graph, "--mode", "append", "--data", str(data))
        oracle.loaded(key_of(json.loads(line)) for line in nodes)

    # One client: requests of random size until the server dies or the round ends.

    def client(self, address, seed, stop, oracle):
        chance = random.Random(seed)
        connection = None
        while not stop.is_set():
            count = chance.choice([1, 1, 5, 50, 400])
            at = chance.randrange(max(1, len(self.lines) - count))
            chosen = self.lines[at:at + count]
            keys = [key_of(json.loads(line)) for line in chosen]
            outcome = "unknown"
            try:
                if connection is None:
                    connection = http.client.HTTPConnection(address, timeout=60)
                    connection.connect()
                connection.request("POST", "/graphs/g/ingest", b"".join(chosen), {"Content-Type": "application/x-ndjson"})
                response = connection.getresponse()
                answer = json.loads(response.read())
                if response.status == 200 and answer["acked"] == len(keys):
                    outcome = "acked"
                elif response.status == 200:
                    raise Failure(f"a request of good rows was answered {answer}")
            except ConnectionRefusedError:
                return
            except (OSError, http.client.HTTPException, ValueError):
                connection = None
            oracle.settle(keys, outcome)
            self.totals[outcome] += len(keys)

    # One round.

    def round(self, chance, oracle):
        address = self.start_server()
        stop = threading.Event()
        clients = [threading.Thread(target=self.client, args=(address, chance.random(), stop, oracle)) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        time.sleep(chance.choice([0.002, 0.02, 0.1, 0.3]) * chance.random() + chance.choice([0, 0, 0.9]))
        self.kill_server()
        stop.set()
        for client in clients:
            client.join()

    def check(self, oracle):
        self.run("ingest", "fold", "--store", self.graph)
        end = self.run_json("ingest", "status", "--store", self.graph)
        found = collections.Counter(key_of(json.loads(line)) for line in self.run("export", self.graph).splitlines())
        rejects = self.run_json("ingest", "rejects", "list", "--limit", "100000000", "--store", self.graph)["rejects"]
        found.update(key_of(json.loads(reject["row"])) for reject in rejects)
        oracle.check(found, end)

    def run_all(self):
        oracle = None
        for number in range(self.arguments.rounds):
            chance = random.Random(f"{self.arguments.seed}-{number}")
            if number % ROUNDS_PER_GRAPH == 0:
                if number:
                    shutil.rmtree(self.graph)
                self.graph = str(self.work / f"graph-{number}.omni")
                self.run("init", self.graph, "--schema", str(EXAMPLE / "packages.pg"))
                oracle = Oracle()
                self.load_nodes(oracle)
            try:
                self.round(chance, oracle)
                self.check(oracle)
            except Failure as failure:
                if self.server is not None:
                    self.kill_server()
                print(f"round {number} failed: {failure}\nthe graph is kept: {self.graph}\nrepeat: {sys.argv[0]} "
                      f"--omnigraph {self.arguments.omnigraph} --seed {self.arguments.seed} --rounds {number + 1}", file=sys.stderr)
                return 1
            if sys.stderr.isatty():
                print(f"\rround {number + 1} of {self.arguments.rounds}", end="", file=sys.stderr)
        if not self.arguments.keep:
            shutil.rmtree(self.work)
        print(f"{self.arguments.rounds} kill rounds, seed {self.arguments.seed}: {self.totals['acked']} rows acked, "
              f"{self.totals['unknown']} without an answer; no row lost, none doubled")
        return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--omnigraph", required=True, help="the program; omnigraph-server stands beside it")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    parser.add_argument("--rows", default=str(EXAMPLE / "sample.ndjson"))
    parser.add_argument("--keep", action="store_true", help="keep the graphs")
    sys.exit(Rounds(parser.parse_args()).run_all())


if __name__ == "__main__":
    main()
