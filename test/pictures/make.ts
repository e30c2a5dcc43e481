/**
 * `npm run pictures`: takes the pictures of the README from a running service, and the capture of a terminal
 * session that stands in it as text. Real process, real browser, real terminal; the built-in model answers.
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
import { chromium, type Page } from "playwright-core";

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

async function serve(): Promise<{ link: string; stop(): Promise<void> }> {
  // The shipped tools are compiled first, so that they are there from the first picture on.
  await once(spawn(process.execPath, [BIN, "tool", "list"], { env, stdio: "ignore" }), "exit");
  const child = spawn(process.execPath, [BIN, "serve"], { env, stdio: ["ignore", "pipe", "ignore"] });
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

async function takePictures(link: string): Promise<void> {
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu"],
  });
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
  await browser.close();
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

try {
  const { link, stop } = await serve();
  await takePictures(link);
  await stop();
  putIntoReadme(await captureTerminal());
} finally {
  rmSync(home, { recursive: true, force: true });
}
process.exit();
