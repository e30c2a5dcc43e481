/** Slash commands for the open thread, as a person uses them one after the other. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTerminalWithModel } from "../../support/processes/tui-terminal.ts";

const ANSWER = "Run this:\n\n1. First\n   ```sh\n   echo one\n   ```\n\n```sh\necho two\n```\n\nDone.";
const copied = (text: string) => `\u001b]52;c;${Buffer.from(text).toString("base64")}\u001b\\`;

test("copy, rename, export and delete the open thread, each refused in words where it cannot be done", async () => {
  const { model, terminal } = await openTerminalWithModel({ rows: 50, columns: 100 });
  model.otherwise({ text: ANSWER, usage: { input: 1200, output: 34 } });
  const run = async (line: string, ...sights: string[]) => {
    terminal.type(line);
    await terminal.untilDraft(line);
    terminal.press("enter");
    for (const sight of sights) await terminal.until(sight);
    await terminal.until((seen) => !seen.lines().at(-2)?.includes(line));
  };
  await run("/copy", "There is no answer to copy yet.");
  await run("/export", "There is no thread yet.");
  await run("/retry", "There is no thread yet.");
  await run("Give me commands", "Done.");

  // What the turn took, below its answer.
  await terminal.until((seen) => /Done\.\n {2}scripted · 1\.2k tokens in, 34 out\n/.test(seen.text()));

  await run("/copy", `Copied the answer: ${ANSWER.length} characters.`);
  expect(terminal.output()).toContain(copied(ANSWER));
  terminal.type("/copy c");
  await terminal.untilDraft("/copy c");
  terminal.press("tab");
  await terminal.untilDraft("/copy code");
  terminal.press("enter");
  await terminal.until("Copied the code block: 8 characters.");
  expect(terminal.output()).toContain(copied("echo two"));
  await run("/copy that", "/copy code its last code block");

  await run("/rename", "Write the new title after the command");
  await run("/rename Plans for May", "Renamed to Plans for May.");
  await terminal.until((seen) => seen.lines().at(-1)?.includes("Plans for May") === true);

  const file = join(terminal.home, "Plans for May.md");
  terminal.press("ctrlL");
  await run("/export", "Wrote the thread to");
  const written = readFileSync(file, "utf8");
  expect(written).toContain("# Plans for May");
  expect(written).toContain("echo two");
  terminal.press("ctrlL");
  await run("/export", "exists. Overwrite it?", "Enter to confirm");
  // No is preselected.
  terminal.press("enter");
  await terminal.until("Nothing was written.");
  await run("One more", "Done.", "Enter to send");
  await run("/export", "Enter to confirm");
  terminal.type("y");
  terminal.press("enter");
  await terminal.until("Wrote the thread to");
  expect(readFileSync(file, "utf8")).toContain("One more");
  expect(statSync(file).mode & 0o077).toBe(0);
  terminal.press("ctrlL");
  await run("/export out.json", "Wrote the thread to");
  expect(JSON.parse(readFileSync(join(terminal.home, "out.json"), "utf8")).turns).toHaveLength(2);
  await run("/export nowhere/out.md", "there is no such file or folder");

  terminal.press("ctrlL");
  model.otherwise({ text: "Another version." });
  await run("/retry", "Another version.", "Enter to send");
  // In place of the first, which the model was not shown.
  expect(terminal.text().split("Done.")).toHaveLength(2);
  expect(JSON.stringify(model.requests.at(-1)).split("echo two")).toHaveLength(2);

  terminal.press("ctrlL");
  model.offer("scripted", "gpt-5-mini", "large");
  await run("/model", "scripted (openai-compatible) answers here.", "• openai-compatible/gpt-5-mini");
  await run("/model zebra", "There is no model zebra here.");
  await run("/model gpt", "gpt-5-mini answers here from now on.");
  await terminal.until((seen) => seen.lines().at(-1)?.startsWith("gpt-5-mini · ") === true);
  await run("Once more", "gpt-5-mini · 10 tokens in");
  expect(model.requests.at(-1)?.model).toBe("gpt-5-mini");
  await run("/model default", "scripted, the configured model, answers here");

  await run("/bin", "The bin is empty.");
  await run("/delete", "Moved Plans for May to the bin.");
  await run("/threads", "No threads yet.");
  await run("/bin", "1. Plans for May — deleted just now, gone in 30 days");
  await run("/restore 2", "There is no thread 2 in the bin.");
  terminal.press("ctrlL");
  await run("/restore", "Restored Plans for May.");
  await terminal.until((seen) => seen.lines().at(-1)?.includes("Plans for May") === true);
  terminal.press("ctrlL");
  await run("/bin", "The bin is empty.");
  await run("/delete now", 'Delete "Plans for May" with 4 turns for good?', "Enter to confirm");
  terminal.press("enter");
  await terminal.until("Not deleted.");
  terminal.press("ctrlL");
  await run("/delete now", "Enter to confirm");
  terminal.type("y");
  terminal.press("enter");
  await terminal.until("Deleted Plans for May for good.");
  await run("/restore", "The bin is empty.");
  await run("/delete", "There is no thread yet.");
  expect(existsSync(file)).toBe(true);
  await run("/model large", "large answers in the thread that your next message starts.");
  await run("Who are you?", "large · 10 tokens in");
  expect(model.requests.at(-1)?.model).toBe("large");
  await run("/delete", "to the bin.");
  await run("/bin empty", "Delete all threads in the bin for good?", "Enter to confirm");
  terminal.type("y");
  terminal.press("enter");
  await terminal.until("Deleted 1 thread for good.");
});
