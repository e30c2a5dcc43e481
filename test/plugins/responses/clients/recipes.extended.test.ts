/** The recipes that can be run here, typed as they stand on the page. The others were tried by hand: the page says with which versions. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../../support/clone.ts";
import type { ChatRequest } from "../../../support/servers/model-server.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { startService, TOKEN } from "../../../support/services/responses.ts";
import { clientsFolder, describeWithClients } from "../../../support/tools/clients.ts";

const PAGE = readFileSync(join(ROOT, "plugins/responses/RECIPES.md"), "utf8");

/** The first block of code under a heading. */
function recipe(title: string, language: string): string {
  const [, section = ""] = PAGE.split(`\n## ${title}\n`);
  const [, rest = ""] = (section.split("\n## ")[0] ?? "").split(`\`\`\`${language}\n`);
  const [code = ""] = rest.split("```");
  if (code === "") throw new Error(`no ${language} under "${title}"`);
  return code;
}

async function run(code: string, url: string): Promise<string> {
  const env = { PATH: process.env["PATH"] ?? "", POSTERN_URL: url, POSTERN_TOKEN: TOKEN };
  const child = spawn(process.execPath, ["--input-type=module", "-"], { cwd: clientsFolder(), env });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk;
    });
  }
  child.stdin.end(code);
  const [status] = await once(child, "close");
  if (status !== 0) throw new Error(printed);
  return printed;
}

/** Looks the stock up where it can, and tells what it found. */
function clerk({ messages, tools = [] }: ChatRequest) {
  const found = messages.find(({ role }) => role === "tool");
  if (found) return { text: `There are ${/\d+/.exec(JSON.stringify(found.content))?.[0]}.` };
  const canLook = tools.some(({ function: { name } }) => name === "look_up_stock");
  return canLook
    ? { calls: [{ name: "look_up_stock", arguments: { article: "red bikes" } }] }
    : { text: "42" };
}

describeWithClients("with the libraries themselves", () => {
  test.each([
    ["OpenAI's library in JavaScript", "42\n42\n"],
    ["OpenAI's agents library", "There are 12.\n"],
    ["Vercel's ai", "There are 12.\n"],
    ["LangChain", "There are 12.\n"],
  ])("the recipe for %s works as it is typed", async (title, expected) => {
    const model = await scriptedModel();
    model.otherwise(clerk);
    const { url } = await startService({ model });
    expect(await run(recipe(title, "js"), url)).toBe(expected);
  });
});

test("every recipe names the one base URL, and those in JSON can be read", () => {
  const titles = [...PAGE.matchAll(/^## (.+)$/gm)].map(([, title]) => title as string);
  expect(titles.length).toBeGreaterThanOrEqual(14);
  const sections = titles.map((title) => PAGE.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? "");
  expect(titles.filter((_, at) => !sections[at]?.includes("/openai/v1"))).toEqual([]);
  const { provider } = JSON.parse(recipe("opencode", "json"));
  expect(provider.postern.options.baseURL).toBe("http://127.0.0.1:3000/openai/v1");
});
