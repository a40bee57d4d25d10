"""Target platforms of the release, and package metadata from Cargo.toml."""

import argparse
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LICENSES = [ROOT / "LICENSE-APACHE", ROOT / "LICENSE-MIT"]

# Rust target: platform tags of wheels, and platform and architecture as Node names them. A static Linux binary runs with
# any libc. A glibc binary is tied to the machine that built it; PyPI rejects its tag. The macOS versions are the lowest
# that rustc targets (https://doc.rust-lang.org/rustc/platform-support/apple-darwin.html).
TARGETS = {
    "x86_64-unknown-linux-musl": (
        ["manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"],
        ("linux", "x64"),
    ),
    "aarch64-unknown-linux-musl": (
        ["manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"],
        ("linux", "arm64"),
    ),
    "x86_64-unknown-linux-gnu": (["linux_x86_64"], ("linux", "x64")),
    "aarch64-unknown-linux-gnu": (["linux_aarch64"], ("linux", "arm64")),
    "x86_64-apple-darwin": (["macosx_10_12_x86_64"], ("darwin", "x64")),
    "aarch64-apple-darwin": (["macosx_11_0_arm64"], ("darwin", "arm64")),
    "x86_64-pc-windows-msvc": (["win_amd64"], ("win32", "x64")),
}


def metadata() -> dict[str, str]:
    """Returns version, description, license and, if set, repository of the crate."""
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    shared = cargo["workspace"]["package"]
    return {
        "version": shared["version"],
        "description": cargo["package"]["description"],
        "license": shared["license"],
        **({"repository": cargo["package"]["repository"]} if "repository" in cargo["package"] else {}),
    }


def program_name(target: str) -> str:
    """Returns the file name of the binary."""
    return "kbgen.exe" if "windows" in target else "kbgen"


def arguments(description: str) -> argparse.ArgumentParser:
    """Returns a parser with the options that all packages have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", type=Path, default=Path("dist"), help="output folder (default: dist)")
    parser.add_argument("--level", type=int, default=9, choices=range(10), help="compression level (default: 9)")
    return parser
