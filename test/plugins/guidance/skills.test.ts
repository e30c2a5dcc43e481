import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadTool, skillSections, skillTools } from "../../../plugins/guidance/skills.ts";
import { openFolderFiles } from "../../../plugins/home/folder.ts";
import type { Skills } from "../../../plugins/home/services.ts";
import { createSkills } from "../../../plugins/home/skills/skills.ts";
import { temporaryFolder } from "../../support/home.ts";

const skillPrompt = async (skills: Pick<Skills, "list">) =>
  (await skillSections(skills)).map(({ text }) => text).join("\n");

function homeWith(skills: Readonly<Record<string, string>>): string {
  const home = temporaryFolder();
  for (const [folder, text] of Object.entries(skills)) {
    mkdirSync(join(home, "skills", folder), { recursive: true });
    writeFileSync(join(home, "skills", folder, "SKILL.md"), text);
  }
  return home;
}

const soup = "---\nname: soup\ndescription: How to cook soup\n---\n\nBoil water.\n";

async function load(home: string, name: string) {
  return loadTool(createSkills(openFolderFiles(home))).run({ name }, { user: "ann", thread: "t" });
}

test("skills are named in the prompt and their text is loaded on demand", async () => {
  const home = homeWith({
    soup,
    bread: '---\r\nname: "bread"\r\ndescription: >\r\n  How to bake\r\n  bread\r\n---\r\nKnead.',
  });
  const prompt = await skillPrompt(createSkills(openFolderFiles(home)));
  expect(prompt).toContain("- bread: How to bake bread\n- soup: How to cook soup");
  expect(prompt).not.toContain("Boil water");
  expect(await load(home, "Soup")).toEqual({
    status: "ok",
    output: JSON.stringify({ name: "soup", text: "Boil water." }),
  });
});

test("the tools of skills are offered where there are skills", async () => {
  const offered = async (home: string) => {
    const tools = skillTools(createSkills(openFolderFiles(home)), undefined);
    return await Promise.all(tools.map((tool) => tool.isOffered?.({ user: "ann" })));
  };
  expect(await offered(homeWith({ soup }))).toEqual([true, true]);
  expect(await offered(homeWith({}))).toEqual([false, false]);
});

test.for([
  "required_tools: weather, mail",
  "required_tools: [weather, 'mail']",
  'required_tools:\n  - weather\n  - "mail"',
  "required_tools:\n- weather\n- mail",
])("required tools are read from the front matter: %j", async (line) => {
  const home = homeWith({ soup: soup.replace("name: soup", `name: soup\n${line}`) });
  const required: string[] = [];
  const require = (tools: readonly string[]) => void required.push(...tools);
  await loadTool(createSkills(openFolderFiles(home))).run(
    { name: "soup" },
    { user: "ann", thread: "t", require },
  );
  expect(required).toEqual(["weather", "mail"]);
});

test("without skills the prompt has no section, and a missing one is told with those there are", async () => {
  expect(await skillPrompt(createSkills(openFolderFiles(temporaryFolder())))).toBe("");
  expect(await load(homeWith({ soup }), "cake")).toEqual({
    status: "error",
    code: "no_skill",
    message: 'There is no skill "cake". There are: soup.',
  });
});

test("a malformed skill is reported and the others work", async () => {
  const home = homeWith({
    soup,
    again: soup,
    bare: "no front matter",
    nameless: "---\nname: x\n---\ntext",
    odd: "---\nname: ../up\ndescription: d\n---\n",
    huge: `---\nname: huge\ndescription: d\n---\n${"x".repeat(70_000)}`,
  });
  mkdirSync(join(home, "skills", "empty"));
  writeFileSync(join(home, "skills", "README.md"), "not a skill");
  const skills = createSkills(openFolderFiles(home));
  const problems = await skills.problems();
  expect((await skills.list()).map(({ name }) => name)).toEqual(["soup"]);
  expect(Object.fromEntries(problems.map(({ folder, why }) => [folder, why]))).toMatchObject({
    soup: expect.stringContaining("another folder"),
    bare: expect.stringContaining("front matter"),
    nameless: expect.stringContaining("no description"),
    odd: expect.stringContaining("letters"),
    huge: expect.stringContaining("64 KiB"),
    empty: expect.stringContaining("no SKILL.md"),
  });
  expect(await load(home, "bare")).toMatchObject({ status: "error", code: "bad_skill" });
});

test("no link and no name leads out of the skills folder", async () => {
  const home = homeWith({ soup });
  writeFileSync(join(home, "SKILL.md"), "---\nname: leak\ndescription: d\n---\nsecret");
  mkdirSync(join(home, "skills", "leak"));
  symlinkSync(join(home, "SKILL.md"), join(home, "skills", "leak", "SKILL.md"));
  symlinkSync(home, join(home, "skills", "linked"));
  const skills = createSkills(openFolderFiles(home));
  const problems = await skills.problems();
  expect((await skills.list()).map(({ name }) => name)).toEqual(["soup"]);
  expect(problems).toEqual([{ folder: "leak", why: "its SKILL.md links outside the skills folder" }]);
  for (const name of ["..", "../", "leak", "linked"])
    expect(await load(home, name)).toMatchObject({ status: "error" });
});

test("skills may come, change and go while the service runs", async () => {
  const home = homeWith({ soup });
  const skills = createSkills(openFolderFiles(home));
  expect(await skillPrompt(skills)).toContain("cook soup");
  writeFileSync(join(home, "skills", "soup", "SKILL.md"), soup.replace("cook soup", "cook a better soup"));
  await expect.poll(() => skillPrompt(skills)).toContain("better soup");
  rmSync(join(home, "skills", "soup"), { recursive: true });
  await expect.poll(() => skillPrompt(skills)).toBe("");
});
