import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openTerminal } from "../../support/processes/tui-terminal.ts";

const README = fileURLToPath(new URL("../../../plugins/tui/README.md", import.meta.url));

test("the session in the README matches the screen", async () => {
  const terminal = openTerminal({ columns: 80, rows: 24, env: { GATEWAY_ENABLED: "false" } });
  await terminal.until("Type a message");
  const say = async (text: string, answer: string) => {
    terminal.type(text);
    await terminal.until(`› ${text}`);
    terminal.press("enter");
    await terminal.until(answer);
    await terminal.until("Enter to send");
  };
  terminal.press("ctrlL");
  await terminal.until((seen) => !seen.text().includes("Type a message"));
  await say("Remember that deploys are on Thursday.", "✓ ▸ Wrote notes");
  await say("Use the clock tool", "✓ ▸ clock");
  terminal.press("tab", "enter");
  await terminal.until('"time": "half past nine"');
  terminal.type("And now?");
  await terminal.until("› And now?");
  const session = terminal.text().replace(/\d+ ms/g, "5 ms");
  const drawn = readFileSync(README, "utf8").replace(
    /```text\n[\s\S]*?```/,
    () => `\`\`\`text\n${session}\n\`\`\``,
  );
  await expect(drawn).toMatchFileSnapshot(README);
});
