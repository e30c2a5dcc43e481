/** The terminal is asked for its name, and what it says does not reach the draft. */
import { expect, test } from "vitest";
import { openTerminalWithModel } from "../../support/processes/tui-terminal.ts";

test("the name that the terminal tells among the keys is not typed", async () => {
  const { terminal } = await openTerminalWithModel({ columns: 80, rows: 24 });
  await terminal.until("Type a message");
  expect(terminal.output().split("\u001b[>0q")).toHaveLength(2);
  terminal.type("one \u001bP>|kitty(0.41.1)\u001b\\two");
  await terminal.untilDraft("one two");
});
