import { expect, test } from "vitest";
import { estimateTokens } from "../../../../plugins/agent/threads/tokens.ts";
import type { ModelAttachment } from "../../../../plugins/models/services.ts";

const carrying = (kind: ModelAttachment["kind"], mime: string, bytes: number) =>
  estimateTokens({ role: "user", text: "", attachments: [{ kind, mime, data: new Uint8Array(bytes) }] }) -
  estimateTokens({ role: "user", text: "" });

test("an image counts about a thousand tokens at any size, other attachments by their bytes", () => {
  expect(carrying("image", "image/png", 10)).toBe(carrying("image", "image/png", 5_000_000));
  expect(carrying("image", "image/png", 10)).toBeCloseTo(1000, -2);
  expect(carrying("file", "text/plain", 4000)).toBeCloseTo(1000, -2);
  expect(carrying("file", "application/pdf", 500_000)).toBeGreaterThan(5000);
  expect(carrying("audio", "audio/wav", 320_000)).toBeGreaterThan(1000);
});

test("what a tool's result carries and what an assistant thought count too", () => {
  const call = { id: "c", name: "screenshot", params: "{}" };
  const result = { role: "tool", call, output: "", failed: false } as const;
  const image = { kind: "image", mime: "image/png", data: new Uint8Array(1) } as const;
  expect(estimateTokens({ ...result, attachments: [image] })).toBeGreaterThan(estimateTokens(result) + 900);
  const answer = { role: "assistant", text: "Yes.", calls: [] } as const;
  const thoughtful = { ...answer, reasoning: "x".repeat(400) };
  expect(estimateTokens(thoughtful)).toBe(estimateTokens(answer) + 100);
});
