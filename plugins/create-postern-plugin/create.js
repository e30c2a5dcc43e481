#!/usr/bin/env node
// `npm create postern-plugin my-channel` is `postern plugin new my-channel` of the Postern with this package's version: the
// template is there, and nowhere else. A Postern that is installed where it is typed is used; otherwise npm fetches it.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

const USAGE = `Usage: npm create postern-plugin <dir>

Example:
  $ npm create postern-plugin my-chat
`;

const { version } = JSON.parse(readFileSync(new URL("./package.json", import.meta.url), "utf8"));
const given = process.argv.slice(2);

if (given.includes("--help") || given.includes("-h")) process.stdout.write(USAGE);
else if (given.length === 0) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  const words = ["exec", "--yes", `--package=postern@${version}`, "--", "postern", "plugin", "new", ...given];
  const isWindows = process.platform === "win32";
  // There npm is a script of the shell, which takes words apart at spaces.
  const child = spawn("npm", isWindows ? words.map((word) => JSON.stringify(word)) : words, {
    stdio: "inherit",
    shell: isWindows,
  });
  child.on("error", (error) => {
    process.stderr.write(`create-postern-plugin: npm cannot be started (${error.message})\n`);
    process.exitCode = 1;
  });
  child.on("exit", (code) => {
    process.exitCode = code ?? 1;
  });
}
