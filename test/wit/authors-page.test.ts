/** The page for authors, followed word for word. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/home.ts";
import { postern } from "../support/postern.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PAGE = readFileSync(join(ROOT, "wit", "README.md"), "utf8");

function block(language: string, containing: string): string {
  const blocks = [...PAGE.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, "g"))].map(
    ([, text]) => text ?? "",
  );
  const found = blocks.find((text) => text.includes(containing));
  if (found === undefined) throw new Error(`the page has no ${language} block with ${containing}`);
  return found;
}

test("the page takes a newcomer from an empty folder to an installed tool", {
  timeout: 240_000,
}, async () => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, "hello.js"), block("js", "file: hello.js"));
  writeFileSync(join(cwd, "hello.capabilities.json"), block("json", "wit_version"));
  const build = block("sh", "componentize-js")
    .replace("npx componentize-js", join(ROOT, "node_modules", ".bin", "componentize-js"))
    .replace("node_modules/postern/wit", join(ROOT, "wit"));
  const built = spawnSync("sh", ["-c", build], { cwd, encoding: "utf8" });
  expect({ status: built.status, stderr: built.stderr }).toEqual({ status: 0, stderr: "" });

  const env = { POSTERN_HOME: join(cwd, "home") };
  const commands = [...PAGE.matchAll(/^npx postern tool (.*hello.*)$/gm)].map(([, line]) => line ?? "");
  expect(commands.map((line) => line.split(" ")[0])).toEqual(["check", "install", "run", "log"]);
  const printed: Record<string, string> = {};
  for (const line of commands) {
    const args = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
    const { code, stdout, stderr } = await postern(["tool", ...args], { env, cwd });
    expect({ line, code, stderr: code === 0 ? "" : stderr }).toEqual({ line, code: 0, stderr: "" });
    printed[args[0] ?? ""] = stdout;
  }
  expect(printed["check"]).toContain("can be installed");
  expect(printed["install"]).toContain("may not use the network");
  const { greeting, at } = JSON.parse(printed["run"] ?? "");
  expect(greeting).toBe("Hello, Ada!");
  expect(Math.abs(Date.now() - Date.parse(at))).toBeLessThan(240_000);
  expect(printed["log"]).toContain("greeting Ada");
});
