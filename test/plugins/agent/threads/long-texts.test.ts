import { expect, test } from "vitest";
import { giveWay } from "../../../../kernel/kit/concurrency.ts";
import { redact } from "../../../../kernel/kit/secrets.ts";
import { createMask } from "../../../../kernel/mask/mask.ts";
import { redactLong } from "../../../../plugins/agent/threads/turns/long-texts.ts";

const PIECE = 2 ** 18;
const KNOWN = "a-value-that-is-secret";
const SHAPED = `sk-${"a1".repeat(20)}`;
const mask = createMask();
mask.add(KNOWN);

test.for([
  ["a known value", KNOWN],
  ["a secret by its shape", SHAPED],
  ["a private key", `-----BEGIN PRIVATE KEY-----\n${"MIIE\n".repeat(20_000)}-----END PRIVATE KEY-----`],
  ["a character of two halves", "🔑"],
])("%s is hidden in a long text wherever it stands, as it is in a short one", async ([, secret]) => {
  for (const filler of ["words ", "x"])
    for (const at of [PIECE - 1, PIECE - 10]) {
      const text = `${filler.repeat(PIECE).slice(0, at)} ${secret} ${filler.repeat(1000)}`;
      expect((await redactLong(mask, text)) === redact(mask, text)).toBe(true);
    }
});

test("others have their turn while secrets are looked for in a long text", async () => {
  let isLater = false;
  setImmediate(() => {
    isLater = true;
  });
  await redactLong(mask, "words ".repeat(PIECE));
  expect(isLater).toBe(true);
});

test("work on a short text goes on at once", async () => {
  let isLater = false;
  setImmediate(() => {
    isLater = true;
  });
  await giveWay(10);
  expect(isLater).toBe(false);
  await giveWay(PIECE + 1);
  expect(isLater).toBe(true);
});
