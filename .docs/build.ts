/** `npm run docs`: the documentation as a folder of files, made from the READMEs. Fails on a link that leads nowhere. */
import { existsSync, globSync } from "node:fs";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, extname, join, normalize, relative } from "node:path";
import { parseArgs } from "node:util";
import { type Entry, layOut } from "./layout.ts";
import { type Page, readPage } from "./page.ts";

const ROOT = join(import.meta.dirname, "..");

/** Every page, in the order of the contents. A document that is in none of the groups fails the build. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  Postern: [
    "README.md",
    "plugins/tui/README.md",
    "plugins/gateway/README.md",
    "plugins/agent/routes/README.md",
    "plugins/accounts/README.md",
    "plugins/messaging/README.md",
    "CHANGELOG.md",
  ],
  Tools: [
    "wit/README.md",
    "wit/languages.md",
    "capabilities/README.md",
    "components/README.md",
    "host/README.md",
    "host/library/README.md",
    "host/sources/README.md",
    "host/trust/README.md",
    "host/mcp/README.md",
  ],
  Channels: ["plugins/telegram/README.md", "plugins/slack/README.md", "plugins/email/README.md"],
  APIs: [
    "plugins/responses/README.md",
    "plugins/responses/RECIPES.md",
    "plugins/mcp/README.md",
    "plugins/webhook/README.md",
  ],
  "Running it": [
    ".deploy/README.md",
    ".docs/troubleshooting.md",
    ".docs/upgrading.md",
    "plugins/telemetry/README.md",
    "plugins/store/README.md",
    "SECURITY.md",
  ],
  "How it is built": [
    ".docs/architecture.md",
    "kernel/README.md",
    "plugins/README.md",
    "plugins/page/README.md",
    "plugins/page/style/README.md",
    "plugins/agent/README.md",
    "plugins/models/README.md",
    "plugins/memory/README.md",
    "plugins/workspace/README.md",
    "plugins/provenance/README.md",
    "plugins/jobs/README.md",
    "plugins/delegation/README.md",
    "plugins/guidance/README.md",
    "plugins/home/README.md",
    "kernel/cli/operator/README.md",
    "test/bench/README.md",
    "test/simulation/README.md",
    "CONTRIBUTING.md",
  ],
};

/** For the tool that `tool new` makes, not for a reader. */
const NOT_PAGES = [
  "wit/templates/**",
  "**/node_modules/**",
  "**/dist/**",
  ".docs/site/**",
  "test/fixtures/**",
];

/** `a/README.md` is at `a/`, other documents beside it. */
function addressOf(document: string): string {
  const [, folder = "", name = ""] = /^(.*?)([^/]+)\.md$/.exec(document) ?? [];
  const plain = folder.replace(/^\./, "");
  return name === "README" ? `${plain}index.html` : `${plain}${name.toLowerCase()}.html`;
}

export interface Site {
  readonly pages: readonly string[];
  readonly problems: readonly string[];
}

/** Writes the site to this folder and answers what is wrong with it. */
export async function buildSite(target: string, root = ROOT): Promise<Site> {
  const documents = Object.values(GROUPS).flat();
  const found = globSync("**/*.md", { cwd: root, exclude: NOT_PAGES }).concat(
    globSync(".{docs,deploy}/*.md", { cwd: root }),
  );
  const problems = found
    .filter((document) => !documents.includes(document))
    .map((document) => `${document} is in no group of .docs/build.ts`);
  const pages = new Map<string, Page>();
  for (const document of documents) {
    const text = await readFile(join(root, document), "utf8");
    pages.set(document, readPage(text));
  }
  const files = new Set<string>();
  /** Returns where a link of this document leads on the site. */
  const resolve = (document: string, link: string): string => {
    if (/^[a-z][a-z\d+.-]*:/i.test(link)) return link;
    const [path = "", anchor] = link.split("#");
    const linked = path === "" ? document : normalize(join(dirname(document), path)).replace(/\/$/, "");
    const aim = pages.has(linked)
      ? linked
      : pages.has(join(linked, "README.md"))
        ? join(linked, "README.md")
        : undefined;
    const page = aim === undefined ? undefined : pages.get(aim);
    if (page === undefined && !existsSync(join(root, linked)))
      problems.push(`${document}: there is no ${path}`);
    if (anchor !== undefined && page !== undefined && !page.anchors.has(anchor))
      problems.push(`${document}: ${path || "the page"} has no heading #${anchor}`);
    if (page === undefined && extname(linked) !== "") files.add(linked);
    const place = aim === undefined ? linked.replace(/^\./, "") : addressOf(aim);
    const way = relative(dirname(addressOf(document)), place) || place;
    return anchor === undefined ? way : `${way}#${anchor}`;
  };
  const entries: Entry[] = Object.entries(GROUPS).flatMap(([group, members]) =>
    members.map((document) => ({
      group,
      address: addressOf(document),
      title: pages.get(document)?.title ?? document,
    })),
  );
  await rm(target, { recursive: true, force: true });
  for (const [document, page] of pages) {
    const address = addressOf(document);
    await mkdir(dirname(join(target, address)), { recursive: true });
    const body = page.toHtml((link) => resolve(document, link));
    await writeFile(join(target, address), layOut({ address, title: page.title, body, entries }));
  }
  for (const file of files) {
    const place = join(target, file.replace(/^\./, ""));
    await mkdir(dirname(place), { recursive: true });
    if (existsSync(join(root, file))) await copyFile(join(root, file), place);
  }
  await copyFile(join(import.meta.dirname, "style.css"), join(target, "style.css"));
  return { pages: documents.map(addressOf), problems };
}

if (process.argv[1] === import.meta.filename) {
  const { positionals } = parseArgs({ allowPositionals: true });
  const target = positionals[0] ?? join(import.meta.dirname, "site");
  const { pages, problems } = await buildSite(target);
  process.exitCode = problems.length > 0 ? 1 : 0;
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.stdout.write(`${pages.length} pages in ${relative(process.cwd(), target)}; open index.html\n`);
}
