/** The source tree as data: its files, who imports whom, the order of the rooms, and what `npm run house` prints of them. */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { ROOT } from "./clone.ts";

const FOLDERS = ["kernel", "plugins", "host", "capabilities", "components", "wit"];
const IMPORT = /(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s+|new URL\(\s*)"(\.{1,2}\/[^"]+)"/g;

export const FILES = globSync(`{${FOLDERS.join(",")}}/**/*.{ts,tsx,js}`, { cwd: ROOT })
  .filter((file) => !/(^|\/)(dist|node_modules|target)\//.test(file))
  .toSorted();

export const read = (file: string) => readFileSync(join(ROOT, file), "utf8");

/** Each file with the files of ours that it imports, types included. */
export const IMPORTS: ReadonlyMap<string, readonly string[]> = new Map(
  FILES.map((file) => {
    const targets = [...read(file).matchAll(IMPORT)].map(([, target]) =>
      relative(ROOT, resolve(ROOT, dirname(file), target as string)),
    );
    return [file, targets.filter((target) => /\.(ts|tsx|js)$/.test(target))] as const;
  }),
);

const TYPE_IMPORT = /^(?:import|export) type [^;]*?from "(\.{1,2}\/[^"]+)"/gm;

/** True where a file imports another's types alone, which are gone when it runs. */
export function importsTypesOnly(file: string, target: string): boolean {
  const text = read(file);
  const count = (pattern: RegExp) =>
    [...text.matchAll(pattern)].filter(
      ([, path]) => relative(ROOT, resolve(ROOT, dirname(file), path as string)) === target,
    ).length;
  return count(IMPORT) === count(TYPE_IMPORT);
}

/** The rooms of each wing, from the top down: a room imports only rooms below it. */
export const ORDER: Readonly<Record<string, readonly string[]>> = {
  kernel: [
    ...["kit", "cli", "kernel.ts", "order.ts", "readiness.ts", "silent-telemetry.ts"],
    ...["terminal", "files", "crypto", "net", "background.ts", "plugin.ts"],
    ...["settings", "log", "mask", "vocabulary", "schema", "text"],
    ...["package.ts", "mutex.ts", "threads.ts", "deadline.ts", "fault.ts"],
  ],
  host: [
    ...[
      "proposals",
      "users",
      "routes",
      "commands",
      "library",
      "service-host.ts",
      "admin.ts",
      "tool-host.ts",
      "setup.ts",
      "installer.ts",
      "authorization.ts",
    ],
    ...[
      "author",
      "mcp",
      "calls",
      "sources",
      "catalog",
      "trust",
      "compile",
      "sandbox",
      "wasm",
      "broker",
      "secrets",
      "services.ts",
      "wire.ts",
    ],
  ],
  "plugins/store": [
    ...["routes", "commands", "stored-settings", "maintenance", "reading", "copy", "sqlite", "postgres"],
    ...["fleet", "engine", "config", "limits", "keys", "services.ts", "wire.ts"],
  ],
  "plugins/accounts": ["routes", "commands", "sign-in", "records", "settings.ts", "services.ts"],
  "plugins/models": [
    "routes",
    "commands",
    "builtin",
    "settings.ts",
    "choice",
    "spending",
    "providers",
    "table",
    "services.ts",
  ],
  "plugins/memory": [
    ...[
      "routes",
      "tools",
      "memory.ts",
      "search",
      "transfer.ts",
      "tables.ts",
      "indexer.ts",
      "vectors.ts",
      "hamming.ts",
    ],
    ...[
      "embedder.ts",
      "removed.ts",
      "documents.ts",
      "word-index.ts",
      "services.ts",
      "wire.ts",
      "path.ts",
      "word-rows.ts",
    ],
  ],
  "plugins/workspace": [
    ...[
      "routes",
      "tools",
      "workspace.ts",
      "searched-files.ts",
      "undo.ts",
      "edits.ts",
      "agreements.ts",
      "lookup.ts",
      "parts.ts",
      "mounts",
    ],
    ...["change-store.ts", "sweep.ts", "transfer.ts", "history.ts", "tree.ts", "tables.ts"],
    ...[
      "search-worker.ts",
      "search.ts",
      "contents.ts",
      "account.ts",
      "file-type.ts",
      "services.ts",
      "wire.ts",
      "path.ts",
    ],
  ],
  "plugins/agent": [
    ...[
      "routes",
      "commands",
      "comparison",
      "turn",
      "live",
      "context",
      "settings.ts",
      "extensions.ts",
      "threads",
      "safety",
      "services.ts",
      "wire.ts",
    ],
  ],
  "plugins/provenance": [
    ...["routes", "commands", "explainer.ts", "gate.ts", "stored-trace.ts", "settings.ts", "destinations.ts"],
    ...["services.ts", "sentences.ts", "explained.ts", "links.ts", "sources.ts", "trace.ts", "ruling.ts"],
    ...["call", "outputs", "person", "wire.ts"],
  ],
  "plugins/messaging": [
    "routes",
    "commands",
    "setup.ts",
    "text",
    "charts",
    "outbox.ts",
    "lease.ts",
    "services.ts",
    "wire.ts",
  ],
  "plugins/jobs": ["routes", "commands", "settings.ts", "routines", "queue", "services.ts", "routine.ts"],
  "plugins/gateway": [
    ...["gateway.ts", "server.ts", "app.ts", "middleware"],
    ...["routes", "socket", "route.ts", "mounts.ts", "sign-in", "settings.ts", "services.ts", "api"],
  ],
  "plugins/page": ["frame", "pages", "chat", "widgets", "state", "text", "api.ts"],
  "plugins/responses": ["endpoints", "completions", "answer", "turn", "resolve", "stored", "parse", "wire"],
  "plugins/mcp": [
    "http",
    "server",
    "tasks",
    "features",
    "elicitation",
    "protocol",
    "parts.ts",
    "services.ts",
  ],
  "plugins/webhook": [
    "routes",
    "requests",
    "callbacks",
    "integrations",
    "tables.ts",
    "settings.ts",
    "derived-secrets.ts",
    "job-wire.ts",
    "services.ts",
    "integration.ts",
  ],
  "plugins/email": ["reading", "message-id.ts"],
  "plugins/telegram": ["telegram.ts", "receiver.ts", "sender.ts", "updates.ts", "bot-api.ts", "settings.ts"],
  "plugins/slack": ["slack.ts", "connection.ts", "client.ts", "events.ts", "settings.ts", "manifest.ts"],
  "plugins/tui": ["local", "screen", "commands", "files", "conversation", "text", "services.ts"],
  "plugins/telemetry": ["tracing", "metrics.ts", "settings.ts", "services.ts"],
};

/** What plugins and the host may import of the kernel: the contract, and what they build with, by subject. */
export const isDoor = (file: string) => /^kernel\/(?:plugin|kit\/\w+)\.ts$/.test(file);

/** The doors that a browser can load, so that anybody's page could use them. */
export const BROWSER_DOORS = ["text", "display", "colours"].map((door) => `kernel/kit/${door}.ts`);

/** A thread and a tool's process load only what they use; the kernel's doors would bring the rest along. */
export const isApart = (file: string) => /^host\/sandbox\/inside\/|-worker\.ts$/.test(file);

/** A folder's entries that import each other in a circle. */
export interface Knot {
  readonly folder: string;
  readonly entries: readonly string[];
}

/** Looks at every folder: its sub-folders and files are the nodes, and an import between two of them is an edge. */
export function knots(): readonly Knot[] {
  const folders = new Set(FILES.flatMap((file) => ancestors(file)));
  return [...folders].toSorted().flatMap((folder) => {
    const edges = edgesIn(folder);
    return circles(edges).map((entries) => ({ folder, entries: entries.toSorted() }));
  });
}

/** Imports in a wing that point up its order, or to a room that the order does not name. */
export function upwardImports(wing: string, order: readonly string[]): readonly string[] {
  const found: string[] = [];
  const place = (entry: string): number => {
    const at = order.indexOf(entry);
    // A file at the root that is not named stands above all rooms; a room has to be named.
    return at >= 0 ? at : /\.(ts|tsx|js)$/.test(entry) ? -1 : Number.NaN;
  };
  for (const [file, targets] of IMPORTS) {
    if (!file.startsWith(`${wing}/`)) continue;
    for (const target of targets) {
      if (!target.startsWith(`${wing}/`)) continue;
      const [from, to] = [entryOf(wing, file), entryOf(wing, target)];
      if (from === to) continue;
      const [above, below] = [place(from), place(to)];
      // Among the files on top, no circle of files is rule enough.
      const isDown = above < below || (above === -1 && below === -1);
      if (!isDown) found.push(`${file} imports ${target}`);
    }
  }
  return found;
}

/** The plugin that a file belongs to; the tool host counts as one. */
const pluginOf = (file: string): string | undefined =>
  file.startsWith("host/") ? "host" : /^plugins\/[^/]+(?=\/)/.exec(file)?.[0];

/** The service names of `pattern`'s first group, by the plugin whose file declares or mentions them. */
function servicesIn(pattern: RegExp): readonly (readonly [plugin: string, service: string])[] {
  return FILES.flatMap((file) => {
    const plugin = pluginOf(file);
    if (plugin === undefined) return [];
    const lists = [...read(file).matchAll(pattern)].flatMap(([, list = ""]) => list.match(/\w+/g) ?? []);
    return lists.map((service) => [plugin, service] as const);
  });
}

/**
 * Circles of plugins that know each other's types: by an import, also one of types alone, or by `Services["x"]`, which is a type
 * of the plugin that declares x.
 */
export function typeCircles(): readonly (readonly string[])[] {
  const declared = servicesIn(/interface Services \{([^}]*)\}/g);
  const providers = new Map(declared.map(([plugin, service]) => [service, plugin]));
  const mentioned = [
    ...servicesIn(/\bServices\["(\w+)"\]/g),
    ...servicesIn(/\bPick<\s*Services,([^>]*)>/g),
  ].map(([plugin, service]) => [plugin, providers.get(service)] as const);
  const imported = [...IMPORTS].flatMap(([file, targets]) =>
    targets.map((target) => [pluginOf(file), pluginOf(target)] as const),
  );
  const edges = new Map<string, Set<string>>();
  for (const [from, to] of [...mentioned, ...imported])
    if (from !== undefined && to !== undefined && from !== to)
      edges.set(from, (edges.get(from) ?? new Set()).add(to));
  return circles(edges).map((members) => members.toSorted());
}

const lineCount = (file: string) => read(file).split("\n").length - 1;

/** A program writes these from what is counted already, and a test compares them with what it writes. */
const GENERATED: readonly string[] = ["plugins/page/api.ts", "wit/guest.d.ts"];

/** The lines in a folder that somebody wrote. */
export function linesOf(folder: string): number {
  const written = FILES.filter((file) => file.startsWith(`${folder}/`) && !GENERATED.includes(file));
  return sum(written.map(lineCount));
}

export const generatedLines = (): number => sum(GENERATED.map(lineCount));

export const sum = (figures: readonly number[]): number =>
  figures.reduce((total, figure) => total + figure, 0);

function ancestors(file: string): string[] {
  const parts = file.split("/");
  return parts.slice(0, -1).map((_, at) => parts.slice(0, at + 1).join("/"));
}

const entryOf = (folder: string, file: string) => file.slice(folder.length + 1).split("/")[0] as string;

function edgesIn(folder: string): ReadonlyMap<string, ReadonlySet<string>> {
  const edges = new Map<string, Set<string>>();
  for (const [file, targets] of IMPORTS) {
    if (!file.startsWith(`${folder}/`)) continue;
    for (const target of targets) {
      if (!target.startsWith(`${folder}/`)) continue;
      const [from, to] = [entryOf(folder, file), entryOf(folder, target)];
      if (from !== to) edges.set(from, (edges.get(from) ?? new Set()).add(to));
    }
  }
  return edges;
}

/** Tarjan's strongly connected components, those with more than one member. */
function circles(edges: ReadonlyMap<string, ReadonlySet<string>>): readonly string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (node: string): void => {
    index.set(node, index.size);
    low.set(node, index.get(node) as number);
    stack.push(node);
    for (const next of edges.get(node) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(node, Math.min(low.get(node) as number, low.get(next) as number));
    }
    if (low.get(node) !== index.get(node)) return;
    const members = stack.splice(stack.indexOf(node));
    if (members.length > 1) found.push(members);
  };
  for (const node of edges.keys()) if (!index.has(node)) visit(node);
  return found;
}
