/** A name whose owner answers each question anew, with a real name server and the system's own resolver. */
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { ROOT } from "../../kernel/package.ts";
import { attack } from "../support/attacks.ts";
import { temporaryFolder } from "../support/home.ts";
import { describeWhere } from "../support/run/needs.ts";

const NETWORK = `ip link set lo up && ip addr add 93.184.216.34/32 dev lo && mount --bind "$0" /etc/resolv.conf && exec "$@"`;
const APART = ["--net", "--mount", "sh", "-c"];

const canBeApart = spawnSync("unshare", [...APART, "ip link set lo up"]).status === 0;

describeWhere(canBeApart, "root on Linux, to make a network of its own")(
  "a name that changes its mind",
  () => {
    attack(
      "K",
      "A name that was public when it was checked is not dialled where it leads a moment later",
      () => {
        const names = join(temporaryFolder(), "resolv.conf");
        writeFileSync(names, "nameserver 127.0.0.1\n");
        const fixture = join(ROOT, "test/fixtures/processes/rebinding.ts");
        const command = [process.execPath, "--disable-warning=ExperimentalWarning", fixture];
        const printed = execFileSync("unshare", [...APART, NETWORK, names, ...command], { encoding: "utf8" });
        const refused = expect.stringMatching(/resolves to 127\.0\.0\.1, a loopback address$/);
        expect(JSON.parse(printed)).toEqual({
          "turns.example": ["93.184.216.34", refused, refused],
          "returns.example": [refused, "93.184.216.34", refused],
          "both.example": [refused, refused, refused],
        });
      },
    );
  },
);
