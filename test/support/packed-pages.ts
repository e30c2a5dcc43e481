/** Links between the pages of a package, which has some files of the clone and not others. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readPage } from "../../.docs/page.ts";

/** Each link of a page that leads to no file, or no heading, among these. Paths are seen from the root. */
export function deadLinks(root: string, paths: readonly string[]): readonly string[] {
  const files = new Set(paths);
  const pages = new Map(
    paths
      .filter((path) => path.endsWith(".md"))
      .map((path) => [path, readPage(readFileSync(join(root, path), "utf8"))]),
  );
  const isThere = (path: string) =>
    files.has(path) || paths.some((file) => file.startsWith(`${path.replace(/\/$/, "")}/`));
  return [...pages].flatMap(([path, page]) =>
    [...page.toHtml((to) => to).matchAll(/(?:href|src)="([^"]*)"/g)].flatMap(([, link = ""]) => {
      if (/^[a-z]+:/.test(link)) return [];
      const [to = "", anchor] = link.split("#");
      const target = to === "" ? path : join(dirname(path), to);
      const isAnchored = anchor === undefined || pages.get(target)?.anchors.has(anchor);
      return isThere(target) && isAnchored ? [] : [`${path}: ${link}`];
    }),
  );
}
