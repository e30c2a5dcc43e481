/** The first frame, which is there before anything has started. */
import { expect, test } from "vitest";
import { type OpenTerminal, openTerminal } from "../../support/processes/tui-terminal.ts";

/** Looked for in all that was written: on a busy machine the frame may be gone before anybody looks. */
const hasStarted = (terminal: OpenTerminal) => terminal.output().includes("starting");

test("what is typed on the first frame is in the draft of the screen that follows", async () => {
  const terminal = openTerminal({ isReal: true });
  await terminal.until(hasStarted);
  terminal.type("ab");
  terminal.press("backspace");
  terminal.type("nd then");
  await terminal.until("Type a message");
  await terminal.untilDraft("and then");
});

test("Ctrl+C on the first frame ends it and gives the shell's screen back", async () => {
  const terminal = openTerminal({ isReal: true });
  await terminal.until(hasStarted);
  terminal.press("ctrlC");
  await terminal.exited;
  expect(terminal.output()).toContain("\u001b[?1049l");
  expect(terminal.output().lastIndexOf("\u001b[?1049l")).toBeGreaterThan(
    terminal.output().lastIndexOf("\u001b[?1049h"),
  );
});

test("a start that fails gives the shell's screen back before it says why", async () => {
  const terminal = openTerminal({ isReal: true, env: { GATEWAY_PORT: "not a port" } });
  expect(await terminal.exited).toBe(78);
  await terminal.until("GATEWAY_PORT");
});
