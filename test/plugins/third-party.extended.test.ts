/** The page for plugin authors, followed word for word against the packed package. */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { isBuiltin } from "node:module";
import { connect } from "node:net";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ROOT } from "../support/clone.ts";
import { installPacked, PREPACK } from "../support/processes/packed.ts";
import { postern, startPostern } from "../support/processes/postern.ts";
import { prepareShipped } from "../support/tools/shipped.ts";

const PAGE = readFileSync(new URL("../../plugins/README.md", import.meta.url), "utf8");
const MOOD = fileURLToPath(new URL("../fixtures/third-party/mood.ts", import.meta.url));
const GUESTBOOK = fileURLToPath(new URL("../fixtures/third-party/guestbook.ts", import.meta.url));
const GUESTBOOK_TOKEN = "the-operator-of-the-guestbook-0001";
/** Of a plugin's author who has the declarations of packages checked, too. */
const FLAGS = "--noEmit --strict --skipLibCheck false --module nodenext --target es2024 --types node";
const FILES = [...PAGE.matchAll(/```js\n\/\/ file: (\S+)\n([\s\S]*?)```/g)].map(
  ([, name = "", text = ""]) => [name, text] as const,
);

test("a third-party channel of under 60 lines runs on the packed package, which is whole, and keeps the contract", async () => {
  const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  expect(scripts.prepack).toBe(PREPACK);
  const { folder, bin } = await installPacked();
  expect(undeclaredImports(join(folder, "node_modules", "postern"))).toEqual([]);
  expect(typeErrors(folder)).toBe("");
  expect(FILES.map(([name]) => name)).toEqual(["line-channel.js", "line-channel.test.js"]);
  expect(FILES[0]?.[1].trim().split("\n").length).toBeLessThan(60);
  expect(readFileSync(join(folder, "node_modules", "postern", "dist", "postern.1"), "utf8")).toContain(
    ".TH POSTERN 1",
  );
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  for (const [name, text] of FILES) writeFileSync(join(folder, name), text);

  expect(PAGE).toContain("```sh\nPLUGINS=./line-channel.js postern serve\n```");
  const env = {
    PLUGINS: "./line-channel.js",
    LINES_PORT: "0",
    POSTERN_HOME: join(folder, "home"),
    GATEWAY_ENABLED: "false",
    MODEL_PROVIDER: "builtin",
  };
  const service = startPostern(["serve"], { env, cwd: folder, bin });
  await service.printed("ready in");
  const [, port] = /lines\s+on\s+127\.0\.0\.1:(\d+)/.exec(service.stdout()) ?? [];
  expect(await ask(Number(port), "What is 2 + 3?\n")).toContain("5");
  service.kill("SIGTERM");
  expect(await service.ended).toBe(0);

  copyFileSync(MOOD, join(folder, "mood.ts"));
  const typed = startPostern(["serve"], { env: { ...env, PLUGINS: "./mood.ts" }, cwd: folder, bin });
  await typed.printed("ready in");
  expect(typed.stdout()).toMatch(/mood\s+on\s+feeling calm/);
  typed.kill("SIGTERM");
  expect(await typed.ended).toBe(0);

  copyFileSync(GUESTBOOK, join(folder, "guestbook.ts"));
  const gateway = { GATEWAY_ENABLED: "true", GATEWAY_PORT: "0", GATEWAY_AUTH_TOKEN: GUESTBOOK_TOKEN };
  const mounting = startPostern(["serve"], {
    env: { ...env, ...gateway, PLUGINS: "./guestbook.ts" },
    ...{ cwd: folder, bin },
  });
  await mounting.printed("ready in");
  const [, url] = /gateway\s+on\s+(http:\/\/127\.0\.0\.1:\d+)/.exec(mounting.stdout()) ?? [];
  const bearer = { authorization: `Bearer ${GUESTBOOK_TOKEN}` };
  const sign = (times: number, headers: Record<string, string> = bearer) =>
    fetch(`${url}/api/guestbook/ann`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ times }),
    });
  expect((await sign(2, {})).status).toBe(401);
  expect(await (await sign(9)).json()).toMatchObject({ error: { param: "times" } });
  expect(await (await sign(2)).json()).toEqual({ name: "ann of operator", visits: 2 });
  const described = await fetch(`${url}/api/openapi.json`, { headers: bearer });
  expect(await described.json()).toMatchObject({
    paths: { "/api/guestbook/{name}": { post: { summary: "Sign the guestbook" } } },
  });
  mounting.kill("SIGTERM");
  expect(await mounting.ended).toBe(0);

  expect(PAGE).toContain("```sh\nnode --test\n```");
  const tested = spawnSync(process.execPath, ["--test"], { cwd: folder, encoding: "utf8" });
  expect(tested.stdout).toMatch(/fail 0/);
  expect(tested.stdout).toContain("lines: a message reaches the agent word for word");
  expect(tested.status).toBe(0);
  createsProject(folder, bin, "wit/create-postern-tool", "my-tool", "tool.ts");
  createsProject(folder, bin, "plugins/create-postern-plugin", "my-chat", "channel.ts");
  const chat = join(folder, "my-chat");
  expect(compile(chat)).toBe("");
  const suite = spawnSync(process.execPath, ["--test"], { cwd: chat, encoding: "utf8" });
  expect(suite.stdout).toMatch(/fail 0/);
  expect(suite.stdout).toContain("my-chat: it stops in time while a turn is under way");
  const looked = await postern(["plugin", "check", "./my-chat", "--json"], {
    env: { POSTERN_HOME: join(folder, "home"), MY_CHAT_URL: "http://127.0.0.1:1" },
    ...{ cwd: folder, bin },
  });
  expect(JSON.parse(looked.stdout)).toMatchObject({
    ...{ name: "my-chat", kind: "channel", on: true, problems: [], replaces: [] },
    settings: [{ name: "MY_CHAT_URL" }],
  });

  const home = join(folder, "another-home");
  mkdirSync(home, { mode: 0o700 });
  await prepareShipped();
  const fresh = { POSTERN_HOME: home, TOOLS_SHIPPED: "true" };
  const { stdout } = await postern(["tool", "list", "--json"], { env: fresh, cwd: folder, bin });
  const { tools } = JSON.parse(stdout) as { tools: { name: string }[] };
  expect(tools.map(({ name }) => name)).toEqual([
    "convert",
    "read-page",
    "run-code",
    "weather",
    "web-search",
  ]);
  // The check of these files was compiled when the package was built; what it refuses is explained all the same.
  const root = join(folder, "node_modules", "postern");
  const grants = JSON.parse(readFileSync(join(root, "capabilities", "convert.json"), "utf8"));
  writeFileSync(join(folder, "wrong.json"), JSON.stringify({ ...grants, limits: { memory_mb: 0 } }));
  const wasm = join(root, "components", "convert", "dist", "convert.wasm");
  const install = ["tool", "install", wasm, "--capabilities", "wrong.json", "--name", "wrong"];
  const refused = await postern(install, { env: fresh, cwd: folder, bin });
  expect(refused.stderr).toContain("limits.memory_mb: must be between");
  for (const page of ["wit", "plugins", "capabilities", "components"]) {
    const place = join(folder, "node_modules", "postern", page);
    const text = readFileSync(join(place, "README.md"), "utf8");
    const pages = [...text.matchAll(/\]\(([^):#]+README\.md)\)/g)].map(([, path = ""]) => join(place, path));
    expect(pages.filter((path) => !existsSync(path))).toEqual([]);
  }
});

/** Tried by packages that do without. */
const OPTIONAL = ["bufferutil", "encoding", "supports-color", "utf-8-validate"];

/** What the built code imports and `npm install postern` would not bring. The page is one bundle, read by browsers. */
function undeclaredImports(root: string): string[] {
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  const files = globSync("{kernel,dist/{kernel,plugins,host,capabilities}}/**/*.js", { cwd: root });
  expect(files.length).toBeGreaterThan(100);
  const found = files
    .filter((file) => !file.includes("/page/dist/"))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8");
      const imports = [
        ...text.matchAll(/^(?:import|export)\b[^"'`]* from "([^"]+)"|\b(?:import|__require)\("([^"]+)"\)/gm),
      ];
      return imports.map(([, name, lazy]) => ({ file, name: name ?? lazy ?? "" }));
    })
    .filter(({ name }) => !isBuiltin(name) && !name.startsWith(".") && !OPTIONAL.includes(name));
  expect(new Set(found.map(({ name }) => name)).size).toBeGreaterThan(5);
  return found
    .filter(({ name }) => !((/^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? "") in dependencies))
    .map(({ file, name }) => `${file} imports ${name}`);
}

/** What TypeScript says of the declarations behind every door of the package, where it checks those of packages too. */
function typeErrors(folder: string): string {
  const root = join(folder, "node_modules", "postern");
  const { dependencies, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
    exports: Record<string, string | { types: string }>;
  };
  const doors = Object.entries(exports).flatMap(([door, to]) => {
    if (typeof to === "string") return [];
    const [before = "", after = ""] = to.types.slice("./".length).split("*");
    const nameOf = (file: string) => file.slice(before.length, file.length - after.length);
    return globSync(to.types, { cwd: root }).map((file) => ({
      types: join(root, file),
      path: `postern${door.slice(1).replace("*", () => nameOf(file))}`,
    }));
  });
  expect(doors.length).toBeGreaterThan(30);
  const packages = packagesOf(doors.map(({ types }) => types));
  expect(packages.filter((name) => !(name in dependencies || `@types/${name}` in dependencies))).toEqual([]);
  writeFileSync(join(folder, "doors.ts"), doors.map(({ path }) => `import "${path}";\n`).join(""));
  return compile(folder, "doors.ts", "--ignoreConfig", ...FLAGS.split(" "));
}

/** Returns what the compiler says. */
function compile(folder: string, ...args: readonly string[]): string {
  const typeRoots = join(ROOT, "node_modules", "@types");
  const command = [join(ROOT, "node_modules", ".bin", "tsc"), "--typeRoots", typeRoots, ...args];
  return spawnSync(process.execPath, command, { cwd: folder, encoding: "utf8" }).stdout;
}

/** The packages whose types these declarations use, also through other files of ours. */
function packagesOf(entries: readonly string[]): string[] {
  const files = new Set(entries);
  const packages = new Set<string>();
  for (const file of files)
    for (const [, name = ""] of readFileSync(file, "utf8").matchAll(/\b(?:from |import\()"([^"]+)"/g))
      if (name.startsWith(".")) files.add(join(file, "..", name.replace(/\.[jt]s$/, ".d.ts")));
      else if (!name.startsWith("node:")) packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? "");
  return [...packages].sort();
}

/** As `nc` would: sends, and reads until the other side ends. */
function ask(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.end(text));
    socket
      .on("data", (chunk) => {
        answer += chunk;
      })
      .on("end", () => resolve(answer))
      .on("error", reject);
  });
}

/** `npm create …` from its own tarball, with the packed Postern beside it and no network. */
function createsProject(folder: string, bin: string, source: string, name: string, file: string): void {
  const env = { ...process.env, npm_config_cache: join(folder, "npm-cache"), npm_config_offline: "true" };
  const npm = (cwd: string, ...args: string[]) => spawnSync("npm", args, { cwd, env, encoding: "utf8" });
  npm(fileURLToPath(new URL(`../../${source}`, import.meta.url)), "pack", "--pack-destination", folder);
  const command = basename(source);
  const [tarball = ""] = globSync(`${command}-*.tgz`, { cwd: folder });
  const commands = join(folder, "node_modules", ".bin");
  mkdirSync(commands, { recursive: true });
  if (!existsSync(join(commands, "postern"))) symlinkSync(bin, join(commands, "postern"));
  const created = npm(folder, "exec", "--yes", `--package=./${tarball}`, "--", command, name);
  expect([created.status, created.stdout]).toEqual([0, expect.stringContaining(`Created ${name}`)]);
  expect(existsSync(join(folder, name, file))).toBe(true);
}
