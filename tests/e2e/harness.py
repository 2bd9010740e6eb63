"""What the end-to-end tests share: the built programs, a working folder, a server."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "debian-packages"
BIN = pathlib.Path(os.environ.get("OMNIGRAPH_BIN", ROOT / "build" / "dev" / "bin"))

PEOPLE = """
node Person @stream {
  slug: String @key
  name: String?
  age: I32?
  @range(age, 0..150)
}
node City { slug: String @key }
edge Knows: Person -> Person @stream { since: Date? }
edge LivesIn: Person -> City @card(0..1)
"""


def person(slug, **data):
    return json.dumps({"type": "Person", "data": {"slug": slug, **data}})


def knows(source, target):
    return json.dumps({"edge": "Knows", "from": source, "to": target})


class Server:
    """omnigraph-server on a free port. A context manager; stops it by SIGTERM."""

    def __init__(self, graph, bind="127.0.0.1:0", options=()):
        self.process = subprocess.Popen(
            [BIN / "omnigraph-server", "--graph", f"g={graph}", "--bind", bind, "--unauthenticated", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            _, message = self.process.communicate()
            raise RuntimeError(f"exit {self.process.returncode}: {message}")
        self.address = line.strip().removeprefix("OMNIGRAPH_LISTEN_ADDR=")
        self.url = f"http://{self.address}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self):
        self.process.communicate(timeout=60)
        return self.process.returncode

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def request(self, method, path, body=None, content_type="application/json", headers=None):
        """The status and the body, JSON where it is JSON."""
        if isinstance(body, str):
            body = body.encode()
        request = urllib.request.Request(self.url + path, data=body, method=method,
                                         headers={"Content-Type": content_type, **(headers or {})})
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                status, text = response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read().decode()
        try:
            return status, json.loads(text)
        except ValueError:
            return status, text

    def ingest(self, lines, **parameters):
        query = "&".join(f"{name}={value}" for name, value in parameters.items())
        return self.request("POST", f"/graphs/g/ingest?{query}", "".join(line + "\n" for line in lines), "application/x-ndjson")


class Case(unittest.TestCase):
    """A test with a working folder of its own and the programs at hand."""

    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="omnigraph-e2e-"))
        self.addCleanup(shutil.rmtree, self.work, ignore_errors=True)
        self.graph = str(self.work / "graph.omni")

    def file(self, name, text):
        path = self.work / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return str(path)

    def run_omnigraph(self, *arguments, stdin="", prefix=()):
        return subprocess.run([*prefix, str(BIN / "omnigraph"), *arguments], capture_output=True, timeout=120,
                              input=stdin if isinstance(stdin, bytes) else stdin.encode())

    def omnigraph(self, *arguments, stdin="", code=0):
        """Run it, require the exit code, return standard output."""
        done = self.run_omnigraph(*arguments, stdin=stdin)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout.decode()}{done.stderr.decode()}")
        return done.stdout.decode()

    def omnigraph_json(self, *arguments, stdin="", code=0):
        return json.loads(self.omnigraph(*arguments, "--json", stdin=stdin, code=code))

    def fails(self, *arguments, code, stdin="", says=()):
        """It fails with this exit code and one sentence on stderr that holds all of `says`."""
        done = self.run_omnigraph(*arguments, stdin=stdin)
        message = done.stderr.decode()
        self.assertEqual(done.returncode, code, message + done.stdout.decode())
        for word in says:
            self.assertIn(word, message)
        self.assertEqual(len(message.strip().splitlines()), 1, message)
        return message

    def init(self, schema=PEOPLE):
        self.omnigraph("init", self.graph, "--schema", self.file("schema.pg", schema))

    def stream(self, *lines, code=0, options=()):
        return self.omnigraph_json("ingest", "--stream", *options, "--store", self.graph, code=code,
                                   stdin="".join(line + "\n" for line in lines))

    def rows(self, *types):
        options = [part for name in types for part in ("--type", name)]
        return [json.loads(line) for line in self.omnigraph("export", self.graph, *options).splitlines()]

    def status(self):
        status = self.omnigraph_json("ingest", "status", "--store", self.graph)
        # G2: holds at every moment.
        self.assertEqual(status["acked"], status["visible"] + status["superseded"] + status["rejected"] + status["pending"])
        return status
