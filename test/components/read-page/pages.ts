/** The pages written for these tests, and how what was read of one is written down beside it. */
import { join } from "node:path";
import type { Output } from "../../../components/read-page/read.ts";
import { ROOT } from "../../support/clone.ts";

export const FOLDER = join(ROOT, "test", "fixtures", "pages");
export const ADDRESS = "https://site.example/pages/page.html";

export const TYPES: Readonly<Record<string, string>> = {
  html: "text/html",
  xml: "application/xml",
  json: "application/feed+json",
  pdf: "application/pdf",
};

export function show({ content, sources: _, ...about }: Output): string {
  const lines = Object.entries(about).map(([name, value]) => `${name}: ${value}`);
  return `---\n${lines.join("\n")}\n---\n\n${content}\n`;
}
