import { expect, onTestFinished, test } from "vitest";
import { asTyped, setTypedCommand } from "../../../kernel/terminal/output.ts";

test("commands in hints begin as the person typed them, once", () => {
  onTestFinished(() => setTypedCommand("postern"));
  const hint = 'Run "postern doctor":\n  1. npx postern stop\n  2. npx postern@latest serve';
  expect(asTyped(hint)).toBe(hint);
  setTypedCommand("npx postern");
  expect(asTyped(hint)).toBe(hint.replace('"postern', '"npx postern'));
});
