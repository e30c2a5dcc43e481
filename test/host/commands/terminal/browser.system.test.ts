import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../support/home.ts";

const MODULE = join(
  import.meta.dirname,
  "..",
  "..",
  "..",
  "..",
  "host",
  "commands",
  "terminal",
  "browser.ts",
);
const URL_TO_OPEN = "https://id.example/authorize?a=1&b=$(x)%20'y'";

/** In a process with no desktop, where the one browser is what BROWSER names. */
async function openWith(browser: string): Promise<boolean> {
  const script = `import { openBrowser } from ${JSON.stringify(MODULE)}; console.log(await openBrowser(process.argv[1]));`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "--eval", script, URL_TO_OPEN],
    { env: { PATH: "/usr/bin:/bin", HOME: temporaryFolder(), BROWSER: browser } },
  );
  return JSON.parse(stdout) as boolean;
}

test.runIf(process.platform === "linux")("a browser gets the address as it is", async () => {
  const folder = temporaryFolder();
  const browser = join(folder, "browser");
  writeFileSync(browser, `#!/bin/sh\nprintf %s "$1" > ${join(folder, "opened")}\n`, { mode: 0o755 });
  expect(await openWith(browser)).toBe(true);
  expect(readFileSync(join(folder, "opened"), "utf8")).toBe(URL_TO_OPEN);
});

test.runIf(process.platform === "linux")("a browser that stays open counts as opened", async () => {
  const browser = join(temporaryFolder(), "browser");
  writeFileSync(browser, "#!/bin/sh\nexec sleep 2\n", { mode: 0o755 });
  expect(await openWith(browser)).toBe(true);
});

test.runIf(process.platform === "linux")("where there is no browser, nothing counts as opened", async () => {
  expect(await openWith("/nonexistent/browser")).toBe(false);
});
