/** The built component in the real host: every page must come out as it does under Node, and a PDF as the host reads it. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FOLDER, show, TYPES } from "./pages.ts";
import { openReader } from "./reader.ts";

let reader: Awaited<ReturnType<typeof openReader>>;

beforeAll(async () => {
  reader = await openReader();
});
afterAll(() => reader.close());

describe("read-page", () => {
  test("§4.4 it says what it is for and takes an address, a page and words to find", async () => {
    const tool = await reader.host.catalog.find("read-page");
    expect(tool?.description).toContain("Reads a page of the web");
    expect(Object.keys(tool?.schema["properties"] as object)).toEqual(["url", "page", "find"]);
  });

  test.each(globSync("*.{html,xml,json,pdf}", { cwd: FOLDER }).sort())(
    "%s comes out as its snapshot",
    async (file) => {
      const { outcome } = await reader.ask({
        url: `https://site.example/pages/${file}`,
        type: TYPES[file.split(".").at(-1) ?? ""] ?? "",
        body: readFileSync(join(FOLDER, file)),
      });
      const shown =
        outcome.status === "ok" ? show(JSON.parse(outcome.output)) : `refused: ${outcome.message}\n`;
      expect(shown).toBe(readFileSync(join(FOLDER, `${file.replace(/\.\w+$/, "")}.md`), "utf8"));
    },
  );
});
