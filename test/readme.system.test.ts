/** What the README tells a newcomer to type, typed. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { findRunning } from "../kernel/cli/service/home.ts";
import { temporaryFolder } from "./support/home.ts";
import { postern, startPostern } from "./support/processes/postern.ts";

const ROOT = new URL("..", import.meta.url);
const PAGE = readFileSync(new URL("README.md", ROOT), "utf8");
const run = promisify(execFile);

test("every picture and every page it points to is there", () => {
  const links = [...PAGE.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, path]) => path as string);
  expect(links.length).toBeGreaterThan(10);
  expect(links.filter((path) => !existsSync(new URL(path, ROOT)))).toEqual([]);
});

test("every setting it names exists", async () => {
  const { stdout } = await postern(["config", "--json"], { env: { POSTERN_HOME: "/nowhere" } });
  const { settings } = JSON.parse(stdout) as { settings: { name: string }[] };
  const known = new Set(settings.map(({ name }) => name));
  // The launcher reads this one before there are settings.
  known.add("POSTERN_NODE");
  const named = [...PAGE.matchAll(/`([A-Z][A-Z_]{4,})(?:=|`)/g)].map(([, name]) => name as string);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test("npm start serves the page, the chat answers, and Ctrl+C ends it", async () => {
  const home = join(temporaryFolder(), "home");
  const service = startPostern([], {
    inside: ["sh", "-c", `exec npm start --prefix '${fileURLToPath(ROOT)}'`],
    env: { POSTERN_HOME: home, GATEWAY_PORT: "0", HOME: temporaryFolder() },
  });
  await service.printed("ready in");
  const [, url, token] = /(http:\S+)\/\?token=(\S+)/.exec(service.stdout()) ?? [];
  expect(await (await fetch(`${url}/`)).text()).toContain("<title>");
  const answer = await fetch(`${url}/api/chat`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ message: "What is 12 times 12?" }),
  });
  expect(JSON.stringify(await answer.json())).toContain("144");
  // A terminal sends it to everybody in front; npm passes it on to nobody.
  process.kill(findRunning(home)?.pid ?? 0, "SIGINT");
  expect(await service.ended).toBe(0);
});

test("its curl lines work as printed against a service with the webhook on", async () => {
  const cwd = temporaryFolder();
  const home = join(cwd, ".postern");
  const secret = "a-secret-of-the-readme";
  const env = {
    POSTERN_HOME: home,
    GATEWAY_PORT: "0",
    HTTP_ENABLED: "true",
    HTTP_PORT: "0",
    HTTP_WEBHOOK_SECRET: secret,
  };
  const service = startPostern(["serve"], { env: { ...env, MODEL_PROVIDER: "builtin" }, cwd });
  await service.printed("ready in");
  const [, gateway] = /gateway\s+on\s+(http:\S+)/.exec(service.stdout()) ?? [];
  const [, webhook] = /webhook\s+on\s+(http:\S+)/.exec(service.stdout()) ?? [];
  const curls = [...PAGE.matchAll(/^curl (?:.*\\\n)*.*$/gm)].map(([line]) =>
    line.replace("http://127.0.0.1:3000", gateway ?? "").replaceAll("http://localhost:8080", webhook ?? ""),
  );
  const type = async (line = "") => {
    const { stdout } = await run("bash", ["-c", line], {
      env: { PATH: process.env["PATH"], HOME: cwd, HTTP_WEBHOOK_SECRET: secret },
    });
    return JSON.parse(stdout);
  };
  expect(curls).toHaveLength(3);
  expect(await type(curls[0])).toMatchObject({ object: "response", status: "completed" });
  const { job_id } = await type(curls[1]);
  await expect
    .poll(() => type(curls[2]?.replace("<job_id>", job_id)))
    .toMatchObject({ status: "completed", response: expect.stringContaining("144") });
});
