import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startService, TOKEN } from "../../support/services/responses.ts";

const README = readFileSync(new URL("../../../plugins/responses/README.md", import.meta.url), "utf8");
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

function example(language: string, place = 0): string {
  const [, code] = [...README.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "gs"))][place] ?? [];
  if (code === undefined) throw new Error(`no example in ${language}`);
  return code;
}

async function run(command: string, args: readonly string[], code: string, url: string): Promise<string> {
  const env = { PATH: process.env["PATH"] ?? "", POSTERN_URL: url, POSTERN_TOKEN: TOKEN };
  const child = spawn(command, args, { cwd: ROOT, env });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    printed += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    printed += chunk;
  });
  child.stdin.end(code);
  const [status] = await once(child, "close");
  if (status !== 0) throw new Error(printed);
  return printed;
}

test("the curl example of the README streams an answer", async () => {
  const { url } = await startService();
  const printed = await run("sh", ["-s"], example("sh"), url);
  expect(printed).toMatch(/^event: response\.created\ndata: \{/);
  expect(printed).toMatch(/"delta":"[^"]*42/);
  expect(printed.trimEnd().split("\n").at(-2)).toBe("event: response.completed");
});

test("the curl example of chat completions answers", async () => {
  const { url } = await startService();
  const completion = JSON.parse((await run("sh", ["-s"], example("sh", 1), url)).replace(/^[^{]*/s, ""));
  expect(completion.choices[0].message.content).toContain("42");
});

test("the openai example of the README talks, calls a function, answers and retrieves", async () => {
  const { url } = await startService();
  const printed = await run(process.execPath, ["--input-type=module", "-"], example("js"), url);
  const [hello, call, answer, last] = printed.trimEnd().split("\n");
  expect(hello).toMatch(/./);
  expect(call).toBe('look_up_stock {"article":"red bike"}');
  expect(answer).toContain("12");
  expect(last).toBe("completed reborn");
});
