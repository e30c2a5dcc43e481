/** What two hundred skills cost a turn that uses none of them: time beside a turn without skills, and tokens in its request. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { estimateTokens } from "../../plugins/agent/threads/tokens.ts";
import { skillSections } from "../../plugins/guidance/skills.ts";
import { openFolderFiles } from "../../plugins/home/folder.ts";
import { createAddedSkills, SKILL_TABLES } from "../../plugins/home/skills/added.ts";
import { digestOf } from "../../plugins/home/skills/bundle.ts";
import { createSkills } from "../../plugins/home/skills/skills.ts";
import { openStore } from "../../plugins/store/sqlite/store.ts";
import { openAgent } from "./support/agent.ts";
import { atMost, type Bench, compare, interleave, single } from "./support/bench.ts";
import { inFolder } from "./support/programs.ts";

const COUNT = 200;
const ROUNDS = 400;
/** As long as those of public skills are. */
const DESCRIPTION =
  "Reads, fills in and checks PDF forms, extracts text and tables from documents, and merges or splits them. Use it when somebody works with PDF files, or mentions forms, documents or extraction.";
/** A fast model on the net, where it answers a short question. */
const MODEL_MS = 300;

export const bench: Bench = {
  name: "skills",
  about: "two hundred skills before a turn: within 1.05× of a turn with none, and their tokens",
  run: (progress) =>
    inFolder(async (home) => {
      const store = openStore(join(home, "store.sqlite"), { durability: "normal" });
      const added = createAddedSkills(await store.tables("skills", SKILL_TABLES));
      const origin = { kind: "folder", reference: "/elsewhere", digest: "" } as const;
      for (let number = 0; number < COUNT; number++) {
        const name = `pdf-forms-${number}`;
        const text = `---\nname: ${name}\ndescription: ${DESCRIPTION}\n---\nDo it.`;
        const files = new Map([["SKILL.md", Buffer.from(text)]]);
        await added.put({ name, digest: digestOf(files), origin }, files);
        mkdirSync(join(home, "skills", name), { recursive: true });
        writeFileSync(join(home, "skills", name, "SKILL.md"), text);
      }
      const nowhere = openFolderFiles(join(home, "nowhere"));
      const none = createSkills(nowhere);
      const elsewhere = createSkills(nowhere, added);
      const own = createSkills(openFolderFiles(home));
      const stops: (() => Promise<unknown>)[] = [];
      const timed = async (skills: typeof none) => {
        const { agent, extend, turn } = await openAgent(store, home);
        extend({ preface: async () => ({ sections: await skillSections(skills) }) });
        stops.push(() => agent.stop());
        return async () => {
          const began = performance.now();
          await turn();
          return MODEL_MS + performance.now() - began;
        };
      };
      try {
        const work = {
          "no skills": await timed(none),
          "200 from elsewhere": await timed(elsewhere),
          "200 of one's own": await timed(own),
        };
        const goal = { ...atMost(1.05), must: true };
        const goals = { "200 from elsewhere": goal, "200 of one's own": goal };
        const passed = await interleave(work, ROUNDS, progress);
        const without = Object.entries(passed).map(([name, all]) => [name, all.map((ms) => ms - MODEL_MS)]);
        const text = (await skillSections(elsewhere)).map((section) => section.text).join("\n\n");
        return [
          ...compare(passed, { unit: "ms", goals, what: `counting ${MODEL_MS} ms for the model` }),
          ...compare(Object.fromEntries(without), { unit: "ms", what: "without the model" }),
          single("tokens of 200 skills in a request", estimateTokens({ role: "user", text }), "tokens"),
        ];
      } finally {
        for (const stop of stops) await stop();
        await store.close();
      }
    }),
};
