import { expect, onTestFinished, test, vi } from "vitest";
import { asTyped, setTypedCommand, waitFor, warn, whileAsking } from "../../../kernel/terminal/output.ts";

test("commands in hints begin as the person typed them, once", () => {
  onTestFinished(() => setTypedCommand("postern"));
  const hint = 'Run "postern doctor":\n  1. npx postern stop\n  2. npx postern@latest serve';
  expect(asTyped(hint)).toBe(hint);
  setTypedCommand("npx postern");
  expect(asTyped(hint)).toBe(hint.replace('"postern', '"npx postern'));
});

test("what takes seconds says for how long on a terminal, gives way to lines and questions, and is gone at the end", async () => {
  const written = terminal(true);
  const now = () => written.splice(0).join("");
  const work = Promise.withResolvers<string>();
  const result = waitFor("building weather", {}, () => work.promise);
  vi.advanceTimersByTime(12_000);
  expect(now()).toMatch(/\r\S+. building weather, 12 s\r$/);
  warn("fetching the compiler\n");
  expect(now()).toMatch(/^\r\S+fetching the compiler\n$/);
  const answer = Promise.withResolvers<boolean>();
  const asked = whileAsking(() => answer.promise);
  now();
  vi.advanceTimersByTime(5000);
  expect(now()).toBe("");
  answer.resolve(true);
  expect(await asked).toBe(true);
  vi.advanceTimersByTime(1000);
  expect(now()).toContain("building weather, 18 s");
  work.resolve("built");
  expect(await result).toBe("built");
  now();
  vi.advanceTimersByTime(5000);
  expect(now()).toBe("");
});

test("nothing of it is printed with --json or where there is no terminal", async () => {
  for (const [isTTY, json] of [
    [true, true],
    [false, false],
  ] as const) {
    const written = terminal(isTTY);
    const work = Promise.withResolvers<void>();
    const done = waitFor("building weather", { json }, () => work.promise);
    vi.advanceTimersByTime(5000);
    work.resolve();
    await done;
    expect(written).toEqual([]);
  }
});

/** What is written to a standard error that is a terminal or not, while the test moves the clock. */
function terminal(isTTY: boolean): string[] {
  const written: string[] = [];
  const before = process.stderr.isTTY;
  process.stderr.isTTY = isTTY;
  const write = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  onTestFinished(() => {
    process.stderr.isTTY = before;
    write.mockRestore();
    vi.useRealTimers();
  });
  return written;
}
