"""The rules of tools/check_rules, each with what it must find and what it must leave alone."""

import importlib.machinery
import importlib.util
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
loader = importlib.machinery.SourceFileLoader("check_rules", os.path.join(ROOT, "tools", "check_rules"))
check_rules = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_rules", loader))
loader.exec_module(check_rules)

LAYERS = """# Architecture

| folder | what lives there | sees |
|---|---|---|
| `base` | values | Arrow core |
| `runtime` | the machine | base |
| `store` | objects | runtime |
| `graph/schema` | catalog | base |
| `graph/write` | rows | store, graph/schema |
| `query` | questions | graph |
| `server` | sessions | query |
| `cli` | the program | everything; the server by HTTP |
"""


def check(files):
    """What the checker finds in a tree of `files` (path -> text), with the parts that every tree needs."""
    tree = {"docs/architecture.md": LAYERS}
    for path in files:
        if path.startswith("src/"):
            folder = os.path.dirname(path).split("/include")[0]
            tree[folder + "/README.md"] = "# folder\n"
            tree.setdefault(folder + "/CMakeLists.txt", "og_layer(x SRCS a.cc b.cc local_disk.cc)\n")
    tree.update(files)
    with tempfile.TemporaryDirectory() as root:
        for path, text in tree.items():
            if text is None:
                continue
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        return check_rules.Checker(root).run()


class CheckRulesTest(unittest.TestCase):
    def finds(self, files, *expected):
        found = check(files)
        self.assertEqual(len(found), len(expected), found)
        for line, part in zip(found, sorted(expected)):
            self.assertTrue(line.startswith(part), f"{line!r} does not start with {part!r}")

    def test_bans_name_the_replacement(self):
        bad = {
            "#include <mutex>": "runtime::Mutex",
            "std::thread t;": "runtime::Thread",
            "std::promise<int> p;": "runtime::Promise",
            "std::condition_variable c;": "CondVar",
            "std::this_thread::sleep_for(x);": "runtime::SleepFor",
            "usleep(5);": "runtime::SleepFor",
            "auto t = std::chrono::steady_clock::now();": "runtime::MonotonicNow",
            "auto t = time(nullptr);": "runtime::WallNow",
            "int r = rand();": "runtime::RandomU64",
            "std::random_device d;": "runtime::RandomU64",
            'getenv("A");': "runtime::EnvironmentVariable",
            "getpid();": "runtime::CurrentProcess",
            "std::ifstream in;": "store::ObjectStore",
            "namespace fs = std::filesystem;": "store::ObjectStore",
            "int fd = ::open(path, 0);": "store::ObjectStore",
            "options.use_threads = true;": "use_threads = false",
            "r.ValueOrDie();": "OG_ASSIGN_OR_RETURN",
            "co_return 1;": "blocking code",
            "std::format(x);": "fmt",
        }
        for line, instead in bad.items():
            found = check({"src/query/a.cc": f"int x;\n{line}\n"})
            self.assertEqual(len(found), 1, (line, found))
            self.assertTrue(found[0].startswith("src/query/a.cc:2: [ban]"), found)
            self.assertIn(instead, found[0])

    def test_bans_know_their_folders(self):
        self.finds({"src/runtime/a.cc": "std::mutex m; getenv(x); std::thread t; ::open(p, 0);\n"})
        self.finds({"src/store/local_disk.cc": "int fd = ::open(p, 0);\n"})
        self.finds({"src/store/a.cc": "int fd = ::open(p, 0);\n"}, "src/store/a.cc:1: [ban]")
        self.finds({"src/runtime/a.cc": "co_await x;\n"}, "src/runtime/a.cc:1: [ban]")

    def test_bans_skip_comments_literals_and_namesakes(self):
        self.finds({"src/query/a.cc": """// std::thread is banned
/* std::mutex
   std::async */
const char* text = "std::thread \\" rand()";
auto raw = R"(std::mutex)";
if (store.open() && file->open(x) && runtime::SleepFor(d)) { operand(); lifetime(0); }
"""})

    def test_an_allowed_line_gives_its_reason(self):
        self.finds({"src/query/a.cc": "// rule-allow(ban): a reason\nstd::mutex m;\n"})
        self.finds({"src/query/a.cc": "// rule-allow(ban):\nstd::mutex m;\n"}, "src/query/a.cc:2: [ban]")
        self.finds({"src/query/a.cc": "// rule-allow(order): a reason\nstd::mutex m;\n"}, "src/query/a.cc:2: [ban]")

    def test_tests_never_sleep(self):
        cmake = {"tests/query/CMakeLists.txt": "og_test(q SRCS a_test.cc)\n"}
        self.finds({**cmake, "tests/query/a_test.cc": "std::this_thread::sleep_for(x);\n"}, "tests/query/a_test.cc:1: [ban]")

    def test_layers_follow_the_table(self):
        self.finds({"src/store/a.cc": '#include "omnigraph/base/status.h"\n#include "omnigraph/query/plan.h"\n'},
                   "src/store/a.cc:2: [layer]")
        self.finds({"src/query/a.cc": '#include "omnigraph/graph/write/row.h"\n#include "omnigraph/base/status.h"\n'})
        self.finds({"src/graph/schema/a.cc": '#include "omnigraph/graph/write/row.h"\n'}, "src/graph/schema/a.cc:1: [layer]")
        self.finds({"src/cli/a.cc": '#include "omnigraph/store/local.h"\n#include "omnigraph/server/session.h"\n'},
                   "src/cli/a.cc:2: [layer]")
        self.finds({"src/attic/a.cc": "int x;\n"}, "src/attic/a.cc:1: [layer]")

    def test_unordered_containers_are_not_walked(self):
        header = {"src/query/b.h": "std::unordered_map<int, std::string> by_id_ OG_GUARDED_BY(mutex_);\n"}
        self.finds({"src/query/a.cc": "std::unordered_set<int> seen;\nfor (int x : seen) {\n}\n"}, "src/query/a.cc:2: [order]")
        self.finds({**header, "src/query/b.cc": "for (const auto& [id, name] : by_id_) {\n}\n"}, "src/query/b.cc:1: [order]")
        self.finds({"src/query/a.cc": "std::map<int, int> seen;\nfor (auto& x : seen) {\n}\n"})

    def test_format_headers_have_pages(self):
        self.finds({"src/query/x_format.h": "int x;\n"}, "src/query/x_format.h:1: [format-page]")
        self.finds({"src/query/x_format.h": "/// docs/format/x.md\n"}, "src/query/x_format.h:1: [format-page]")
        self.finds({"src/query/x_format.h": "/// docs/format/x.md\n", "docs/format/x.md": "# X\n"})

    def test_layers_have_readmes(self):
        self.finds({"src/query/a.cc": "int x;\n", "src/query/README.md": None}, "src/query/CMakeLists.txt:1: [readme]")

    def test_sources_and_tests_are_registered(self):
        self.finds({"src/query/dead.cc": "int x;\n"}, "src/query/dead.cc:1: [registered]")
        tests = {"tests/CMakeLists.txt": "# b_test.cc\nog_test(x SRCS a_test.cc deep/c_test.cc)\n"}
        self.finds({**tests, "tests/a_test.cc": "\n", "tests/deep/c_test.cc": "\n"})
        self.finds({**tests, "tests/b_test.cc": "\n"}, "tests/b_test.cc:1: [registered]")
        self.finds({**tests, "tests/_test.cc": "\n"}, "tests/_test.cc:1: [registered]")

    def test_links_resolve(self):
        self.finds({"docs/a.md": "[b](b.md#part) [c](https://c.org) [d](#d) [e](../docs/missing.md)\n\n`[f](f.md)`\n", "docs/b.md": "# B\n"},
                   "docs/a.md:1: [link] '../docs/missing.md'")

    def test_nothing_is_left_over(self):
        word = "FIX" + "ME"
        self.finds({"docs/a.md": f"# A\n\n{word}\n"}, "docs/a.md:3: [leftover]")

    def test_files_end(self):
        self.finds({"src/query/a.cc": "int x;\n" * 1001}, "src/query/a.cc:1: [length]")

    def test_cmake_never_links_what_arrow_carries(self):
        self.finds({"cmake/X.cmake": "# re2 in a comment\nfind_package(re2)\n"}, "cmake/X.cmake:2: [cmake]")


if __name__ == "__main__":
    unittest.main()
