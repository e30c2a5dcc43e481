/** The frame around each document: contents at the side, no script, nothing fetched from elsewhere. */
import { dirname, relative } from "node:path";
import { escapeHtml } from "./page.ts";

export interface Entry {
  readonly group: string;
  readonly address: string;
  readonly title: string;
}

interface Laid {
  readonly address: string;
  readonly title: string;
  readonly body: string;
  readonly entries: readonly Entry[];
}

export function layOut({ address, title, body, entries }: Laid): string {
  const wayTo = (other: string) => relative(dirname(address), other) || other;
  const groups = Map.groupBy(entries, ({ group }) => group);
  const contents = [...groups].map(([group, members]) => {
    const links = members.map(
      (entry) =>
        `<li><a href="${wayTo(entry.address)}"${entry.address === address ? ' aria-current="page"' : ""}>${escapeHtml(entry.title)}</a></li>`,
    );
    return `<h2>${escapeHtml(group)}</h2>\n<ul>\n${links.join("\n")}\n</ul>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title === "Postern" ? "Postern" : `${title} · Postern`)}</title>
<link rel="stylesheet" href="${wayTo("style.css")}">
</head>
<body>
<a class="skip" href="#text">Skip to the text</a>
<nav aria-label="Contents">
${contents.join("\n")}
</nav>
<main id="text">
${body}</main>
</body>
</html>
`;
}
