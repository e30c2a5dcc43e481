/** The unit for systemd: valid, and as closed as a service that compiles code at run time can be. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../support/clone.ts";
import { temporaryFolder } from "../support/home.ts";
import { describeWhere } from "../support/run/needs.ts";

const UNIT = join(ROOT, ".deploy", "postern.service");
const text = readFileSync(UNIT, "utf8");

function hasAnalyzer(): boolean {
  try {
    return (
      Number(
        /systemd (\d+)/.exec(execFileSync("systemd-analyze", ["--version"], { encoding: "utf8" }))?.[1],
      ) >= 250
    );
  } catch {
    return false;
  }
}

describeWhere(hasAnalyzer(), "systemd-analyze of systemd 250 or later (apt-get install systemd)")(
  "the unit",
  () => {
    test("has nothing that systemd does not know", () => {
      // The installed path has no such program on this machine.
      const file = join(temporaryFolder(), "postern.service");
      writeFileSync(file, text.replace(/^ExecStart=\S+/m, "ExecStart=/bin/true"));
      expect(execFileSync("systemd-analyze", ["verify", file], { encoding: "utf8", stdio: "pipe" })).toBe("");
    });

    test("is rated below 1.5 of 10", () => {
      const rating = execFileSync("systemd-analyze", ["security", "--offline=true", UNIT], {
        encoding: "utf8",
      });
      const [, exposure] = /exposure level for postern\.service: ([\d.]+)/.exec(rating) ?? [];
      expect(Number(exposure)).toBeLessThan(1.5);
      const page = readFileSync(join(ROOT, ".deploy", "README.md"), "utf8");
      expect(page).toContain(`rates the unit ${exposure} `);
    });
  },
);

test("a bad configuration is not tried again, and turns may end before the process is killed", () => {
  expect(text).toContain("RestartPreventExitStatus=78");
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1])).toBeGreaterThan(30);
});
