#!/usr/bin/env node
// Starts the binary of the platform package, which npm installs as an optional dependency.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";

const name = `kbgen-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "kbgen.exe" : "kbgen";

function find() {
  try {
    return createRequire(import.meta.url).resolve(`${name}/${file}`);
  } catch {
    console.error(`error: the package \`${name}\` is not installed; kbgen may not support this platform`);
    return process.exit(2);
  }
}

const child = spawn(find(), process.argv.slice(2), { stdio: "inherit" });
child.on("error", error => {
  console.error(`error: cannot start ${child.spawnfile}: ${error.message}`);
  process.exitCode = 2;
});
child.on("exit", code => {
  process.exitCode = code ?? 2;
});
// The terminal sends SIGINT to both processes; others reach only this one.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
