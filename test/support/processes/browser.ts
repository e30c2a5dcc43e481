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

/** For what never comes, not for what is slow. */
const PATIENCE_MS = 60_000;

let browser: Browser | undefined;
/** Starting a profile takes far longer than cleaning one, so a test gets the page of the test before it. */
let free: Page | undefined;

/** One browser for the tests of a file. */
export function useBrowser(): void {
  beforeAll(async () => {
    browser =
      executablePath === undefined ? undefined : await chromium.launch({ executablePath, args: ARGS });
  });
  afterAll(async () => {
    free = undefined;
    await browser?.close();
  });
}

export interface BrowserPage extends Page {
  /** Errors that scripts threw and the console complained of. */
  readonly complaints: string[];
}

/** A page with a profile of its own, in which nothing is left of an earlier one. */
export async function openPage({
  width = 1200,
  dark = false,
}: {
  readonly width?: number;
  readonly dark?: boolean;
} = {}): Promise<BrowserPage> {
  if (browser === undefined) throw new Error("no browser: call useBrowser() first");
  const kept = free;
  free = undefined;
  const page = kept ?? (await (await browser.newContext()).newPage());
  const origins = new Set<string>();
  onTestFinished(() => putBack(page, origins));
  page.setDefaultTimeout(PATIENCE_MS);
  await page.setViewportSize({ width, height: 800 });
  await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("framenavigated", (frame) => origins.add(new URL(frame.url()).origin));
  return Object.assign(page, { complaints });
}

/** A page that has signed in by a link. */
export async function openLink(link: string, view?: Parameters<typeof openPage>[0]): Promise<BrowserPage> {
  const page = await openPage(view);
  await page.goto(link);
  await page.getByLabel("Message", { exact: true }).waitFor();
  return page;
}

/** A page of this gateway after signing in: the chat, or the place that the hash names. */
export async function openSignedIn(
  { url }: { readonly url: string },
  token: string,
  hash?: string,
  view?: Parameters<typeof openPage>[0],
): Promise<BrowserPage> {
  const page = await openLink(`${url}/?token=${token}`, view);
  if (hash !== undefined) await page.goto(`${url}/#/${hash}`);
  return page;
}

/** Sends a message, as somebody types it. */
export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
}

/** Opens the menu at the foot of the sidebar. */
export const openUserMenu = (page: Page): Promise<void> =>
  page.getByRole("button", { name: /^Your account/ }).click();

const EVENTS = ["console", "dialog", "framenavigated", "pageerror", "request", "response"] as const;

/** Cleans it for the next test; the second one of a test, and one that a test has done something to, is closed. */
async function putBack(page: Page, origins: ReadonlySet<string>): Promise<void> {
  const context = page.context();
  if (free !== undefined || page.isClosed() || context.pages().length > 1) return context.close();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  for (const event of EVENTS) page.removeAllListeners(event);
  await page.goto("about:blank");
  await context.clearCookies();
  const devtools = await context.newCDPSession(page);
  for (const origin of origins)
    if (origin !== "null") await devtools.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
  await devtools.detach();
  free = page;
}
