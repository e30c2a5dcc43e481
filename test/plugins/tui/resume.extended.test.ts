/** Going on with a thread from the shell, as the line at quitting says. */
import { expect, test } from "vitest";
import { openTerminal, openTerminalWithModel } from "../../support/processes/tui-terminal.ts";

test("quitting says how to go on with the thread; that opens it, and an unknown one is refused", async () => {
  const { model, terminal } = await openTerminalWithModel();
  model.otherwise({ text: "An answer to come back to." });
  terminal.type("First question");
  await terminal.until("› First question");
  terminal.press("enter");
  await terminal.until("An answer to come back to.");
  await terminal.until("Enter to send");
  terminal.press("ctrlC");
  expect(await terminal.exited).toBe(0);
  // On the screen the person had before.
  await terminal.until("To continue this thread: postern --thread ");
  const [, thread = ""] = /postern --thread ([0-9a-f-]{36})/.exec(terminal.text()) ?? [];
  const { home } = terminal;

  const again = openTerminal({ home, args: ["--thread", thread.slice(0, 30)], firstSight: "Enter to send" });
  await again.until("An answer to come back to.");
  expect(again.text()).toContain("First question");
  again.press("ctrlC");
  expect(await again.exited).toBe(0);

  const refused = openTerminal({ home, args: ["--thread", "ffffffff"] });
  expect(await refused.exited).toBe(1);
  await refused.until('There is no thread ffffffff. "postern --continue" opens the newest');
});
