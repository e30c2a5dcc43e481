/** The package as its users get it: packed, installed by npm into an empty folder, used to make a tool. */
import { execFile, execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../../support/home.ts";
import { deadLinks } from "../../support/packed-pages.ts";
import { type DockerRegistry, startDockerRegistry } from "../../support/processes/docker-registry.ts";
import { packedPostern } from "../../support/processes/packed.ts";
import { type PosternOptions, postern, startPostern } from "../../support/processes/postern.ts";
import { freshDatabase } from "../../support/processes/postgres/database.ts";
import { findBinaries } from "../../support/processes/postgres/server.ts";
import { posternInTerminal } from "../../support/processes/terminal.ts";
import { describeWhere } from "../../support/run/needs.ts";
import { startCollector } from "../../support/servers/collector.ts";
import { openUpstream } from "../../support/servers/upstream.ts";
import { scriptedModel } from "../../support/services/agent.ts";
import { emailUnderKills } from "../../support/services/email-kills.ts";
import { pairSenders } from "../../support/services/pairing.ts";
import { propose } from "../../support/services/proposals.ts";
import { slackUnderKills } from "../../support/services/slack-kills.ts";
import { telegramUnderKills } from "../../support/services/telegram-kills.ts";
import { afterThisFile, afterThisTest } from "../../support/undo.ts";

const run = promisify(execFile);
const SECRETS_KEY = "07".repeat(32);
const FEEDS = fileURLToPath(new URL("../../fixtures/feeds", import.meta.url));

const said = (command: string, ...args: readonly string[]) => {
  try {
    return execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return "";
  }
};
const THERE = said("npm", "--version").split(".")[0] ?? "";
/** How this machine reaches the registry. */
const MACHINE = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value = ""]) =>
    /^(?:NODE_EXTRA_CA_CERTS|https?_proxy|no_proxy|npm_config_registry)$/i.test(name) ? [[name, value]] : [],
  ),
);
/** The npm that is there, and those that people have with other versions of Node. */
const NPMS = [...new Set([THERE, "10", "11"])];
const HAS_REGISTRY = said("npm", "view", "npm@10.0.0", "version", "--fetch-retries=0") === "10.0.0";

describeWhere(
  HAS_REGISTRY && existsSync("/usr/bin/docker-registry"),
  "the npm registry, and docker-registry",
)("the packed package", () => {
  const later = afterThisFile();
  let tarball: string;
  let registry: DockerRegistry;

  beforeAll(async () => {
    tarball = await packedPostern(later);
    registry = await startDockerRegistry(later, { open: true });
  });

  /** Into an empty folder, with the npm of this version. */
  async function install(major: string, until = afterThisTest) {
    const folder = temporaryFolder(until);
    const PATH = `${npmOf(major, folder)}:${process.env["PATH"]}`;
    const caches = join(folder, "caches");
    await run("npm", ["install", "--no-audit", "--no-fund", tarball], {
      cwd: folder,
      env: { ...process.env, PATH },
    });
    const installed = join(folder, "node_modules", "postern");
    const env = { ...MACHINE, PATH, XDG_CACHE_HOME: caches, TOOLS_PRIVATE_HOSTS: registry.plain };
    const options = (home: string): PosternOptions => ({
      bin: join(installed, "kernel", "cli", "bin.js"),
      cwd: folder,
      env: { ...env, POSTERN_HOME: join(folder, home), TOOLS_SHIPPED: "true" },
    });
    const runIn = async (home: string, ...args: readonly string[]) => {
      const ended = await postern(args, options(home));
      expect(ended.code, ended.stderr).toBe(0);
      return ended;
    };
    return { folder, env, caches, installed, options, runIn };
  }

  /** Most of a test's time would go into installing the same again: none of them changes it, and each has homes of its own. */
  let shared: ReturnType<typeof install> | undefined;
  const installShared = () => {
    shared ??= install(THERE, later);
    return shared;
  };

  test.each(NPMS)(
    "with npm %s it is installed, and builds, checks, runs and publishes a tool",
    async (major) => {
      const isShared = major === THERE;
      const { folder, caches, installed, options, runIn } = await (isShared
        ? installShared()
        : install(major));
      const files = globSync(["**", ".docs/**", ".deploy/**", ".pictures/**"], { cwd: installed });
      expect(deadLinks(installed, files)).toEqual([]);
      const author = (...args: readonly string[]) => runIn("maker", ...args);
      const first = await author("ask", "Convert 26.2 miles to km");
      expect(first.stdout).toBe("26.2 miles is 42.16 km.\n");
      expect(existsSync(join(folder, "maker", "cache"))).toBe(false);

      // A proposed tool cannot be built yet, and the model is told how that changes.
      const model = await scriptedModel();
      model.script(propose(), { text: "It cannot be built." });
      const { env, ...others } = options("maker");
      await postern(["ask", "Make a tool"], { ...others, env: { ...env, MODEL_BASE_URL: model.url } });
      expect(model.requests[1]?.messages.at(-1)?.content).toContain("postern tool build hello");

      await author("tool", "new", "hello", "--template", "blank");
      expect((await author("tool", "build", "hello")).stderr).toContain(`into ${caches}`);
      const { stdout } = await author("tool", "check", "hello");
      expect(stdout).toMatch(/^ok +exports/m);
      await author("tool", "install", "hello/dist/hello.wasm", "--yes");
      expect((await author("tool", "run", "hello", '{"text":"Hello"}')).stdout).toContain("Hello");
      const place = `oci://${registry.plain}/npm${major}/hello`;
      await author("tool", "publish", "hello", place);

      // Another home of the same user fetches nothing, and installs what was published.
      appendFileSync(join(folder, "hello", "tool.ts"), "// A change.\n");
      expect((await runIn("second", "tool", "build", "hello")).stderr).not.toContain("fetch");
      await runIn("second", "tool", "install", place, "--yes", "--allow-unsigned");

      if (isShared) return;
      // Transpiled code that is not whole is not run: the home makes its own.
      const [entry = ""] = globSync("components/convert/dist/*/glue.js", { cwd: installed });
      appendFileSync(join(installed, entry), " ");
      const params = '{"value":26.2,"from":"mi","to":"km"}';
      expect((await runIn("third", "tool", "run", "convert", params)).stdout).toContain("42.16");
      expect(readdirSync(join(folder, "third", "cache"))).toHaveLength(1);

      // A toolchain that somebody damaged is thrown away, and fetched anew the next time.
      const [fetched = ""] = readdirSync(join(caches, "postern", "toolchain"));
      const toolchain = join(caches, "postern", "toolchain", fetched);
      rmSync(join(toolchain, "node_modules", "@bytecodealliance", "jco-transpile"), { recursive: true });
      appendFileSync(join(folder, "hello", "tool.ts"), "// Another.\n");
      const damaged = await postern(["tool", "build", "hello"], options("maker"));
      expect(damaged).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/is damaged and was removed .*Run the command again to fetch it\./s),
      });
      expect(existsSync(toolchain)).toBe(false);
    },
  );

  test("packages that are bundled work where only the dependencies are installed", async () => {
    const { folder, options, runIn } = await installShared();
    const { env, ...place } = options("dates");
    // Another home's tools: both sides of MCP.
    const other = ["env", `POSTERN_HOME=${join(folder, "other")}`, "TOOLS_SHIPPED=true"];
    const command = [...other, process.execPath, place.bin ?? "", "mcp"];
    const { stdout } = await runIn("host", "mcp", "add", "other", "--yes", "--", ...command);
    expect(stdout).toMatch(/^Added other\. \d tools/);

    const collector = await startCollector();
    const settings = {
      GATEWAY_PORT: "0",
      GATEWAY_AUTH_TOKEN: "the-operator-of-this-test",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_BSP_SCHEDULE_DELAY: "10",
    };
    const service = startPostern(["serve"], { ...place, env: { ...env, ...settings } });
    await service.printed("ready in");
    const [, url = ""] = /Open (http:\/\/[^/\s]+)/.exec(service.stdout()) ?? [];
    const answer = await fetch(`${url}/v1/responses`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${settings.GATEWAY_AUTH_TOKEN}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ model: "any", input: "When is Christmas?" }),
    });
    expect(await answer.text()).toMatch(/25 December \d{4}/);
    await expect.poll(() => collector.spans.map(({ name }) => name)).toContain("invoke_agent postern");
    service.kill("SIGTERM");
    expect(await service.ended).toBe(0);
  });

  test("chats, the terminal and a shared database need nothing but the dependencies, either", async () => {
    const { folder, options, runIn } = await installShared();
    const { env, bin = "", ...place } = options("chats");
    await runIn("chats", "tool", "install", "github-issues", "--yes");
    const hasMail = existsSync("/usr/sbin/dovecot") && existsSync("/usr/sbin/exim4");
    const chats = await Promise.all([
      slackUnderKills(),
      telegramUnderKills(),
      ...(hasMail ? [emailUnderKills()] : []),
    ]);
    for (const { close } of chats) afterThisTest(async () => void (await close()));
    const people = chats.map((chat) => ({ chat, person: chat.people[0] ?? "" }));
    await pairSenders(
      join(folder, "chats"),
      people.map(({ chat, person }) => `${chat.name}/${person}`),
    );
    const settings = Object.assign({ GATEWAY_PORT: "0" }, ...chats.map((chat) => chat.settings));
    const service = startPostern(["serve"], { ...place, bin, env: { ...env, ...settings } });
    await service.printed("ready in");
    await Promise.all(
      people.map(async ({ chat, person }) => {
        await chat.say(person, "What is 12 + 30?");
        await expect.poll(() => chat.shown(person).join("\n")).toContain("42");
      }),
    );
    service.kill("SIGTERM");
    expect(await service.ended).toBe(0);

    const own = { ...env, POSTERN_HOME: join(folder, "chats"), GATEWAY_ENABLED: "false" };
    const terminal = posternInTerminal([], { env: own, cwd: folder, bin });
    await terminal.shows("Type a message");
    terminal.type("What is 12 + 31?\r");
    await terminal.shows("43");
    // Until the turn has ended, this would stop it.
    await terminal.shows("context");
    terminal.type("\u0003");
    expect(await terminal.ended).toBe(0);

    if (findBinaries() === undefined) return;
    const shared = { STORE_URL: await freshDatabase(afterThisTest), POSTERN_SECRETS_KEY: SECRETS_KEY };
    const asked = ["ask", "What is 12 + 32?"];
    const answer = await postern(asked, { ...place, bin, env: { ...env, ...shared } });
    expect(answer, answer.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("44") });
  });

  test("a feed reader with an npm package, a setting and state reaches another home under a trust rule", async () => {
    const { folder, env, options, runIn } = await installShared();
    const author = (...args: readonly string[]) => runIn("author", ...args);
    await author("tool", "new", "feeds", "--template", "blank", "--lang", "js");
    const project = join(folder, "feeds");
    cpSync(FEEDS, project, { recursive: true });
    const bin = join(folder, "node_modules", ".bin");
    const npm = async (...args: readonly string[]) =>
      run("npm", args, {
        cwd: project,
        env: { ...env, PATH: `${env.PATH}:${bin}`, HOME: folder, POSTERN_HOME: join(folder, "unused") },
      });
    await npm("install", "--no-audit", "--no-fund", "fast-xml-parser@5");
    expect((await npm("test")).stdout).toMatch(/the call in example\.json succeeds[\s\S]*fail 0/);
    expect((await author("tool", "check", "feeds")).stdout).toMatch(
      /^ok +example\.json +\{"new":\[\{"title":"Two"[\s\S]*may remember up to 1 MB for each user/m,
    );

    const place = `oci://${registry.plain}/acme/feeds`;
    const signing = { COSIGN_PASSWORD: "of the test" };
    const signed = async (...args: readonly string[]) => {
      const { env: own, ...rest } = options("author");
      const ended = await postern(args, { ...rest, env: { ...own, ...signing } });
      expect(ended.code, ended.stderr).toBe(0);
    };
    await signed("trust", "keygen");
    await signed("tool", "publish", "feeds", place, "--key", "cosign.key");

    const servers = await Promise.all(["one", "two"].map((name) => openUpstream(feedOf(name))));
    for (const { close } of servers) afterThisTest(close);
    const [first = "", second = ""] = servers.map(({ port }) => `server=http://127.0.0.1:${port}`);
    const reader = (...args: readonly string[]) => runIn("reader", ...args);
    await reader("trust", "add", `oci://${registry.plain}/acme/*`, "--key", "cosign.pub");
    const { stdout } = await reader("tool", "install", place, "--set", first, "--yes");
    expect(stdout).toContain("signed by");
    const news = async () => JSON.parse((await reader("tool", "run", "feeds", "{}")).stdout);
    expect(await news()).toEqual({ new: [{ title: "News of one", link: "https://one.example/1" }], seen: 0 });
    expect(await news()).toEqual({ new: [], seen: 1 });
    const asked = await postern(["tool", "setup", "feeds", "--set", second], options("reader"));
    expect(asked.code).not.toBe(0);
    await reader("tool", "setup", "feeds", "--set", second, "--yes");
    expect(await news()).toEqual({ new: [{ title: "News of two", link: "https://two.example/1" }], seen: 0 });

    // Somebody else's tool at that place is refused.
    await author("tool", "publish", "feeds", `oci://${registry.plain}/acme/unsigned`);
    const refused = await postern(
      [
        "tool",
        "install",
        `oci://${registry.plain}/acme/unsigned`,
        "--set",
        first,
        "--yes",
        "--allow-unsigned",
      ],
      options("reader"),
    );
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("No option overrides a trust rule"),
    });
  });
});

const feedOf = (name: string) => (_: unknown, response: ServerResponse) =>
  void response.end(
    `<rss><channel><item><title>News of ${name}</title><link>https://${name}.example/1</link></item></channel></rss>`,
  );

/** A folder for the PATH whose `npm` is of this version, from the registry where it is not the one that is there. */
function npmOf(major: string, folder: string): string {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  if (major === THERE) return bin;
  const { PATH = "" } = process.env;
  writeFileSync(join(bin, "npm"), `#!/bin/sh\nPATH='${PATH}' exec npx -y npm@${major} "$@"\n`);
  chmodSync(join(bin, "npm"), 0o755);
  return bin;
}
