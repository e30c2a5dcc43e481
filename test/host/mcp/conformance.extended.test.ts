/** The official conformance suite against our client code. What is expected to fail is listed beside, with the reasons. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openConformanceClient } from "../../support/services/conformance-client.ts";
import { clientsFolder, describeWithClients } from "../../support/tools/clients.ts";
import { afterThisTest } from "../../support/undo.ts";

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

const SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js";

describeWithClients("the official suite", () => {
  test.each(["2025-11-25", "2026-07-28"])(
    "our client does what revision %s requires, except for what is listed",
    async (revision) => {
      const client = await openConformanceClient();
      afterThisTest(client.close);
      const command = [
        join(clientsFolder(), SUITE),
        "client",
        "--requirements",
        revision,
        "--command",
        `${process.execPath} ${at("fixtures/mcp/conformance-client.mjs")}`,
        "--expected-failures",
        at("fixtures/mcp/client-failures.yaml"),
      ];
      const env = { PATH: process.env["PATH"], CONFORMANCE_DRIVER: client.url };
      const { error, output } = await new Promise<{ error: Error | null; output: string }>((resolve) =>
        execFile(process.execPath, command, { env, maxBuffer: 2 ** 26 }, (failed, stdout, stderr) =>
          resolve({ error: failed, output: `${stdout}\n${stderr}` }),
        ),
      );
      // The suite fails where a listed one passes or another one fails.
      expect(error === null ? "" : output).toBe("");
    },
  );
});
