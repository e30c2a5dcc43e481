/** Calls as one line, through the keys of a real terminal. */
import { expect, test } from "vitest";
import { openTerminalWithModel } from "../../support/processes/tui-terminal.ts";

test("calls stand in a line each while the turn runs, then in one that Enter opens and closes", async () => {
  const { model, terminal } = await openTerminalWithModel({ columns: 80, rows: 24 });
  const calls = Array.from({ length: 3 }, () => ({ name: "memory_tree", arguments: {} }));
  const said = Promise.withResolvers<string>();
  model.script({ calls }, () => ({ text: ["All", said.promise] }));
  terminal.type("Look around\r");
  await terminal.until("● All");
  expect(terminal.lines().filter((line) => line.includes("memory_tree"))).toEqual([]);
  const [, folded] = /( +✓ ▸ Looked through the memory 3 times {2}3 calls)/.exec(terminal.text()) ?? [];
  expect(folded).toBeDefined();
  said.resolve(" is well.");
  await terminal.until("All is well.");
  terminal.press("tab", "enter");
  await terminal.until((seen) => seen.lines().filter((line) => line.includes("memory_tree")).length === 3);
  await terminal.until("✓ ▾ Looked through the memory 3 times  3 calls");
  terminal.press("enter");
  await terminal.until((seen) => !seen.text().includes("memory_tree"));
  terminal.type("next");
  await terminal.untilDraft("next");
});
