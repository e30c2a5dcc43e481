import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { claimHome } from "../../../kernel/cli/service/home.ts";
import { temporaryFolder } from "../../support/home.ts";
import { postern, startPostern } from "../../support/processes/postern.ts";

const QUIET = { CLI_ENABLED: "false", GATEWAY_ENABLED: "false", HTTP_ENABLED: "false" };
const fixture = (path: string) => fileURLToPath(new URL(`../../fixtures/${path}`, import.meta.url));

function inHome(extra: Record<string, string> = {}): {
  env: Record<string, string>;
  cwd: string;
  home: string;
} {
  const cwd = temporaryFolder();
  const home = join(cwd, "home");
  return { env: { ...QUIET, POSTERN_HOME: home, ...extra }, cwd, home };
}

describe("usage", () => {
  test("--help lists the commands with examples", async () => {
    const { code, stdout } = await postern(["--help"]);
    expect(code).toBe(0);
    for (const word of ["serve", "config", "doctor", "status", "tool", "user", "token", "Examples:"])
      expect(stdout).toContain(word);
  });

  test("every command and every group explains itself", async () => {
    const commands = [
      "serve",
      "config",
      "doctor",
      "status",
      "logs",
      "stop",
      "completion",
      "ask",
      "thread",
      "memory",
      "job",
      "home",
      "mcp",
      "tool",
      "trust",
      "user",
      "token",
      "session",
    ];
    for (const command of commands) {
      const { code, stdout } = await postern([command, "--help"]);
      expect({ command, code }).toEqual({ command, code: 0 });
      expect(stdout.match(/^Examples?:$/gm), command).toHaveLength(1);
      expect(stdout).not.toContain("undefined");
    }
  });

  test("--version prints the package's version", async () => {
    expect((await postern(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test("an unknown command suggests the nearest one and ends with 2", async () => {
    const { code, stderr } = await postern(["docter"]);
    expect(stderr).toContain("Did you mean doctor?");
    expect(code).toBe(2);
  });

  test("an unknown option ends with 2", async () => {
    expect((await postern(["config", "--yaml"])).code).toBe(2);
  });

  test("--home and --port win over the environment, wherever they stand, and wrong values end with 2", async () => {
    const { env, cwd } = inHome({ GATEWAY_PORT: "4000" });
    const other = join(cwd, "other");
    const source = async (...args: string[]) => {
      const { stdout } = await postern(args, { env, cwd });
      const { settings } = JSON.parse(stdout) as {
        settings: { name: string; value: string; source: string }[];
      };
      return settings.find(({ name }) => name === "POSTERN_HOME");
    };
    const given = { value: other, source: "option" };
    expect(await source("config", "--json", "--home", other)).toMatchObject(given);
    expect(await source(`--home=${other}`, "config", "--json")).toMatchObject(given);
    const jobs = await postern(["job", "list", "--home", other], { env, cwd });
    expect(jobs).toMatchObject({ code: 0, stdout: "No jobs.\n" });
    expect(existsSync(join(other, "store.sqlite"))).toBe(true);

    writeFileSync(join(cwd, "file"), "");
    for (const wrong of [
      ["--home"],
      ["--home", "--json"],
      ["--home="],
      ["--home", "file"],
      ["--port", "70000"],
      ["--port", "http"],
    ])
      expect([wrong, (await postern(["doctor", ...wrong], { env, cwd })).code]).toEqual([wrong, 2]);
    expect((await postern(["job", "list", "--help"])).stdout).toMatch(/Global Options:\n\s+--home <folder>/);
    expect((await postern(["--port", "12", "docter"], { env, cwd })).stderr).toContain(
      "Did you mean doctor?",
    );
  });
});

describe("configuration", () => {
  test("every invalid setting is listed with what is expected; exit code 78, and nothing was started", async () => {
    const { env, cwd, home } = inHome({
      LOG_LEVEL: "loud",
      GATEWAY_ENABLED: "perhaps",
      GATEWAY_PORT: "http",
      HTTP_PORT: "99999",
    });
    const { code, stdout, stderr } = await postern(["serve"], { env, cwd });
    expect(code).toBe(78);
    for (const name of ["LOG_LEVEL", "GATEWAY_ENABLED", "GATEWAY_PORT", "HTTP_PORT"])
      expect(stderr).toContain(`${name}: got`);
    expect(stdout).toBe("");
    expect(existsSync(join(home, "store.sqlite"))).toBe(false);
  });

  test("config shows values with their source and masks secrets", async () => {
    const { env, cwd, home } = inHome({ GATEWAY_AUTH_TOKEN: "a-very-secret-token" });
    mkdirSync(home);
    writeFileSync(join(home, ".env"), "LOG_LEVEL=debug\n");
    writeFileSync(join(cwd, ".env"), "GATEWAY_PORT=4000\n");
    const { code, stdout, stderr } = await postern(["config", "--all"], { env, cwd });
    expect(code).toBe(0);
    expect(stdout).toMatch(/LOG_LEVEL\s+debug\s+\.env/);
    expect(stdout).toMatch(/GATEWAY_AUTH_TOKEN\s+\(set, hidden\)\s+environment/);
    expect(stdout).toMatch(/GATEWAY_PORT\s+3000\s+default/);
    expect(stderr).toContain("counts only where the service starts");
    expect(stdout).not.toContain("a-very-secret-token");
  });

  test("§2.1 every option is there with its type and default", async () => {
    const { stdout } = await postern(["config", "--json"], { env: { POSTERN_HOME: "/nowhere" } });
    const { settings } = JSON.parse(stdout) as {
      settings: { name: string; type: string; value: string | null; secret: boolean }[];
    };
    const table = Object.fromEntries(
      settings.map(({ name, type, value, secret }) => [name, secret ? `${type} secret` : `${type} ${value}`]),
    );
    expect(table).toMatchObject({
      CLI_ENABLED: "boolean true",
      GATEWAY_ENABLED: "boolean true",
      GATEWAY_HOST: "string 127.0.0.1",
      GATEWAY_PORT: "port 3000",
      GATEWAY_AUTH_TOKEN: "string secret",
      HTTP_ENABLED: "boolean false",
      HTTP_HOST: "string 0.0.0.0",
      HTTP_PORT: "port 8080",
      HTTP_WEBHOOK_SECRET: "string secret",
      SERVICE_REBORN_WEBUI_TOKEN: "string secret",
    });
  });
});

describe("doctor and status", () => {
  test("doctor on a fresh machine finds nothing wrong and changes nothing", async () => {
    const { env, cwd, home } = inHome();
    const { code, stdout } = await postern(["doctor", "--json"], { env, cwd });
    expect(JSON.parse(stdout)).toMatchObject({ ok: true });
    expect(code).toBe(0);
    expect(existsSync(home)).toBe(false);
  });

  test("doctor says what the store promises in a power cut, and what STORE_SYNC=normal risks", async () => {
    const { env, cwd } = inHome();
    await postern(["job", "list"], { env, cwd });
    const findings = async (sync: string) => {
      const { stdout } = await postern(["doctor", "--json"], { env: { ...env, STORE_SYNC: sync }, cwd });
      return (JSON.parse(stdout) as { findings: unknown[] }).findings;
    };
    const name = "store flush";
    const full = { name, ok: true, detail: expect.stringMatching(/survives a power cut; .* \d+(\.\d)? ms$/) };
    expect(await findings("full")).toContainEqual(full);
    const normal = { name, ok: true, warning: true, detail: expect.stringContaining("a power cut loses") };
    expect(await findings("normal")).toContainEqual(normal);
  });

  test("doctor names a damaged store, an open home and a wrong setting, with what to do, and ends with 1", async () => {
    const wrong = {
      GATEWAY_PORT: "x",
      GATEWAY_HOST: "http://here",
      EMAIL_IMAP_URL: "nonsense",
      MODEL_NAM: "x",
    };
    const { env, cwd, home } = inHome(wrong);
    mkdirSync(home);
    // By chmod, which no umask changes.
    chmodSync(home, 0o755);
    writeFileSync(join(home, "store.sqlite"), "no database at all ".repeat(500));
    const { code, stdout } = await postern(["doctor"], { env, cwd });
    expect(code).toBe(1);
    expect(stdout).toMatch(/FAIL\s+home .*chmod go-rwx/);
    expect(stdout).toMatch(/FAIL\s+store/);
    for (const name of ["GATEWAY_PORT", "GATEWAY_HOST", "EMAIL_IMAP_URL"])
      expect(stdout).toMatch(new RegExp(`FAIL\\s+${name} .*expected`));
    expect(stdout).toMatch(/warn\s+MODEL_NAM .*MODEL_NAME\?/s);
    const { stderr, code: refused } = await postern(["serve"], { env, cwd });
    expect([refused, stderr]).toEqual([78, expect.stringContaining("3 settings are invalid")]);
  });

  test("status tells a running service, which is the one node, from one that was killed", async () => {
    const { env, cwd } = inHome();
    expect((await postern(["status"], { env, cwd })).code).toBe(1);
    const service = startPostern(["serve"], { env, cwd });
    await service.printed("ready in");
    const seen = await postern(["status", "--json"], { env, cwd });
    const { node, nodes, ...notice } = JSON.parse(seen.stdout);
    expect(notice).toMatchObject({ running: true, pid: service.pid });
    expect(nodes).toMatchObject([
      { id: node, startedAt: expect.any(String), lastSeenAt: expect.any(String) },
    ]);
    service.kill("SIGKILL");
    await service.ended;
    expect((await postern(["status"], { env, cwd })).stdout).toContain("not running");
  });
});

describe("serve", () => {
  test("prints one table, and SIGTERM stops it in order with exit code 0", async () => {
    const { env, cwd } = inHome({ GATEWAY_ENABLED: "true", GATEWAY_PORT: "1" });
    const service = startPostern(["serve", "--port", "0"], { env, cwd });
    await service.printed("ready in");
    expect(service.stdout()).toMatch(/store\s+on\s+.*store\.sqlite/);
    expect(service.stdout()).toMatch(/gateway\s+on\s+http:\/\/127\.0\.0\.1:\d{2,}/);
    expect(service.stdout()).toMatch(/tui\s+off/);
    service.kill("SIGTERM");
    expect(await service.ended).toBe(0);
  });

  test("its log is in the home, logs shows it and follows it, and stop stops the service", async () => {
    const { env, cwd, home } = inHome();
    expect(await postern(["stop"], { env, cwd })).toMatchObject({
      code: 0,
      stdout: `Postern is not running with the home ${home}.\n`,
    });
    expect((await postern(["logs"], { env, cwd })).stderr).toContain("No log lines match in ");
    const service = startPostern(["serve"], { env, cwd });
    await service.printed("ready in");
    const following = startPostern(["logs", "-f"], { env, cwd });
    const stopped = JSON.parse((await postern(["stop", "--json"], { env, cwd })).stdout);
    expect(stopped).toMatchObject({ stopped: true, pid: service.pid, seconds: expect.any(Number) });
    expect(await service.ended).toBe(0);
    await following.printed("SIGTERM, stopping");
    following.kill("SIGINT");
    expect(await following.ended).toBe(0);

    const { stdout } = await postern(["logs", "--json", "--since", "10m"], { env, cwd });
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toContainEqual(expect.objectContaining({ level: "info", message: "SIGTERM, stopping" }));
    expect((await postern(["logs", "-n", "1"], { env, cwd })).stdout).toMatch(/INFO.*SIGTERM, stopping\n$/);
    expect((await postern(["logs", "--level", "warn"], { env, cwd })).stdout).not.toContain("SIGTERM");
    for (const wrong of [
      ["--level", "loud"],
      ["--since", "yesterday-ish"],
      ["-n", "many"],
    ])
      expect((await postern(["logs", ...wrong], { env, cwd })).code).toBe(2);
  });

  test("stop ends no process that is not the home's own", async () => {
    const { env, cwd, home } = inHome();
    mkdirSync(home, { mode: 0o700 });
    const claim = claimHome(home);
    onTestFinished(claim.release);
    const notice = { host: hostname(), version: "0.0.0", startedAt: new Date().toISOString(), plugins: [] };
    claim.post({ ...notice, pid: process.ppid });
    const another = await postern(["stop"], { env, cwd });
    expect(another).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("not the one that uses this home"),
    });
    claim.post({ ...notice, pid: process.pid, host: "elsewhere" });
    expect((await postern(["stop"], { env, cwd })).stderr).toContain("it runs on elsewhere");
  });

  test("it goes on serving when whoever read its output is gone, and still stops when told to", async () => {
    const { env, cwd, home } = inHome({ LOG_LEVEL: "debug" });
    const bin = fileURLToPath(new URL("../../../kernel/cli/bin.js", import.meta.url));
    const all = { PATH: process.env["PATH"] ?? "", TOOLS_SHIPPED: "false", ...env };
    const child = spawn(process.execPath, [bin, "serve"], { env: all, cwd });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    child.stdout.destroy();
    child.stderr.destroy();
    const seen = await postern(["status", "--json"], { env, cwd });
    expect(JSON.parse(seen.stdout)).toMatchObject({ running: true, home, pid: child.pid });
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  test("a second service on the same home is refused and the first goes on", async () => {
    const { env, cwd } = inHome();
    const first = startPostern(["serve"], { env, cwd });
    await first.printed("ready in");
    const second = await postern(["serve"], { env, cwd });
    expect(second.stderr).toContain(`another Postern (pid ${first.pid}) is already running`);
    expect(second.stderr).toContain("the same STORE_URL=postgres://…");
    expect(second.code).toBe(78);
    first.kill("SIGINT");
    expect(await first.ended).toBe(0);
  });

  test("started by another Node it runs on the pinned one", () => {
    const bin = fileURLToPath(new URL("../../../kernel/cli/bin.js", import.meta.url));
    const old = ["/usr/bin/node", "/usr/local/bin/node"].find((path) => existsSync(path));
    const runtime = old ?? process.execPath;
    const env = { PATH: process.env["PATH"] ?? "", POSTERN_HOME: join(temporaryFolder(), "home"), ...QUIET };
    const { stdout } = spawnSync(runtime, [bin, "doctor"], { encoding: "utf8", env });
    expect(stdout).toMatch(/runtime\s+Node 26\.10\.0, from the package node-/);
  });

  test("a Node that is new enough runs it as it is, and doctor says which one", () => {
    const bin = fileURLToPath(new URL("../../../kernel/cli/bin.js", import.meta.url));
    const folder = temporaryFolder();
    const node = join(folder, "node");
    copyFileSync(process.execPath, node);
    const env = { PATH: "", POSTERN_HOME: join(folder, "home"), ...QUIET };
    const { stdout } = spawnSync(node, [bin, "doctor"], { encoding: "utf8", env });
    expect(stdout).toContain(`Node ${process.versions.node}, from this system: ${realpathSync(node)}`);
  });
});

describe("third-party plugins", () => {
  const clock = fixture("third-party/clock.ts");

  test("a path in PLUGINS is loaded, gets its needs and keeps its state", async () => {
    const { env, cwd } = inHome({ PLUGINS: clock, CLOCK_ZONE: "Europe/Berlin" });
    for (const start of [1, 2]) {
      const service = startPostern(["serve"], { env, cwd });
      await service.printed("ready in");
      expect(service.stdout()).toMatch(new RegExp(`clock\\s+on\\s+zone Europe/Berlin, start ${start}`));
      service.kill("SIGTERM");
      expect(await service.ended).toBe(0);
    }
  });

  test("its settings appear in config, and its Off in the table", async () => {
    const { env, cwd } = inHome({ PLUGINS: clock, CLOCK_ENABLED: "no" });
    expect((await postern(["config"], { env, cwd })).stdout).toMatch(/CLOCK_ENABLED\s+false\s+environment/);
  });

  test("its commands run, are listed by --help and completed, and the shipped ones do not load it", async () => {
    const { env, cwd } = inHome({ PLUGINS: clock });
    const { stdout, code } = await postern(["clock", "now"], { env, cwd });
    expect(stdout).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(code).toBe(0);
    expect((await postern(["--help"], { env, cwd })).stdout).toMatch(/clock\s+print the time/);
    const offered = async (...words: string[]) =>
      (await postern(["complete", "--", ...words], { env, cwd })).stdout;
    expect([await offered("cl"), await offered("clock", "n")]).toEqual([
      expect.stringMatching(/^clock\t/),
      expect.stringMatching(/^now\t/),
    ]);
    const broken = inHome({ PLUGINS: "./nothing.js" });
    expect((await postern(["tool", "--help"], broken)).code).toBe(0);
    expect((await postern(["clock"], broken)).stderr).toContain('PLUGINS: "./nothing.js" cannot be loaded');
  });

  test("it may be TypeScript that takes a compiler, whatever package.json says, and its faults are ours", async () => {
    for (const type of ["module", "commonjs"]) {
      const { env, cwd } = inHome({ PLUGINS: "./mood.ts" });
      copyFileSync(fixture("third-party/mood.ts"), join(cwd, "mood.ts"));
      writeFileSync(join(cwd, "package.json"), JSON.stringify({ type }));
      const service = startPostern(["serve"], { env, cwd });
      await service.printed("ready in");
      expect(service.stdout()).toMatch(/mood\s+on\s+feeling calm/);
      service.kill("SIGTERM");
      expect(await service.ended).toBe(0);
      const failed = await postern(["serve"], { env: { ...env, MOOD: "bad" }, cwd });
      expect(failed).toMatchObject({ code: 78, stderr: "postern: MOOD: bad does not work today\n" });
    }
  });

  test("a command that exists already is refused with the plugin's name", async () => {
    const { env, cwd } = inHome({ PLUGINS: fixture("third-party/serve-twice.js") });
    const { code, stderr } = await postern(["--help"], { env, cwd });
    expect(stderr).toContain('plugin "twice" adds the command "serve", which exists already');
    expect(code).toBe(78);
  });

  test("its fault ends the start with the fault's own exit code", async () => {
    const { env, cwd } = inHome({ PLUGINS: clock, CLOCK_ZONE: "nowhere" });
    const { code, stderr } = await postern(["serve"], { env, cwd });
    expect(stderr).toContain("CLOCK_ZONE: nowhere is not a time zone");
    expect(code).toBe(78);
  });

  test("what is not there, or is no plugin, is refused by name", async () => {
    const nothing = inHome({ PLUGINS: "./nothing.js" });
    expect((await postern(["serve"], nothing)).stderr).toContain('PLUGINS: "./nothing.js" cannot be loaded');
    const other = inHome({ PLUGINS: fixture("third-party/not-a-plugin.js") });
    const { code, stderr } = await postern(["serve"], other);
    expect(stderr).toContain("is not a plugin");
    expect(code).toBe(78);
  });
});
