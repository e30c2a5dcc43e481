import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { OPERATOR_TOKEN } from "../../support/services/gateway.ts";
import { openMcp } from "../../support/services/mcp.ts";

const README = readFileSync(new URL("../../../plugins/mcp/README.md", import.meta.url), "utf8");
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

test("the example of the README lists the tools and asks the agent", async () => {
  const [, code] = /```js\n(.*?)```/s.exec(README) ?? [];
  const mcp = await openMcp({ tools: { weather: { run: () => ({ status: "ok", output: "mild" }) } } });
  const child = spawn(process.execPath, ["--input-type=module"], {
    cwd: ROOT,
    env: { POSTERN_URL: mcp.url, POSTERN_TOKEN: OPERATOR_TOKEN },
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk;
    });
  child.stdin.end(code);
  await once(child, "close");
  expect(printed).toMatch(/^ask, weather\n.*42.*\ncompleted, on thread [\da-f-]+\n$/);
});
