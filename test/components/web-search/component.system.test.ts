/** The built component in the real host, with recorded responses. */
import { expect, test } from "vitest";
import { playBack } from "../../../host/broker/recording.ts";
import { builtComponent, capabilitiesOf } from "../../support/tools/shipped.ts";
import { install, toolHost } from "../../support/tools/tool-host.ts";

const exchange = (url: string, answer: unknown) => ({
  request: { method: "GET", url },
  reply: { status: 200, body: JSON.stringify(answer) },
});

test("web-search answers on a fresh home, without a key and a setting", async () => {
  const host = await toolHost();
  await install(host, "web-search", await builtComponent("web-search"), capabilitiesOf("web-search"));
  const wikipedia = { query: { search: [{ title: "Tidal mill", snippet: "A mill" }] } };
  const exchanges = [
    exchange(
      "https://en.wikipedia.org/w/api.php?action=query&list=search&srsearch=tidal%20mill&srlimit=4&format=json",
      wikipedia,
    ),
    exchange("https://api2.marginalia-search.com/search?query=tidal%20mill&count=6", { results: [] }),
  ];
  const { outcome, receipt } = await host.run(
    { id: "call", name: "web-search", params: '{"query":"tidal mill"}' },
    { user: "operator", tape: playBack({ exchanges }, "search") },
  );
  expect(outcome.status === "ok" ? JSON.parse(outcome.output) : outcome).toMatchObject({
    services: ["Wikipedia", "Marginalia"],
    results: [{ title: "Tidal mill", url: "https://en.wikipedia.org/wiki/Tidal_mill", source: "Wikipedia" }],
    note: expect.stringContaining("Not answered: Wikidata"),
  });
  expect(receipt?.requests.map(({ host: asked }) => asked)).toContain("www.wikidata.org");
  const tool = await host.catalog.find("web-search");
  expect(tool?.capabilities.http?.allowlist.flatMap(({ methods }) => methods)).not.toContain("POST");
});
