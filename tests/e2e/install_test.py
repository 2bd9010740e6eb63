"""`make install`: a tree that can be moved and needs no Python and no environment variable."""
import os
import pathlib
import shutil
import subprocess
import unittest

from harness import EXAMPLE, Case

BUILD = pathlib.Path(os.environ["OMNIGRAPH_BIN"]).parent


class Install(Case):
    def test_an_installed_tree_works_after_it_was_moved(self):
        first, second = self.work / "first", self.work / "moved" / "tree"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", first], check=True, capture_output=True)
        second.parent.mkdir()
        shutil.move(first, second)
        program = str(second / "bin" / "omnigraph")
        loaded = subprocess.run(["ldd", program], capture_output=True, text=True, check=True, env={}).stdout
        arrow = [line for line in loaded.splitlines() if "libarrow" in line]
        self.assertEqual(len(arrow), 3)
        for line in arrow:
            # An Arrow that the system has installed stays where it is.
            self.assertTrue(str(second) in os.path.realpath(line.split("=>")[1].split()[0]) or "=> /usr/lib" in line, line)
        self.assertNotIn("not found", loaded)
        for arguments in (["init", self.graph, "--schema", str(EXAMPLE / "packages.pg")],
                          ["ingest", "--stream", str(EXAMPLE / "sample.ndjson"), "--store", self.graph],
                          ["query", "needs", "--query", str(EXAMPLE / "questions.gq"), "--params", '{"name":"curl"}', "--store", self.graph]):
            done = subprocess.run([program, *arguments], capture_output=True, text=True, env={}, cwd="/")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("libcurl4", done.stdout)


if __name__ == "__main__":
    unittest.main()
