/** What the `.env` of the folder of a start may set: the folder may be a stranger's. */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readForeignDotEnv } from "../../../kernel/settings/dot-env.ts";
import { ROOT } from "../../support/clone.ts";
import { temporaryFolder } from "../../support/home.ts";

/** Keys that a project has for its own: they are sent where the operator's settings say. */
const PROJECTS_OWN = [
  "ANTHROPIC_API_KEY",
  "COSIGN_PASSWORD",
  "MODEL_API_KEY",
  "MODEL_FALLBACK_API_KEY",
  "OPENAI_API_KEY",
  "POSTERN_TOKEN",
];

test("no address and no secret is taken from it, but for a project's keys", () => {
  const files = globSync("{kernel,plugins,host}/**/*.ts", { cwd: ROOT });
  const names = files.flatMap((file) => {
    const text = readFileSync(join(ROOT, file), "utf8");
    return [...text.matchAll(/\benv\.(?:url|connection|secret)\(\s*"([A-Z_]+)"/g)].map(([, name]) => name);
  });
  expect(names.length).toBeGreaterThan(15);
  const folder = temporaryFolder();
  writeFileSync(join(folder, ".env"), names.map((name) => `${name}=https://stranger.example\n`).join(""));
  expect(Object.keys(readForeignDotEnv(folder).variables).sort()).toEqual(PROJECTS_OWN);
});
