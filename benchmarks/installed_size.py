"""How much room the library and everything that it needs take on a disk.

    make size        # installs the package alone, without extras, into a fresh environment, and runs this there

Prints one line per installed package, the largest first, and fails above the limit. Files are counted as
their packages list them, compiled bytecode included.
"""

import sys
from importlib import metadata

LIMIT = 700
"""MB (1e6 bytes) for the package without extras."""


def megabytes(package: metadata.Distribution) -> float:
    files = (file.locate() for file in package.files or ())
    return sum(file.stat().st_size for file in files if file.exists()) / 1e6


if __name__ == "__main__":
    packages = {package.name: package for package in metadata.distributions()}
    sizes = {
        name: megabytes(one) for name, one in packages.items() if name not in ("pip", "setuptools")
    }
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        print(f"{size:8.1f} MB  {name} {packages[name].version}")
    print(f"{sum(sizes.values()):8.1f} MB  in all")
    sys.exit(sum(sizes.values()) > LIMIT and f"more than {LIMIT} MB")
