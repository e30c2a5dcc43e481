/** Files of the workspace at the terminal: written by an answer, listed, undone, completed and attached. */
import { expect, test } from "vitest";
import { completeKept } from "../../../plugins/tui/files/mentions.ts";
import { openTerminalWithModel } from "../../support/processes/tui-terminal.ts";

test("an answer writes a file, /files shows it, @ completes and attaches it, /undo takes it back and brings it again", async () => {
  const { model, terminal } = await openTerminalWithModel({ rows: 50, columns: 100 });
  const run = async (line: string, ...sights: string[]) => {
    terminal.type(line);
    await terminal.untilDraft(line);
    terminal.press("enter");
    for (const sight of sights) await terminal.until(sight);
    await terminal.until((seen) => !seen.lines().at(-2)?.includes(line));
  };
  await run("/files", "This folder is empty.");
  await run("/undo", "No answer in this thread has changed a file.");
  const text = "# Garden\n\nPeas and leeks.\n";
  model.script(
    { calls: [{ name: "workspace_write", arguments: { path: "/plans/garden.md", text } }] },
    { text: "Written." },
  );
  await run("Write a plan", "Written.", "Enter to send");
  terminal.press("ctrlL");
  await run("/files", "/plans/");
  await run("/files /plans/garden.md", "Peas and leeks.", "version 1");

  terminal.press("ctrlL");
  terminal.type("What is in @gar");
  await terminal.untilDraft("What is in @gar");
  terminal.press("tab");
  await terminal.untilDraft("What is in @/plans/garden.md");
  model.otherwise({ text: "Peas." });
  terminal.press("enter");
  await terminal.until("+ garden.md, 26 bytes");
  await terminal.until("Peas.");
  expect(JSON.stringify(model.requests.at(-1)?.messages.at(-1))).toContain("Peas and leeks.");
  // Whoever wrote what is pasted must not choose what is sent.
  terminal.paste("See @/plans/garden.md");
  await terminal.untilDraft("See @/plans/garden.md");
  terminal.press("enter");
  await terminal.until("Not attached, since the text was pasted");

  terminal.press("ctrlL");
  await run("/undo", "Undone:", "new /plans/garden.md");
  await run("/files", "This folder is empty.");
  terminal.press("ctrlL");
  await run("/undo", "Brought back what was undone:");
  await run("/files /plans/garden.md", "Peas and leeks.", "version 3");
});

test("paths are completed one folder at a time, and by the name of a file", () => {
  const kept = ["/notes/", "/notes/a.md", "/notes/deep/", "/notes/deep/b.md", "/sales.csv"];
  expect(completeKept("no", kept)).toEqual(["/notes/"]);
  expect(completeKept("/notes/", kept)).toEqual(["/notes/", "/notes/a.md", "/notes/deep/"]);
  expect(completeKept("b", kept)).toEqual(["/notes/deep/b.md"]);
  expect(completeKept("", kept)).toEqual(["/notes/", "/sales.csv"]);
  expect(completeKept("x", kept)).toEqual([]);
});
