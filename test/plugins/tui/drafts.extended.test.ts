/** What a person wrote is theirs: no key and no refusal takes it away for good. */
import { expect, test } from "vitest";
import { openTerminalWithModel } from "../../support/processes/tui-terminal.ts";

const SHOWN = "› ";

test("Esc says that another clears the draft; that one does, and Ctrl+P brings it back", async () => {
  const { terminal } = await openTerminalWithModel();
  await terminal.until("Type a message");
  terminal.type("a long thought");
  await terminal.until(`${SHOWN}a long thought`);
  terminal.press("escape");
  await terminal.until("Esc again to clear");
  expect(terminal.lines().join("\n")).toContain("a long thought");
  terminal.press("escape");
  await terminal.until((seen) => !seen.lines().join("\n").includes("a long thought"));
  terminal.press("ctrlP");
  await terminal.until(`${SHOWN}a long thought`);
});

test("a refused message goes back into the composer, and out of the conversation", async () => {
  const { terminal, model } = await openTerminalWithModel();
  const arguments_ = { goal: "Keep things tidy." };
  model.script({ calls: [{ name: "mission_create", arguments: arguments_ }] });
  await terminal.until("Type a message");
  terminal.type("Plan");
  terminal.press("enter");
  await terminal.until("Deny");
  terminal.type("zebra or lion");
  await terminal.until(`${SHOWN}zebra or lion`);
  terminal.press("enter");
  await terminal.until("answer");
  await terminal.until(`${SHOWN}zebra or lion`);
  expect(terminal.lines().join("\n").split("zebra or lion")).toHaveLength(2);
});

test("of several that are stopped each says which it was", async () => {
  const { terminal, model } = await openTerminalWithModel();
  model.otherwise({ text: ["Working "], end: "stall" });
  await terminal.until("Type a message");
  for (const message of ["first one", "second one"]) {
    terminal.type(message);
    await terminal.until(`${SHOWN}${message}`);
    terminal.press("enter");
    // A key that comes along with the next letters would be taken for pasted text.
    await terminal.until((seen) => !seen.lines().at(-2)?.includes(message));
  }
  await terminal.until("Working");
  terminal.press("escape");
  await terminal.until("Cancelled: second one");
  await terminal.until("Cancelled: first one");
});
