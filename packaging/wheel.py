"""Builds a wheel that contains the binary: https://packaging.python.org/en/latest/specifications/binary-distribution-format/."""

import base64
import hashlib
import zipfile
from pathlib import Path

import package


def build(binary: Path, target: str, out: Path, level: int) -> Path:
    """Writes the wheel. Its bytes depend only on the arguments and on this repository."""
    about = package.metadata()
    platforms = package.TARGETS[target][0]
    name = f"kbgen-{about['version']}"
    info = f"{name}.dist-info"
    licenses = {f"{info}/licenses/{path.name}": path.read_bytes() for path in package.LICENSES}
    fields = [
        "Metadata-Version: 2.4",
        "Name: kbgen",
        f"Version: {about['version']}",
        f"Summary: {about['description']}",
        f"License-Expression: {about['license']}",
        *(f"License-File: {path.name}" for path in package.LICENSES),
        *([f"Project-URL: Repository, {about['repository']}"] if "repository" in about else []),
        "Requires-Python: >=3.8",
    ]
    tags = [f"Tag: py3-none-{platform}" for platform in platforms]
    wheel = ["Wheel-Version: 1.0", "Generator: kbgen packaging/wheel.py", "Root-Is-Purelib: false", *tags]
    program = f"{name}.data/scripts/{package.program_name(target)}"
    files = {
        program: binary.read_bytes(),
        **licenses,
        f"{info}/METADATA": lines(fields),
        f"{info}/WHEEL": lines(wheel),
    }
    record = f"{info}/RECORD"
    hashes = [f"{path},sha256={digest(content)},{len(content)}" for path, content in files.items()]
    files[record] = lines([*hashes, f"{record},,"])

    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}-py3-none-{'.'.join(platforms)}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for inner, content in files.items():
            entry = zipfile.ZipInfo(inner, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3  # Unix, so that installers read the mode
            entry.external_attr = (0o100755 if inner == program else 0o100644) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, level)
    return path


def lines(texts: list[str]) -> bytes:
    """Joins lines, each with a line feed."""
    return "".join(f"{text}\n" for text in texts).encode()


def digest(content: bytes) -> str:
    """Returns the SHA-256 hash as RECORD encodes it."""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    parser = package.arguments("Builds a wheel that contains the binary.")
    parser.add_argument("binary", type=Path)
    parser.add_argument("--target", required=True, choices=package.TARGETS)
    options = parser.parse_args()
    print(build(options.binary, options.target, options.out, options.level))
