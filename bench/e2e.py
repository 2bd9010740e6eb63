#!/usr/bin/env python3
"""Group e2e: the demo's rows streamed, folded, loaded and asked, by the built program.

    bench/e2e.py --bin build/release/bin --work build/bench

Prints `figure e2e.<name> <number>` lines. Each figure is the median of --repeat runs; stream and load take turns, so that
their ratio holds on a machine whose speed drifts. Peak memory is the program's own maximum resident size.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "debian-packages"
QUESTIONS = {"needs": '{"name":"curl"}', "most_depended_upon": "{}", "recommenders": '{"name":"git"}'}


def timed(command, **options):
    """Runs a program; its standard output, wall seconds and peak resident MiB."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, **options)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command}: exit {process.returncode}")
    return output, seconds, usage.ru_maxrss / 1024


def figure(name, value):
    print(f"figure e2e.{name} {value:.4g}" if value < 10 else f"figure e2e.{name} {value:.0f}", flush=True)


class Bench:
    def __init__(self, arguments):
        self.omnigraph = str(pathlib.Path(arguments.bin) / "omnigraph")
        self.server = str(pathlib.Path(arguments.bin) / "omnigraph-server")
        self.work = pathlib.Path(arguments.work)
        self.repeat = arguments.repeat
        self.rows = self.work / "rows.ndjson"
        self.graph = str(self.work / "e2e.omni")

    def make_rows(self):
        if not self.rows.exists():
            with open(self.rows, "wb") as out:
                catalogue = subprocess.Popen(["apt-cache", "dumpavail"], stdout=subprocess.PIPE)
                subprocess.run([EXAMPLE / "catalogue_to_ndjson"], stdin=catalogue.stdout, stdout=out, check=True)
        return sum(1 for _ in open(self.rows, "rb"))

    def make_larger(self, times):
        """The rows `times` over, each copy with names of its own."""
        larger = self.work / f"rows-x{times}.ndjson"
        if not larger.exists():
            with open(larger, "w") as out:
                for copy in range(times):
                    for line in open(self.rows):
                        row = json.loads(line)
                        if "type" in row:
                            row["data"]["name"] += f"~{copy}"
                        else:
                            row["from"] += f"~{copy}"
                            row["to"] += f"~{copy}"
                        out.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
        return larger

    def fresh_graph(self):
        shutil.rmtree(self.graph, ignore_errors=True)
        subprocess.run([self.omnigraph, "init", self.graph, "--schema", EXAMPLE / "packages.pg"], check=True, stdout=subprocess.DEVNULL)

    def stream(self, rows):
        self.fresh_graph()
        output, seconds, peak = timed([self.omnigraph, "ingest", "--stream", rows, "--store", self.graph, "--json"])
        return json.loads(output), seconds, peak

    def load(self, rows):
        self.fresh_graph()
        output, seconds, peak = timed([self.omnigraph, "load", self.graph, "--mode", "append", "--data", rows, "--json"])
        return json.loads(output), seconds, peak

    def loadable_rows(self):
        """A load refuses a dangling edge and with it everything; so both ways get the rows without them."""
        valid = self.work / "rows-valid.ndjson"
        if not valid.exists():
            names = {json.loads(line)["data"]["name"] for line in open(self.rows) if line.startswith('{"type":"Package"')}
            with open(valid, "w") as out:
                for line in open(self.rows):
                    row = json.loads(line)
                    if row.get("edge") not in ("DependsOn", "Recommends") or row["to"] in names:
                        out.write(line)
        return valid

    def ingest_figures(self):
        valid = self.loadable_rows()
        count = sum(1 for _ in open(valid, "rb"))
        streams, loads, folds, peaks, acks50, acks99 = [], [], [], [], [], []
        for _ in range(self.repeat):
            out, seconds, peak = self.stream(valid)
            streams.append(count / seconds)
            folds.append(count / out["fold_s"] if out["fold_s"] else 0)
            acks50.append(out["ack_ms"]["p50"])
            acks99.append(out["ack_ms"]["p99"])
            peaks.append(peak)
            out, seconds, peak = self.load(valid)
            loads.append(count / seconds)
            peaks.append(peak)
        figure("rows", count)
        figure("stream.rows_per_s", statistics.median(streams))
        figure("load.rows_per_s", statistics.median(loads))
        figure("stream_over_load", statistics.median(s / l for s, l in zip(streams, loads)))
        figure("fold.rows_per_s", statistics.median(folds))
        figure("stream.ack_p50_ms", statistics.median(acks50))
        figure("stream.ack_p99_ms", statistics.median(acks99))
        figure("peak_mib", max(peaks))

    def memory_figures(self, times):
        larger = self.make_larger(times)
        _, seconds, peak = self.stream(larger)
        figure(f"x{times}.stream.peak_mib", peak)
        figure(f"x{times}.stream.rows_per_s", sum(1 for _ in open(larger, "rb")) / seconds)

    def query_figures(self):
        self.stream(self.rows)
        process = subprocess.Popen([self.server, "--graph", f"g={self.graph}", "--bind", "127.0.0.1:0", "--unauthenticated"],
                                   stdout=subprocess.PIPE, text=True)
        address = process.stdout.readline().strip().split("=")[1]
        text = (EXAMPLE / "questions.gq").read_text()
        for name, params in QUESTIONS.items():
            cold = [timed([self.omnigraph, "query", name, "--query", EXAMPLE / "questions.gq", "--params", params, "--store", self.graph])[1]
                    for _ in range(2 * self.repeat + 1)]
            figure(f"query.{name}.ms", statistics.median(cold) * 1000)
            body = json.dumps({"query": text, "name": name, "params": json.loads(params)}).encode()
            warm = []
            for _ in range(10 * self.repeat):
                request = urllib.request.Request(f"http://{address}/graphs/g/query", data=body, headers={"Content-Type": "application/json"})
                started = time.perf_counter()
                urllib.request.urlopen(request).read()
                warm.append(time.perf_counter() - started)
            figure(f"query.{name}.warm_ms", statistics.median(warm) * 1000)
        process.terminate()
        process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--work", default="build/bench")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--larger", type=int, default=5, help="how many times over the rows are streamed for the memory figure; 0: not")
    arguments = parser.parse_args()
    pathlib.Path(arguments.work).mkdir(parents=True, exist_ok=True)
    bench = Bench(arguments)
    bench.make_rows()
    bench.ingest_figures()
    if arguments.larger:
        bench.memory_figures(arguments.larger)
    bench.query_figures()


if __name__ == "__main__":
    main()
