#!/usr/bin/env python3
"""No function is defined by two of the libraries that one program loads (docs/decisions/0002-dependencies.md).

    symbols_test.py PROGRAM

Two definitions of one name silently become one: the first library on the link line wins for all. Arrow's three libraries are one
family; the C and C++ run-time libraries are meant to be overridden and are left out.
"""
import collections
import re
import subprocess
import sys

RUNTIME = re.compile(r"/(ld-linux|libc|libm|libstdc\+\+|libgcc_s|libpthread|libdl|librt|libasan|libubsan|libtsan)[-.]")


def family(path):
    name = path.rsplit("/", 1)[-1].split(".so")[0]
    return "libarrow" if name.startswith("libarrow") else name


def main():
    program = sys.argv[1]
    loaded = re.findall(r"=> (/\S+)", subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout)
    failures = [f"{path} must never be linked" for path in loaded if re.search(r"/lib(re2|absl)", path)]
    owners = collections.defaultdict(set)
    for path in [path for path in loaded if not RUNTIME.search(path)]:
        listing = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
        for line in listing.splitlines():
            parts = line.split()
            if len(parts) == 3 and parts[1] == "T" and not parts[2].startswith(("_init", "_fini")):
                owners[parts[2].split("@")[0]].add(family(path))
    failures += [f"{name} is defined by {', '.join(sorted(libraries))}" for name, libraries in sorted(owners.items()) if len(libraries) > 1]
    if not any("libarrow" in libraries for libraries in owners.values()):
        failures.append("Arrow's libraries were not found among those that the program loads: this test looked at nothing")
    print("\n".join(failures) or f"{len(owners)} functions of {len(loaded)} libraries, each defined once")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
