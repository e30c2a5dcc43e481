/** The image's command, run as it is in a container: another user, no privileges, a read-only root file system. */
import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../support/clone.ts";
import { temporaryFolder } from "../support/home.ts";
import { startPostern } from "../support/processes/postern.ts";
import { describeWhere } from "../support/run/needs.ts";
import { prepareShipped } from "../support/tools/shipped.ts";

const USER = 10_001;
const TOKEN = "~a-token-for-the-container";

// As `--read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges`; of /proc only what is its own.
const CONTAINER = `
mount --make-rprivate / && mount --bind "$1" "$1" && mount -t tmpfs -o mode=1777 tmpfs "$2" &&
mount -o remount,bind,ro / && mount -t proc -o subset=pid,hidepid=invisible proc /proc || exit 99
export TMPDIR="$2"
shift 2
exec setpriv --reuid ${USER} --regid ${USER} --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all "$@"`;

function canContain(): boolean {
  if (process.getuid?.() !== 0) return false;
  for (let folder = ROOT; folder !== dirname(folder); folder = dirname(folder))
    if ((statSync(folder).mode & 0o005) !== 0o005) return false;
  try {
    execFileSync("unshare", ["-m", "sh", "-c", "mount --make-rprivate / && mount -o remount,bind,ro /"]);
    return true;
  } catch {
    return false;
  }
}

describeWhere(canContain(), "root that may mount, and a clone in a folder that others can enter")(
  "the image's command",
  () => {
    test("starts in a bare folder, answers with a tool, is healthy, and stops in order", async () => {
      const place = temporaryFolder();
      const [home, scratch] = [join(place, "home"), join(place, "tmp")];
      execFileSync("chmod", ["0755", place]);
      mkdirSync(home, { mode: 0o700 });
      mkdirSync(scratch);
      await prepareShipped();
      execFileSync("chown", ["-R", `${USER}:${USER}`, home]);
      chownSync(place, USER, USER);
      const service = startPostern(["serve"], {
        inside: ["unshare", "-m", "sh", "-c", CONTAINER, "sh", home, scratch],
        cwd: home,
        env: {
          HOME: home,
          POSTERN_HOME: home,
          GATEWAY_HOST: "0.0.0.0",
          GATEWAY_PORT: "0",
          GATEWAY_AUTH_TOKEN: TOKEN,
          MODEL_PROVIDER: "builtin",
          TOOLS_SHIPPED: "true",
        },
      });
      await service.printed("ready in");
      const [, port] = /gateway\s+on\s.*?:(\d+)/.exec(service.stdout()) ?? [];
      const ask = async () => {
        const answer = await fetch(`http://127.0.0.1:${port}/api/chat`, {
          method: "POST",
          headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
          body: JSON.stringify({ message: "Convert 26.2 miles to km" }),
        });
        return ((await answer.json()) as { response: string }).response;
      };
      // The shipped tools are installed while it answers already, and the first turn waits for them.
      expect(await ask()).toBe("26.2 miles is 42.16 km.");

      const dockerfile = readFileSync(join(ROOT, ".deploy", "Dockerfile"), "utf8");
      const [, , script] = JSON.parse(/^ +CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? "[]") as readonly string[];
      const health = (at: string | undefined) =>
        spawnSync(process.execPath, ["-e", script ?? ""], { env: { GATEWAY_PORT: at } }).status;
      expect(health(port)).toBe(0);
      expect(health("1")).toBe(1);
      service.kill("SIGTERM");
      expect(await service.ended).toBe(0);
    });
  },
);
