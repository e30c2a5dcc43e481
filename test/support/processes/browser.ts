/** A real Chromium, where one is installed. */
import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { describeWhere } from "../run/needs.ts";

const PLACES = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/snap/bin/chromium",
];

const executablePath = PLACES.find((place) => existsSync(place));

export const describeInBrowser = describeWhere(
  executablePath !== undefined,
  "Chromium (apt-get install chromium)",
);

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

let browser: Browser | undefined;

/** One browser for the tests of a file. */
export function useBrowser(): void {
  beforeAll(async () => {
    browser =
      executablePath === undefined ? undefined : await chromium.launch({ executablePath, args: ARGS });
  });
  afterAll(() => browser?.close());
}

export interface BrowserPage extends Page {
  /** Errors that scripts threw and the console complained of. */
  readonly complaints: string[];
}

/** A page with a profile of its own. */
export async function openPage(
  options: { readonly width?: number; readonly dark?: boolean } = {},
): Promise<BrowserPage> {
  if (browser === undefined) throw new Error("no browser: call useBrowser() first");
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1200, height: 800 },
    colorScheme: options.dark ? "dark" : "light",
  });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  return Object.assign(page, { complaints });
}
