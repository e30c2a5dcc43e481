/** Turns that follow a skill: the tools that are left, its files and scripts, and whose words it is. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { digestOf } from "../../../../plugins/home/skills/bundle.ts";
import { temporaryFolder } from "../../../support/home.ts";
import { testOnSqlite } from "../../../support/run/engine.ts";
import type { TestTool } from "../../../support/services/agent.ts";
import { BILL, doubtsOf, IBAN, office, pay } from "../../../support/services/office.ts";

type Office = Awaited<ReturnType<typeof office>>;

const load = { calls: [{ name: "skill_load", arguments: { name: "bills" } }] };
const PAYING = { calls: [pay("p", IBAN)] };
const DONE = { text: "Done." };
const skillOf = (more = "", text = BILL) => `---\nname: bills\ndescription: Pays bills.\n${more}---\n${text}`;

/** As `postern skill add` does once the operator has agreed. */
async function add({ kernel }: Office, files: Readonly<Record<string, string>>) {
  const bytes = new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]));
  const digest = digestOf(bytes);
  const origin = { kind: "folder", reference: "/elsewhere/bills", digest } as const;
  await kernel.service("addedSkills").put({ name: "bills", digest, origin }, bytes);
}

function homeWith(files: Readonly<Record<string, string>>): string {
  const home = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    const file = join(home, "skills/bills", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return home;
}

const namesIn = ({ model }: Office) => model.requests.at(-1)?.tools?.map((tool) => tool.function?.name);
const outcomes = (items: readonly { readonly type: string }[]) =>
  items.flatMap((item) => ("outcome" in item ? [item.outcome] : []));

describe("whose words a skill is", () => {
  // On PostgreSQL the operator's files are in the database.
  testOnSqlite("the operator's own vouches for a destination", async () => {
    const desk = await office({}, { home: homeWith({ "SKILL.md": skillOf() }) });
    desk.model.script(load, PAYING, DONE);
    expect(await desk.say("Pay my bills")).toMatchObject({ status: "completed" });
    expect(desk.sent).toHaveLength(1);
  });

  test("one from elsewhere is shown as it is and vouches for nothing, read or only described", async () => {
    const desk = await office();
    await add(desk, { "SKILL.md": skillOf(), "references/more.md": BILL });
    desk.model.script(load, PAYING);
    const read = await desk.say("Pay my bills");
    const shown = JSON.stringify(desk.model.requests.at(-1)?.messages.at(-1));
    expect(shown).not.toContain("<tool-output>");
    expect(doubtsOf(read.gate)[0]).toMatchObject({ value: IBAN, origin: { kind: "skill", name: "bills" } });
    expect(doubtsOf(read.gate)[0]?.sentence).toContain("the skill bills, which came from elsewhere");

    const reference = { name: "skill_load", arguments: { name: "bills", file: "references/more.md" } };
    desk.model.script({ calls: [reference] }, PAYING);
    expect(doubtsOf((await desk.say("Pay my bills")).gate)).not.toEqual([]);

    await add(desk, { "SKILL.md": `---\nname: bills\ndescription: ${BILL}\n---\nPay.` });
    desk.model.script(PAYING);
    expect(doubtsOf((await desk.say("Pay my bills")).gate)[0]).toMatchObject({ origin: { kind: "skill" } });
    expect(desk.sent).toEqual([]);
  });

  testOnSqlite("nobody's skill takes the name of the operator's", async () => {
    const desk = await office({}, { home: homeWith({ "SKILL.md": skillOf("", "Ask me.") }) });
    await add(desk, { "SKILL.md": skillOf() });
    desk.model.script(load, DONE);
    const { items } = await desk.say("Pay my bills");
    expect(outcomes(items)).toEqual([
      expect.objectContaining({ output: expect.stringContaining("Ask me.") }),
    ]);
    expect(await desk.kernel.service("skills").problems()).toEqual([
      { folder: "bills", why: "another folder has a skill named bills" },
    ]);
  });
});

describe("allowed-tools", () => {
  const narrow = {
    "SKILL.md": skillOf("allowed-tools: send_mail Bash(git:*) no_such_tool\n", "Write a mail."),
  };

  test("leaves a turn that follows the skill these tools only, and the next turn all of them", async () => {
    const desk = await office();
    await add(desk, narrow);
    desk.model.script(load, PAYING, DONE);
    const { items, thread } = await desk.say(`Pay 100 to ${IBAN}`);
    expect(outcomes(items).at(-1)).toMatchObject({ code: "tool_not_allowed" });
    expect(namesIn(desk)).toEqual(expect.arrayContaining(["send_mail", "skill_load"]));
    expect(namesIn(desk)).not.toContain("send_money");
    expect(namesIn(desk)).not.toContain("memory_write");
    desk.model.script(PAYING, DONE);
    await desk.say(`Pay 100 to ${IBAN}`, thread);
    expect(desk.sent).toHaveLength(1);
  });

  test("holds over a gate, and a second skill cannot give back what the first took", async () => {
    const desk = await office({ TOOL_APPROVALS: "send_mail=ask,*=allow" });
    await add(desk, narrow);
    const mail = { calls: [{ name: "send_mail", arguments: { to: "ann@example.com" } }] };
    desk.model.script(load, mail);
    const { gate } = await desk.say("Mail ann@example.com");
    expect(gate?.type).toBe("approval");
    desk.model.script(PAYING, DONE);
    const { items } = await desk.answer(gate, "once");
    expect(outcomes(items).at(-1)).toMatchObject({ code: "tool_not_allowed" });
    expect(desk.sent).toHaveLength(1);
  });
});

describe("the files of a skill", () => {
  const files = {
    "SKILL.md": skillOf("", "Run it."),
    "scripts/sum.ts": "return args.a + 1;",
    "scripts/old.py": "print(1)",
    "assets/form.txt": "a form",
    "assets/icons/x.bin": "\0",
  };

  test("scripts are run by run-code, with the folder and whose words they are", async () => {
    const made: unknown[] = [];
    const runCode: TestTool = {
      hosts: [],
      params: { code: "content" },
      run: (params) => ({ status: "ok", output: `ran ${made.push(params)}` }),
    };
    const desk = await office({}, { tools: { "run-code": runCode } });
    await add(desk, files);
    const run = (script: string) => ({
      calls: [{ name: "skill_run", arguments: { name: "bills", script, args: { a: 1 } } }],
    });
    desk.model.script(
      load,
      run("scripts/sum.ts"),
      run("scripts/old.py"),
      run("scripts/none.js"),
      run("../x.js"),
      DONE,
    );
    const { items } = await desk.say("Run it");
    expect(made).toEqual([{ code: 'const args = {"a":1}; return args.a + 1;' }]);
    expect(outcomes(items)[0]).toMatchObject({
      output: expect.stringContaining("scripts/old.py (not runnable here)"),
    });
    expect(outcomes(items).slice(1)).toMatchObject([
      { output: "ran 1" },
      { code: "not_runnable" },
      { code: "no_script" },
      { code: "no_script" },
    ]);
    expect(
      items.find(
        (item) =>
          item.type === "tool_result" && item.outcome.status === "ok" && item.outcome.output === "ran 1",
      ),
    ).toMatchObject({
      origins: [{ kind: "tool", name: "run-code" }],
    });
  });

  test("without run-code a script says what is missing", async () => {
    const desk = await office();
    await add(desk, files);
    desk.model.script(
      { calls: [{ name: "skill_run", arguments: { name: "bills", script: "scripts/sum.ts" } }] },
      DONE,
    );
    expect(outcomes((await desk.say("Run it")).items)).toMatchObject([{ code: "no_such_tool" }]);
  });

  test("are copied into the workspace when asked for, as a stranger's, and never over what is there", async () => {
    const desk = await office();
    await add(desk, files);
    const copy = (file: string, to?: string) => ({
      calls: [{ name: "skill_copy", arguments: { name: "bills", file, ...(to !== undefined && { to }) } }],
    });
    desk.model.script(
      copy("assets", "/work"),
      copy("assets/form.txt"),
      copy("assets/form.txt"),
      copy("no.txt"),
      DONE,
    );
    const { items } = await desk.say("Copy the form");
    expect(outcomes(items)).toMatchObject([
      { output: '{"copied":["/work/assets/form.txt","/work/assets/icons/x.bin"]}' },
      { output: '{"copied":["/form.txt"]}' },
      { status: "error" },
      { code: "no_file" },
    ]);
    const found = await desk.kernel.service("workspace").find("ann", "/form.txt");
    expect(found).toMatchObject({ bytes: 6, origins: [{ kind: "skill", name: "bills" }] });
  });
});
