"""Builds npm packages: one per platform that contains the binary, and `kbgen`, which depends on all of them.

npm installs only the optional dependency that matches the platform (`os`, `cpu`). Nothing runs or is downloaded during
installation, so it works offline and with `--ignore-scripts`.
"""

import gzip
import io
import json
import tarfile
from pathlib import Path

import package

LAUNCHER = Path(__file__).with_name("launcher.mjs")


def platform_package(binary: Path, target: str, out: Path, level: int) -> Path:
    """Writes the package of a platform."""
    system, cpu = package.TARGETS[target][1]
    program = package.program_name(target)
    manifest = {"os": [system], "cpu": [cpu], "files": [program], "preferUnplugged": True}
    return write(f"kbgen-{system}-{cpu}", manifest, {program: binary.read_bytes()}, program, out, level)


def main_package(out: Path, level: int) -> Path:
    """Writes the package `kbgen`: a launcher that starts the binary of the platform."""
    version = package.metadata()["version"]
    names = sorted({f"kbgen-{system}-{cpu}" for _, (system, cpu) in package.TARGETS.values()})
    manifest = {
        "bin": {"kbgen": LAUNCHER.name},
        "engines": {"node": ">=18"},
        "optionalDependencies": {name: version for name in names},
    }
    return write("kbgen", manifest, {LAUNCHER.name: LAUNCHER.read_bytes()}, LAUNCHER.name, out, level)


def write(name: str, manifest: dict, files: dict[str, bytes], program: str, out: Path, level: int) -> Path:
    """Writes a tarball as `npm pack` does. Its bytes depend only on the arguments and on this repository."""
    about = package.metadata()
    manifest = {"name": name, **about, **manifest}
    files = {
        "package.json": json.dumps(manifest, indent=2).encode() + b"\n",
        **{path.name: path.read_bytes() for path in package.LICENSES},
        **files,
    }
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}-{about['version']}.tgz"
    with (
        path.open("wb") as raw,
        gzip.GzipFile("", "wb", level, raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for inner, content in files.items():
            entry = tarfile.TarInfo(f"package/{inner}")
            entry.size = len(content)
            entry.mode = 0o755 if inner == program else 0o644
            archive.addfile(entry, io.BytesIO(content))
    return path


if __name__ == "__main__":
    parser = package.arguments("Builds the npm package of a platform, or without a binary the package `kbgen`.")
    parser.add_argument("binary", type=Path, nargs="?")
    parser.add_argument("--target", choices=package.TARGETS)
    options = parser.parse_args()
    if bool(options.binary) != bool(options.target):
        parser.error("pass both a binary and --target, or neither")
    if options.binary:
        print(platform_package(options.binary, options.target, options.out, options.level))
    else:
        print(main_package(options.out, options.level))
