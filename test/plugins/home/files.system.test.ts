/** The operator's files where several nodes share a database. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { NO_USAGE } from "../../../kernel/kit/turns.ts";
import { identitySections } from "../../../plugins/guidance/identity.ts";
import { skillSections } from "../../../plugins/guidance/skills.ts";
import { homeFilesOf } from "../../../plugins/home/open.ts";
import { FILE_TABLES, openRowFiles } from "../../../plugins/home/rows.ts";
import type { Skills } from "../../../plugins/home/services.ts";
import { createSkills } from "../../../plugins/home/skills/skills.ts";
import { readPrices } from "../../../plugins/models/spending/prices.ts";
import { temporaryFolder } from "../../support/home.ts";
import { openPostgres } from "../../support/processes/engines.ts";
import { postern } from "../../support/processes/postern.ts";
import { describePostgres, freshDatabase } from "../../support/processes/postgres/database.ts";
import { afterThisTest } from "../../support/undo.ts";

const SOUP = "---\nname: soup\ndescription: How to cook soup\n---\n\nBoil water.\n";
const KEY = Buffer.alloc(32, 7).toString("base64");

const skillPrompt = async (skills: Pick<Skills, "list">) =>
  (await skillSections(skills)).map(({ text }) => text).join("\n");

async function openFiles(url: string) {
  const store = await openPostgres(url);
  afterThisTest(() => store.close());
  const files = openRowFiles(await store.tables("home files", FILE_TABLES), store.changes);
  afterThisTest(files.close);
  return files;
}

function homeWith(files: Readonly<Record<string, string>>): string {
  const home = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  return home;
}

/** Each command in a process of its own, as on a machine of its own. */
const home = (url: string) => async (folder: string, args: readonly string[]) =>
  postern(args[0] === "doctor" ? args : ["home", ...args], {
    env: { POSTERN_HOME: folder, STORE_URL: url, POSTERN_SECRETS_KEY: KEY },
    cwd: folder,
  });

test("with SQLite the home's files are used as they are, so there is nothing to push", async () => {
  const folder = temporaryFolder();
  const { code, stderr } = await postern(["home", "push"], { env: { POSTERN_HOME: folder }, cwd: folder });
  expect(code).toBe(2);
  expect(stderr).toContain("This is for STORE_URL=postgres://");
});

describePostgres("the operator's files of a fleet", () => {
  test("what one node writes all nodes use: identity, skills and prices", async () => {
    const url = await freshDatabase(afterThisTest);
    const [first, second] = [await openFiles(url), await openFiles(url)];
    const skills = createSkills(second);
    const prices = await readPrices(homeFilesOf(second));
    second.onChange(() => void prices.readAgain());
    const identity = async () =>
      (await identitySections(homeFilesOf(second), undefined, "ann")).map(({ text }) => text).join();
    expect([await identity(), await skillPrompt(skills)]).toEqual(["", ""]);
    const own = '{"models":{"mystery":{"prices":[{"input":"1","output":"2"}]}}}';
    await first.change(
      new Map([
        ["AGENTS.md", "Answer briefly."],
        ["skills/soup/SKILL.md", SOUP],
        ["models.json", own],
      ]),
      [],
    );
    await expect.poll(identity).toContain("Answer briefly.");
    await expect.poll(() => skillPrompt(skills)).toContain("cook soup");
    const tokens = { inputTokens: 1, outputTokens: 2, cachedTokens: 0, reasoningTokens: 0 };
    const cost = () => prices.add(NO_USAGE, { provider: "openai", name: "mystery" }, tokens, false).totalCost;
    await expect.poll(cost).toBe("0.000005");
    await first.change(new Map(), ["skills/soup/SKILL.md"]);
    await expect.poll(() => skillPrompt(skills)).toBe("");
  });

  test("push sends what is new or changed, pull writes it; only --delete removes", async () => {
    const run = home(await freshDatabase(afterThisTest));
    const author = homeWith({
      "SOUL.md": "Be kind.",
      "skills/soup/SKILL.md": SOUP,
      "skills/soup/notes.txt": "x",
    });
    const other = homeWith({ "USER.md": "Ann likes trains." });
    const dry = await run(author, ["push", "--dry-run"]);
    expect(dry.stdout).toBe("SOUL.md: would be added\nskills/soup/SKILL.md: would be added\n");
    expect((await run(author, ["push"])).stdout).toBe("SOUL.md: added\nskills/soup/SKILL.md: added\n");
    const pulled = await run(other, ["pull"]);
    expect(pulled.stdout).toContain("skills/soup/SKILL.md: added\n");
    expect(pulled.stdout).toContain(`USER.md: only in ${other}, left there (--delete removes it)`);
    expect(readFileSync(join(other, "skills", "soup", "SKILL.md"), "utf8")).toBe(SOUP);
    writeFileSync(join(other, "SOUL.md"), "Be brief.");
    const { stdout: found } = await run(other, ["doctor"]);
    expect(found).toMatch(
      /ok\s+agent files\s+SOUL\.md, skills\/soup\/SKILL\.md in the database, for all nodes/,
    );
    expect(found).toMatch(/warn\s+home files\s+USER\.md, SOUL\.md in .* "postern home push" sends them/);
    const pushed = await run(other, ["push", "--json"]);
    expect(JSON.parse(pushed.stdout)).toEqual({
      dry_run: false,
      added: ["USER.md"],
      changed: ["SOUL.md"],
      removed: [],
      kept: [],
    });
    expect((await run(author, ["push", "--delete"])).stdout).toBe("SOUL.md: changed\nUSER.md: removed\n");
    await run(other, ["pull", "--delete"]);
    expect(existsSync(join(other, "USER.md"))).toBe(false);
    expect((await run(other, ["pull"])).stdout).toBe("Nothing to do: both are the same.\n");
  });

  test("what would trouble every node is refused, and nothing is sent", async () => {
    const url = await freshDatabase(afterThisTest);
    const broken = homeWith({ "SOUL.md": "Be kind.", "skills/odd/SKILL.md": "no front matter" });
    const { code, stderr } = await home(url)(broken, ["push"]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/Nothing was sent.*\n {2}skills\/odd: /)]);
    const priced = homeWith({ "models.json": "cheap" });
    expect(await home(url)(priced, ["push"])).toMatchObject({
      code: 78,
      stderr: expect.stringContaining("models.json is not a table of models"),
    });
    expect((await (await openFiles(url)).all()).size).toBe(0);
  });
});
