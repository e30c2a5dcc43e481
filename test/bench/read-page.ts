/** A 300 kB article: a whole call of `read-page`, beside `fetch` and the same code in Node, and Readability on linkedom. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readability } from "@mozilla/readability";
import { read } from "../../components/read-page/read.ts";
import { openTemporaryHost } from "../../host/commands/author/temporary-host.ts";
import type { ServiceHost } from "../../host/service-host.ts";
import { openHomeStore } from "../support/tools/home-store.ts";
import { builtComponent, capabilitiesOf } from "../support/tools/shipped.ts";
import { install } from "../support/tools/tool-host.ts";
import { atMost, type Bench, compare, interleave } from "./support/bench.ts";
import { inFolder } from "./support/programs.ts";
import { openRivals } from "./support/rivals.ts";

const BYTES = 300_000;
const ROUNDS = 9;
const COLD_ROUNDS = 3;

/** Paragraphs with links, headings, lists and a table now and then, as an encyclopedia has them. */
function article(): string {
  const parts: string[] = [];
  let length = 0;
  for (let at = 1; length < BYTES; at++) {
    const rows = Array.from({ length: 8 }, (_, row) => `<tr><td>${row}</td><td>${row * at}</td></tr>`);
    const part = `<h2 id="s${at}">Part ${at}</h2>
<p class="text">Lithium iron phosphate cells, which are <a href="/wiki/cell${at}">cheaper</a> and <em>safer</em>, now hold more than half of the market, and the grid is changing, as was said in ${1990 + at}.</p>
<p>The second paragraph of part ${at} goes on for a while, with commas, and with <b>bold</b> words, until it ends in a full stop.</p>
<ul><li>One</li><li>Two <code>x</code></li></ul>${at % 10 === 0 ? `<table><tr><th>a</th><th>b</th></tr>${rows.join("")}</table>` : ""}`;
    parts.push(part);
    length += part.length;
  }
  const menu = Array.from({ length: 60 }, (_, at) => `<li><a href="/s/${at}">Section ${at}</a></li>`);
  return `<!doctype html><html lang="en"><head><title>Batteries</title></head><body><nav><ul>${menu.join("")}</ul></nav><main><article><h1>Batteries</h1>${parts.join("\n")}</article></main><footer>Imprint</footer></body></html>`;
}

async function call(host: ServiceHost, url: string): Promise<void> {
  const { outcome } = await host.run(
    { id: "call", name: "read-page", params: JSON.stringify({ url }) },
    { user: "operator" },
  );
  if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
}

async function readInNode(url: string): Promise<void> {
  const response = await fetch(url);
  const body = new Uint8Array(await response.arrayBuffer());
  const contentType = response.headers.get("content-type") ?? "";
  JSON.stringify(read({ status: response.status, url, contentType, body }, { url }));
}

interface Linkedom {
  parseHTML(html: string): { readonly document: Document };
}

async function readWith({ parseHTML }: Linkedom, url: string): Promise<void> {
  const { document } = parseHTML(await (await fetch(url)).text());
  JSON.stringify(new Readability(document).parse());
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

export const bench: Bench = {
  name: "read-page",
  about: "a whole call for a 300 kB article on loopback, beside fetch and the same code in plain Node",
  run: (progress) =>
    inFolder(async (folder) => {
      const page = article();
      const server = createServer((_, response) => {
        response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      const url = `http://${place}/article`;
      const store = openHomeStore(folder);
      const open = () => openTemporaryHost(folder, store, new Set([place]));
      let host = await open();
      // The rate limit is for people, not for a bench.
      const capabilities = JSON.parse(capabilitiesOf("read-page"));
      capabilities.http.rate_limit = { requests_per_minute: 10_000, requests_per_hour: 10_000 };
      await install(host, "read-page", await builtComponent("read-page"), JSON.stringify(capabilities));
      try {
        const cold: number[] = [];
        for (let round = 0; round < COLD_ROUNDS; round++) {
          progress(`cold, ${round + 1} of ${COLD_ROUNDS}`);
          await host.close();
          host = await open();
          cold.push(await timed(() => call(host, url)));
        }
        for (let round = 0; round < 5; round++) await readInNode(url);
        const NODE = "fetch and the same code in Node";
        const linkedom = (await openRivals(progress))?.load<Linkedom>("linkedom");
        if (linkedom !== undefined) for (let round = 0; round < 5; round++) await readWith(linkedom, url);
        const samples = await interleave(
          {
            [NODE]: () => timed(() => readInNode(url)),
            ...(linkedom && {
              "fetch, Readability and linkedom in Node": () => timed(() => readWith(linkedom, url)),
            }),
            "read-page, warm": () => timed(() => call(host, url)),
          },
          ROUNDS,
          progress,
        );
        return compare(
          { ...samples, "read-page, first call of a service": cold },
          { unit: "ms", what: "300 kB", baseline: NODE, goals: { "read-page, warm": atMost(3) } },
        );
      } finally {
        await host.close();
        await store.close();
        server.close();
      }
    }),
};
