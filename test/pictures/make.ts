/**
 * `npm run pictures`: takes the pictures of the README from a running service, the terminal session that the README has as
 * text, and pictures of every page. Real process, real browser, real terminal; the built-in model answers in the README's,
 * a scripted one in those of the pages, which are only to look at: git ignores them. `npm run pictures -- pages` takes only those.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { spawn as spawnTerminal } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { type Browser, chromium, type Page } from "playwright-core";
import { startModelServer } from "../support/servers/model-server.ts";
import { storeOf, takePages } from "./pages.ts";
import { answerTo, furnish, WEBHOOK } from "./stage.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BIN = join(ROOT, "kernel", "cli", "bin.js");
const PICTURES = join(ROOT, ".pictures");
const CHROMIUM = "/usr/bin/chromium";
const COLUMNS = 92;
const ROWS = 26;

const home = mkdtempSync(join(tmpdir(), "postern-pictures-"));
const env = {
  PATH: process.env["PATH"] ?? "",
  POSTERN_HOME: home,
  GATEWAY_PORT: "3210",
  MODEL_PROVIDER: "builtin",
};

/** The pages are shown with a scripted model and the webhook on. */
const stageEnv = (home: string, model: string) => ({
  ...env,
  POSTERN_HOME: home,
  GATEWAY_PORT: "3211",
  MODEL_PROVIDER: undefined,
  MODEL_BASE_URL: model,
  MODEL_NAME: "scripted",
  MEMORY_VECTORS: "false",
  HTTP_ENABLED: "true",
  HTTP_HOST: "127.0.0.1",
  HTTP_PORT: WEBHOOK.port,
  HTTP_WEBHOOK_SECRET: WEBHOOK.secret,
  TOOL_APPROVALS: "convert=allow",
  GITHUB_TOKEN: "github_pat_for_pictures",
});

async function serve(
  env: NodeJS.ProcessEnv,
  ...tools: readonly string[]
): Promise<{ link: string; stop(): Promise<void> }> {
  // The shipped tools are compiled first, so that they are there from the first picture on.
  for (const verb of [["list"], ...tools.map((name) => ["install", name, "--allow-unsigned"])]) {
    const [code] = await once(
      spawn(process.execPath, [BIN, "tool", ...verb], { env, stdio: ["ignore", "ignore", "inherit"] }),
      "exit",
    );
    if (code !== 0) throw new Error(`postern tool ${verb.join(" ")} ended with ${code}`);
  }
  const child = spawn(process.execPath, [BIN, "serve"], { env, stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  for await (const chunk of child.stdout) {
    printed += String(chunk);
    if (printed.includes("ready in")) break;
  }
  return {
    link: /http:\S+token=\S+/.exec(printed)?.[0] ?? "",
    async stop() {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

async function say(page: Page, text: string, answer: RegExp): Promise<void> {
  await page.getByLabel("Message").fill(text);
  await page.keyboard.press("Enter");
  await page.getByText(answer).last().waitFor();
  await page.locator(".working").waitFor({ state: "detached" });
}

async function takePictures(browser: Browser, link: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1180, height: 760 } });
  const shoot = (name: string) => page.screenshot({ path: join(PICTURES, `${name}.png`) });
  await page.goto(link);
  await say(page, "Remember that my bike is red", /I will remember/);
  await say(page, "Convert 26.2 miles to km", /42\.1/);
  await say(page, "What colour is my bike?", /bike is red/);
  await page.locator(".call summary").nth(1).click();
  await page.locator(".call").nth(1).scrollIntoViewIfNeeded();
  await shoot("chat-light");
  await page.emulateMedia({ colorScheme: "dark" });
  await shoot("chat-dark");
  await page.setViewportSize({ width: 390, height: 760 });
  await shoot("chat-phone");
  await page.setViewportSize({ width: 1180, height: 760 });
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(`${new URL(link).origin}/#/tools`);
  await page.getByRole("heading", { name: /weather/ }).waitFor();
  await shoot("tools");
  await page.close();
}

async function takeStage(browser: Browser): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "postern-stage-"));
  const model = await startModelServer();
  model.otherwise(answerTo);
  try {
    const { link, stop } = await serve(stageEnv(home, model.url), "github-issues");
    const { origin, searchParams } = new URL(link);
    const headers = {
      authorization: `Bearer ${searchParams.get("token")}`,
      "content-type": "application/json",
    };
    const ask = async (method: string, path: string, body?: object) => {
      const answer = await fetch(origin + path, { method, headers, body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    };
    try {
      await furnish(ask, storeOf(home));
      await takePages(browser, link, join(PICTURES, "pages"));
    } finally {
      await stop();
    }
  } finally {
    await model.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** What stands on the screen of a real terminal after a few messages. */
async function captureTerminal(): Promise<string> {
  const screen = new xterm.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
  const options = {
    cols: COLUMNS,
    rows: ROWS,
    env: { ...env, TERM: "xterm-256color", NO_COLOR: "1", GATEWAY_ENABLED: "false" },
  };
  const terminal = spawnTerminal(process.execPath, [BIN], options);
  terminal.onData((data) => screen.write(data));
  const read = () => {
    const { active } = screen.buffer;
    const lines = Array.from(
      { length: ROWS },
      (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? "",
    );
    return lines.join("\n");
  };
  const seen = async (text: string) => {
    while (!read().includes(text)) await sleep(50);
  };
  const type = async (text: string, answer: string) => {
    for (const letter of text) terminal.write(letter);
    await seen(text);
    terminal.write("\r");
    await seen(answer);
  };
  await seen("/help");
  terminal.write("\x0c");
  await type("What colour is my bike?", "bike is red");
  await type("Convert 26.2 miles to km", "42.1");
  await sleep(500);
  const text = read();
  terminal.write("\x03");
  return text.trim().replaceAll(/\n{3,}/g, "\n\n");
}

function putIntoReadme(capture: string): void {
  const file = join(ROOT, "README.md");
  const between = /(<!-- terminal:begin -->\n)[\s\S]*?(<!-- terminal:end -->)/;
  const block = `\`\`\`text\n${capture}\n\`\`\`\n`;
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace(between, (_all, begin, end) => begin + block + end),
  );
}

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
try {
  if (process.argv[2] !== "pages") {
    const { link, stop } = await serve(env);
    await takePictures(browser, link);
    await stop();
    putIntoReadme(await captureTerminal());
  }
  await takeStage(browser);
} finally {
  await browser.close();
  rmSync(home, { recursive: true, force: true });
}
process.exit();
