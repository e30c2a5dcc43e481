import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BIN } from "../../support/clone.ts";
import { temporaryFolder } from "../../support/home.ts";

function version(node: string): Promise<{ readonly code: number; readonly out: string }> {
  const env = { PATH: process.env["PATH"] ?? "", POSTERN_HOME: temporaryFolder(), POSTERN_NODE: node };
  return new Promise((resolve) => {
    execFile(process.execPath, [BIN, "--version"], { env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), out: stdout + stderr }),
    );
  });
}

test("POSTERN_NODE chooses the Node that runs Postern, if it is new enough", async () => {
  const folder = temporaryFolder();
  const script = (name: string, lines: string) => {
    const file = join(folder, name);
    writeFileSync(file, `#!/bin/sh\n${lines}\n`, { mode: 0o700 });
    return file;
  };
  const own = script("own", `exec "${process.execPath}" "$@"`);
  expect(await version(own)).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+/) });
  expect(await version(script("old", "echo v22.1.0"))).toMatchObject({
    code: 78,
    out: expect.stringContaining("it is v22.1.0"),
  });
  expect(await version(join(folder, "none"))).toMatchObject({ code: 78 });
});
