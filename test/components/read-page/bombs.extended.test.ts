/** Pages that are made to take all time or memory there is, in the built component. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { moveTime } from "../../support/clock/moved-time.ts";
import { afterThisTest } from "../../support/undo.ts";
import { BOMBS, PDF_BOMBS } from "./bombs.ts";
import { openReader } from "./reader.ts";

let reader: Awaited<ReturnType<typeof openReader>>;

beforeAll(async () => {
  reader = await openReader();
});
afterAll(() => reader.close());

describe("read-page", () => {
  test.each(Object.entries(BOMBS))("%s: an answer or words, within its memory", async (_, html) => {
    const { outcome, receipt } = await reader.ask({ body: Buffer.from(html()), type: "text/html" });
    if (outcome.status === "ok") expect(JSON.parse(outcome.output)).toMatchObject({ kind: "page" });
    else expect(outcome.message).toMatch(/has no text|too large/);
    expect(receipt?.memoryPeak).toBeLessThan(256 << 20);
  });

  test.each(Object.entries(PDF_BOMBS))(
    "%s, in a PDF: an answer or words, within its memory",
    async (_, document) => {
      const { advance } = moveTime(afterThisTest);
      const asked = reader.ask({ body: document(), type: "application/pdf" });
      // What takes longer would go on like that until its limit.
      const rest = setTimeout(() => void advance(20_000), 10_000);
      const { outcome, receipt } = await asked;
      clearTimeout(rest);
      if (outcome.status === "ok") expect(JSON.parse(outcome.output)).toMatchObject({ kind: "pdf" });
      else
        expect(outcome.message).toMatch(/damaged|has no text|too much (text|memory)|longer than 30 seconds/);
      expect(receipt?.memoryPeak).toBeLessThan(256 << 20);
    },
  );
});
