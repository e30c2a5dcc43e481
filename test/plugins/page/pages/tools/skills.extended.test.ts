/** Skills on the Tools page: whose words they are, and what they want. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { digestOf } from "../../../../../plugins/home/skills/bundle.ts";
import { findFaults } from "../../../../support/processes/axe.ts";
import { describeInBrowser, openSignedIn, useBrowser } from "../../../../support/processes/browser.ts";
import { testOnSqlite } from "../../../../support/run/engine.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../../support/services/gateway.ts";

async function openWithSkills() {
  const gateway = await openGateway({ variables: { MEMORY_VECTORS: "false" } });
  const folder = (name: string) => join(gateway.service.home, "skills", name);
  for (const name of ["soup", "broken"]) mkdirSync(folder(name), { recursive: true });
  writeFileSync(
    join(folder("soup"), "SKILL.md"),
    "---\nname: soup\ndescription: How to cook soup.\n---\nBoil.",
  );
  writeFileSync(join(folder("broken"), "SKILL.md"), "No front matter.");
  const files = new Map(
    Object.entries({
      "SKILL.md": "---\nname: forms\ndescription: Fills\u202e in forms.\nallowed-tools: mail\n---\nFill.",
      "scripts/fill.js": "1;",
      "scripts/fill.py": "1",
    }).map(([path, text]) => [path, Buffer.from(text)]),
  );
  const origin = { kind: "folder", reference: "/downloads/forms", digest: "" } as const;
  await gateway.service.service("addedSkills").put({ name: "forms", digest: digestOf(files), origin }, files);
  return gateway;
}

testOnSqlite(
  "GET /api/skills says whose each is; only operators see where from, and what is broken",
  async () => {
    const gateway = await openWithSkills();
    const { skills, problems } = (await gateway.ask("/api/skills")).body;
    const forms = { name: "forms", source: "added", allowed_tools: ["mail"], scripts: ["scripts/fill.js"] };
    expect(skills).toMatchObject([
      { name: "soup", source: "own", description: "How to cook soup.", scripts: [] },
      { ...forms, from: "/downloads/forms", agreed_at: expect.any(String) },
    ]);
    expect(problems).toMatchObject([{ folder: "broken" }]);
    const token = await gateway.addUser("ann");
    const { body } = await gateway.ask("/api/skills", { token });
    expect(body).toMatchObject({ skills: [{ name: "soup" }, forms], problems: [] });
    expect(JSON.stringify(body)).not.toContain("/downloads");
  },
);

describeInBrowser("the tools page", () => {
  useBrowser();

  test("lists skills with whose words they are and what they want", async () => {
    const gateway = await openWithSkills();
    const page = await openSignedIn(gateway, OPERATOR_TOKEN, "tools", { width: 390 });
    const card = page.getByRole("article", { name: "forms" });
    await card.getByText("Details", { exact: true }).click();
    await card.getByText("keeps only these tools: mail.").waitFor();
    const shown = String(await card.textContent());
    expect(shown).toContain("formsagreed toFills\\u{202e} in forms.");
    expect(shown).toContain("From /downloads/forms, agreed to on");
    expect(shown).toContain("Its words are a stranger's");
    expect(shown).toContain("It can run scripts/fill.js in the sandbox.");
    await page.getByRole("article", { name: "soup" }).getByText("the operator's own").waitFor();
    await page.getByText("broken cannot be used").waitFor();
    expect(await findFaults(page)).toEqual([]);
  });
});
