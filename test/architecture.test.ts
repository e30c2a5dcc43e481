/** The house rules that a machine can keep: which way imports point, no cycles, names that mean something. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  BROWSER_DOORS,
  FILES,
  IMPORTS,
  importsTypesOnly,
  isApart,
  isDoor,
  knots,
  ORDER,
  read,
  typeCircles,
  upwardImports,
} from "./support/architecture.ts";
import { ROOT } from "./support/clone.ts";

function offences(
  allowed: (file: string, target: string) => boolean,
  of: (file: string) => boolean,
): string[] {
  const found: string[] = [];
  for (const [file, targets] of IMPORTS) {
    if (!of(file)) continue;
    for (const target of targets) if (!allowed(file, target)) found.push(`${file} imports ${target}`);
  }
  return found;
}

const under = (folder: string) => (file: string) => file.startsWith(`${folder}/`);

describe("imports", () => {
  test("the walk sees the code at all", () => {
    expect(FILES.length).toBeGreaterThan(20);
    expect(IMPORTS.get("kernel/kernel.ts")).toContain("kernel/order.ts");
  });

  const isServiceType = (file: string, target: string) =>
    /^(?:plugins\/\w+|host)\/services\.ts$/.test(target) && importsTypesOnly(file, target);

  test("the kernel imports only itself; main.ts alone knows everyone", () => {
    const isKernel = (file: string) => under("kernel")(file) && file !== "kernel/cli/main.ts";
    // The operator's commands start services, so they may know their types.
    const allowed = (file: string, target: string) =>
      under("kernel")(target) || (under("kernel/cli/operator")(file) && isServiceType(file, target));
    expect(offences(allowed, isKernel)).toEqual([]);
  });

  test("nobody imports main.ts but the launcher", () => {
    const isOther = (file: string) => file !== "kernel/cli/bin.js";
    expect(offences((_file, target) => target !== "kernel/cli/main.ts", isOther)).toEqual([]);
  });

  test("a plugin imports the kernel, itself and the types of others' services, and nothing else of them or the host", () => {
    const ownFolder = (file: string) => file.split("/").slice(0, 2).join("/");
    const allowed = (file: string, target: string) =>
      under("kernel")(target) || under(ownFolder(file))(target) || isServiceType(file, target);
    // For TypeScript, `postern/plugin` has the types of every service.
    const isPlugin = (file: string) => under("plugins")(file) && file !== "plugins/services.ts";
    expect(offences(allowed, isPlugin)).toEqual([]);
  });

  test("the page imports itself and the published doors that a browser can load; its plugin.ts may use any door", () => {
    const allowed = (file: string, target: string) =>
      under("plugins/page")(target) ||
      (file === "plugins/page/plugin.ts" ? isDoor(target) : BROWSER_DOORS.includes(target));
    expect(offences(allowed, under("plugins/page"))).toEqual([]);
  });

  test("a door that a browser can load is pure functions: no module of Node's, nothing but text and vocabulary", () => {
    const loaded = new Set(BROWSER_DOORS);
    for (const file of loaded)
      for (const target of IMPORTS.get(file) ?? []) if (!importsTypesOnly(file, target)) loaded.add(target);
    const inside = [...loaded].filter((file) => !BROWSER_DOORS.includes(file));
    expect(inside.length).toBeGreaterThan(5);
    expect(inside.filter((file) => !/^kernel\/(?:text|vocabulary)\//.test(file))).toEqual([]);
    expect([...loaded].filter((file) => /from "node:/.test(read(file)))).toEqual([]);
  });

  test("the host imports the kernel, the capabilities, itself and the types of plugins' services; the library opens a store", () => {
    const allowed = (file: string, target: string) =>
      ["kernel", "capabilities", "host"].some((folder) => under(folder)(target)) ||
      `${file} ${target}` === "host/library/open.ts plugins/store/sqlite/home-store.ts" ||
      isServiceType(file, target);
    expect(offences(allowed, under("host"))).toEqual([]);
  });

  test("capabilities import nothing of ours, and a component knows only its own folder", () => {
    expect(offences((_file, target) => under("capabilities")(target), under("capabilities"))).toEqual([]);
    const ownFolder = (file: string) => file.split("/").slice(0, 2).join("/");
    const isComponent = (file: string) => under("components")(file) && file.split("/").length > 2;
    expect(offences((file, target) => under(ownFolder(file))(target), isComponent)).toEqual([]);
  });

  test("plugins and the host use the doors of the kernel", () => {
    const allowed = (_file: string, target: string) => !under("kernel")(target) || isDoor(target);
    const isUser = (file: string) => (under("plugins")(file) || under("host")(file)) && !isApart(file);
    expect(offences(allowed, isUser)).toEqual([]);
  });

  test.each(Object.entries(ORDER))("in %s a room imports only rooms below it", (wing, order) => {
    expect(upwardImports(wing, order)).toEqual([]);
  });

  test("no folder anywhere has entries that import each other in a circle", () => {
    expect(knots()).toEqual([]);
  });

  test("no plugins know each other's types in a circle", () => {
    expect(typeCircles()).toEqual([]);
  });

  test("there is no import cycle", () => {
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(" → "));
      if (done.has(file) || path.includes(file)) return;
      for (const target of IMPORTS.get(file) ?? []) visit(target, [...path, file]);
      done.add(file);
    };
    for (const file of FILES) visit(file, []);
    expect(cycles).toEqual([]);
  });
});

describe("the kernel", () => {
  const core = FILES.filter((file) => /^kernel\/[^/]+$/.test(file));

  test("its core names no channel, and neither does the vocabulary", () => {
    const named = [...core, ...FILES.filter(under("kernel/vocabulary"))].filter((file) =>
      /["'`](tui|gateway|webhook|responses)["'`]/.test(read(file)),
    );
    expect(named).toEqual([]);
  });

  test("only its net folder knows the web framework", () => {
    const users = FILES.filter(under("kernel")).filter((file) => /from "(koa|@koa\/[^"]+)"/.test(read(file)));
    expect(users.filter((file) => !under("kernel/net")(file))).toEqual([]);
  });
});

test("a test without a tier in its name starts no process, component or browser", () => {
  const starts = /from "(?:node:child_process|[./]+\/support\/(?:processes|tools)\/[^"]+)"/;
  const quick = globSync("test/**/*.test.ts", { cwd: ROOT }).filter(
    (file) => !/\.(system|extended)\.test\.ts$/.test(file),
  );
  expect(quick.length).toBeGreaterThan(100);
  expect(quick.filter((file) => starts.test(readFileSync(join(ROOT, file), "utf8")))).toEqual([]);
});

test("the environment is read in one place", () => {
  const readers = FILES.filter((file) => file !== "kernel/cli/bin.js" && !under("wit")(file)).filter((file) =>
    /process\.env\b/.test(read(file)),
  );
  expect(readers).toEqual(["kernel/cli/service/session.ts"]);
});

test.each([
  ["addresses are judged", /\.range\(\)|BlockList/, "kernel/net/address.ts"],
  ["known secrets are replaced", /= "\[secret\]"/, "kernel/mask/matcher.ts"],
  ["reserved prefixes of tool names are listed", /"mission_"/, "kernel/vocabulary/tool-names.ts"],
  ["a kind of fault becomes an HTTP answer", /"rate_limit_error"/, "kernel/net/http-fault.ts"],
  ["a rate limit is put into headers", /x-ratelimit-/i, "kernel/net/rate-limit.ts"],
])("%s in one place", (_what, pattern, home) => {
  expect(FILES.filter((file) => pattern.test(read(file)))).toEqual([home]);
});

test("schemas are checked, and mistakes explained, in one place", () => {
  const checkers = FILES.filter((file) => /(?:from |import\()"ajv[/"-]/.test(read(file)));
  // A stranger's schema is checked in the stranger's process.
  const strangers = "host/sandbox/inside/bounded-check.ts";
  expect(checkers.filter((file) => !under("kernel/schema")(file))).toEqual([strangers]);
});

test("a stranger's schema is run in the stranger's process alone", () => {
  const importersOf = (target: string) => FILES.filter((file) => IMPORTS.get(file)?.includes(target));
  expect(importersOf("host/sandbox/inside/bounded-check.ts")).toEqual(["host/sandbox/inside/params.ts"]);
  expect(
    importersOf("host/sandbox/inside/params.ts").filter((file) => !under("host/sandbox/inside")(file)),
  ).toEqual([]);
});

test("only what makes strangers' text visible writes to a terminal, and the log, which does so itself", () => {
  const isOurs = (file: string) =>
    file !== "kernel/cli/bin.js" &&
    !["components", "wit", "plugins/template", "plugins/create-postern-plugin"].some((folder) =>
      under(folder)(file),
    );
  const writers = FILES.filter((file) => isOurs(file) && !under("host/sandbox/inside")(file)).filter((file) =>
    /std(?:out|err)\.write\(|console\.\w+\(/.test(read(file)),
  );
  expect(writers.toSorted()).toEqual([
    "host/commands/author/temporary-host.ts",
    "kernel/cli/service/session.ts",
    "kernel/terminal/output.ts",
    // Shows the person's own keys, without what a terminal would obey.
    "plugins/tui/preview.ts",
    // Asks the terminal for its keys, in our words alone.
    "plugins/tui/terminal.ts",
  ]);
});

test("handlers use our names: what the wire calls them comes from the declarations", () => {
  const handlers = FILES.filter((file) => /^(?:plugins\/\w+|host)\/(?:api|routes|socket)\//.test(file));
  expect(handlers.length).toBeGreaterThan(10);
  const snake = /^\s*(?:readonly )?[a-z]+(?:_[a-z]+)+\??:/m;
  expect(handlers.filter((file) => snake.test(read(file)))).toEqual([]);
});

test("of TypeBox only the types are loaded: its modules would slow every start", () => {
  const loaders = FILES.filter((file) => /^import (?!type )[^;]*"typebox"/m.test(read(file)));
  expect(loaders).toEqual([]);
});

test("every request leaves through kernel/net: nobody else uses undici or the platform's fetch", () => {
  const outside = FILES.filter(
    (file) =>
      /^(kernel|plugins|host)\//.test(file) && !/^(kernel\/net|plugins\/page|plugins\/template)\//.test(file),
  );
  const leaks = outside.filter((file) => {
    const text = read(file);
    // A file may call a `fetch` that it was given or declares.
    const hasOwn = /function fetch\(|const fetch = |\bfetch: [A-Z(]|[{,]\s*fetch\b[^(]*\} = /.test(text);
    const callsFetch = /(?:await|return|=>|=|\()\s*(?:globalThis\.)?fetch\(/.test(text);
    return /(?:from |import\()"undici"/.test(text) || (callsFetch && !hasOwn);
  });
  expect(leaks).toEqual([]);
});

test("no file is named for nothing in particular", () => {
  const everything = [...FILES, ...globSync("test/**/*.ts", { cwd: ROOT })];
  expect(everything.filter((file) => /(^|\/)(utils?|helpers?|common|misc)(\.|\/|-)/i.test(file))).toEqual([]);
});

test("the top level holds what was agreed and nothing else", () => {
  const agreed =
    /^(package(-lock)?\.json|tsconfig\.json|kernel|plugins|host|capabilities|components|wit|test|dist|node_modules|README\.md|CHANGELOG\.md|CONTRIBUTING\.md|SECURITY\.md|LICENSE|\..*)$/;
  expect(globSync("{*,.*}", { cwd: ROOT }).filter((name) => !agreed.test(name))).toEqual([]);
});
