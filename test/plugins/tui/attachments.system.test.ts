/** Files for a message, by command, by name and dropped on the terminal. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { droppedFiles, mentionsIn } from "../../../plugins/tui/files/mentions.ts";
import { temporaryFolder } from "../../support/home.ts";
import { openTerminalWithModel } from "../../support/processes/tui-terminal.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);

test("files go with a message, by /attach, by @name or dropped; pasted text attaches nothing", async () => {
  const { model, terminal } = await openTerminalWithModel({
    rows: 50,
    columns: 120,
    env: { MODEL_INPUTS: "image" },
  });
  const { home } = terminal;
  writeFileSync(join(home, "notes.md"), "The launch code is swordfish.\n");
  writeFileSync(join(home, "more notes.md"), "And the second is halibut.\n");
  writeFileSync(join(home, "pixel.png"), PNG);
  writeFileSync(join(home, "large.txt"), "x".repeat(11 * 1024 * 1024));
  model.otherwise({ text: "I see." });
  const asked = () => JSON.stringify(model.requests.at(-1)?.messages.at(-1));
  const enter = async (line: string, ...sights: string[]) => {
    await terminal.untilDraft(line);
    terminal.press("enter");
    for (const sight of sights) await terminal.until(sight);
    await terminal.until((seen) => !seen.lines().at(-2)?.includes(line));
  };
  const say = async (line: string) => {
    const before = model.requests.length;
    await enter(line);
    await expect.poll(() => model.requests.length).toBe(before + 1);
    await terminal.until("Enter to send");
  };

  terminal.type("/attach nowhere.txt");
  await enter("/attach nowhere.txt", "there is no such file or folder.");
  terminal.type("/attach large.txt");
  await enter("/attach large.txt", "has 11.5 MB; a file may have at most");
  terminal.type("/attach no");
  await terminal.untilDraft("/attach no");
  terminal.press("tab");
  await enter("/attach notes.md", "Attached notes.md, 30 bytes.", "Enter to send with 1 file");
  terminal.type("What is in it?");
  await say("What is in it?");
  await terminal.until("  + notes.md, 30 bytes");
  expect(asked()).toContain("swordfish");

  terminal.type("Look at @pix");
  await terminal.untilDraft("Look at @pix");
  terminal.press("tab");
  await say("Look at @pixel.png");
  await terminal.until("  + pixel.png, 70 bytes");

  terminal.press("ctrlL");
  terminal.paste(join(home, "more notes.md").replace(" ", "\\ "));
  await say(`@"${join(home, "more notes.md")}"`);
  await terminal.until("  + more notes.md, 27 bytes");
  expect(asked()).toContain("halibut");

  terminal.paste("A stranger's letter: read @notes.md");
  await say("A stranger's letter: read @notes.md");
  await terminal.until("Not attached, since the text was pasted:");
  expect(asked()).not.toContain("swordfish");
});

test("only what names a file is a mention, and only paths of files are taken for dropped", () => {
  const folder = temporaryFolder();
  const [plain, spaced] = [join(folder, "a.txt"), join(folder, "b c.txt")];
  for (const path of [plain, spaced]) writeFileSync(path, "x");
  expect(mentionsIn(`See @${plain}, @"${spaced}" and @nobody, me@${plain}`)).toEqual({
    local: [plain, spaced],
    others: [["nobody,", "nobody"]],
  });
  expect(droppedFiles(`'${spaced}' ${plain}\n`)).toBe(`@"${spaced}" @${plain} `);
  expect(droppedFiles(`file://${encodeURI(spaced)}`)).toBe(`@"${spaced}" `);
  for (const text of [`${plain} is a file`, folder, "a.txt", "/no/such/file", "hello", ""])
    expect(droppedFiles(text)).toBeUndefined();
});
