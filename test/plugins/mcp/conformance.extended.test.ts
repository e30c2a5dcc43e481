/** The protocol's official conformance suite against a real service, with a plugin of what its scenarios want. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { ROOT } from "../../support/clone.ts";
import { temporaryFolder } from "../../support/home.ts";
import { servePostern } from "../../support/processes/served.ts";
import { openSigningProxy } from "../../support/servers/signing-proxy.ts";
import { REVISIONS, type Revision } from "../../support/services/mcp.ts";
import { clientsFolder, describeWithClients } from "../../support/tools/clients.ts";
import { afterThisFile } from "../../support/undo.ts";

/** Every scenario that is allowed to fail, and why. One that passes has to leave this list. */
const EXPECTED: Readonly<Record<Revision, Readonly<Record<string, string>>>> = {
  "2026-07-28": {
    // Not scored by the suite either.
    "http-custom-header-server-validation":
      "no tool takes arguments from headers (x-mcp-header), so there is nothing to validate",
  },
  "2025-11-25": {},
};

/** How many there are, with those that the suite runs but does not score. */
const SCENARIOS: Readonly<Record<Revision, number>> = { "2026-07-28": 50, "2025-11-25": 33 };

interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly errorMessage?: string;
}

const later = afterThisFile();
const reports: Partial<Record<Revision, ReadonlyMap<string, readonly Check[]>>> = {};

async function runSuite(url: string, revision: Revision): Promise<ReadonlyMap<string, readonly Check[]>> {
  const folder = temporaryFolder(later);
  const suite = join(clientsFolder(), "node_modules/@modelcontextprotocol/conformance/dist/index.js");
  const args = [suite, "server", "--url", url, "--requirements", revision, "-o", folder];
  // It ends with 1 where a scenario failed; which one is in the folder.
  await new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 26 }, resolve);
  });
  return new Map(
    readdirSync(folder).map((name) => {
      const [, scenario = name] = /^server-(.*)-\d{4}-\d\d-\d\dT/.exec(name) ?? [];
      return [scenario, JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8")) as Check[]];
    }),
  );
}

describeWithClients("the official suite", () => {
  beforeAll(async () => {
    const service = await servePostern(
      {
        PLUGINS: join(ROOT, "test", "fixtures", "third-party", "mcp-offers.ts"),
        // Enough for "greet", which must not become a task. The fixture's long calls move the clock past it.
        MCP_TASK_AFTER_SECS: "30",
        // Both suites are one user, and faster than a person.
        CHAT_RATE_LIMIT: "1000",
      },
      later,
    );
    const token = new URL(service.link()).searchParams.get("token") ?? "";
    const url = `${await openSigningProxy(service.url, token, later)}/mcp`;
    // Not side by side: the clock is the same for both.
    for (const revision of REVISIONS) reports[revision] = await runSuite(url, revision);
  });

  test.each(REVISIONS)("the suite's scenarios for %s pass, except those that are listed", (revision) => {
    const report = reports[revision] ?? new Map<string, readonly Check[]>();
    expect(report.size).toBe(SCENARIOS[revision]);
    const failed = [...report].filter(([, checks]) => checks.some(({ status }) => status === "FAILURE"));
    const why = failed.map(([scenario, checks]) => [
      scenario,
      checks.flatMap(({ status, id, errorMessage }) =>
        status === "FAILURE" ? [`${id}: ${errorMessage}`] : [],
      ),
    ]);
    const unexpected = why.filter(([scenario]) => !(String(scenario) in EXPECTED[revision]));
    expect(Object.fromEntries(unexpected)).toEqual({});
    expect(failed.map(([scenario]) => scenario).sort()).toEqual(Object.keys(EXPECTED[revision]).sort());
  });
});
