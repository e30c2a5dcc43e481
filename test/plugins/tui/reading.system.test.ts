/** Reading and copying: where somebody reads stays there, and the terminal keeps its own way to select and click. */
import { expect, test } from "vitest";
import { openTerminalWithModel } from "../../support/processes/tui-terminal.ts";

test("in a narrow terminal the link is one line; wheel and resize keep the place", async () => {
  const { model, terminal } = await openTerminalWithModel({
    columns: 60,
    rows: 30,
    env: { GATEWAY_ENABLED: "true" },
  });
  const link = /^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}$/m;
  await terminal.until((seen) => link.test(seen.copied()));
  expect(terminal.text()).not.toMatch(link);
  // Again at another width, and on one line where there is room.
  terminal.resize(44, 30);
  await terminal.until((seen) => link.test(seen.copied()));
  terminal.resize(100, 30);
  await terminal.until((seen) => seen.text().includes("  Open http://127.0.0.1:"));

  // The mouse stays the terminal's, so that text can be selected; only the wheel is asked for.
  expect(terminal.output()).toContain("\u001b[?1007h");
  expect(terminal.output()).not.toMatch(/\[\?100[0236]h/);

  const words = Array.from({ length: 400 }, (_, index) => `word${index}`);
  model.otherwise({ text: words.join(" ") });
  terminal.type("Go\r");
  await terminal.until("word399");
  terminal.type("one");
  terminal.press("ctrlJ");
  terminal.type("two");
  await terminal.until("  two");
  terminal.press("wheelUp", "wheelUp");
  await terminal.until("6 lines below");
  await terminal.until((seen) => !seen.text().includes("word399"));
  // The cursor is still in the last line of the draft.
  terminal.type("!");
  await terminal.until("  two!");

  const first = () => /word\d+/.exec(terminal.lines()[0] ?? "")?.[0];
  const read = first() ?? "";
  expect(read).toMatch(/^word/);
  for (const [columns, rows] of [
    [50, 30],
    [120, 20],
    [100, 30],
  ] as const) {
    terminal.resize(columns, rows);
    await expect.poll(() => terminal.lines()[0]).toMatch(new RegExp(`\\b${read}\\b`));
  }
  terminal.press("wheelDown");
  await expect.poll(first).not.toBe(read);
});
