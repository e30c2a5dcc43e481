import { inflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { createCharts } from "../../../components/run-code/chart.ts";
import { createPictures } from "../../../plugins/messaging/charts/pictures.ts";
import { scriptedModel, toolsPlugin } from "../../support/services/agent.ts";
import { bootChat, createFakeChat, pairSender } from "../../support/services/chat.ts";
import { afterThisTest } from "../../support/undo.ts";

function chartOf(draw: (charts: ReturnType<typeof createCharts>) => unknown): string {
  let drawn = "";
  draw(
    createCharts(({ svg }) => {
      drawn = svg;
    }),
  );
  return drawn;
}

const SALES = chartOf((charts) =>
  charts.bar(
    [
      { month: "Jan", sales: 3, costs: 2 },
      { month: "März", sales: 6, costs: 4 },
    ],
    { title: "Umsätze & mehr" },
  ),
);

function pictures() {
  const made = createPictures();
  afterThisTest(made.close);
  return made;
}

/** The pixels of a PNG with eight bits for each of red, green and blue, and no filters. */
function readPng(data: Uint8Array) {
  const png = Buffer.from(data);
  expect(png.toString("latin1", 1, 4)).toBe("PNG");
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const rows = inflateSync(png.subarray(41, 41 + png.readUInt32BE(33)));
  const at = (x: number, y: number) => {
    const start = y * (width * 3 + 1) + 1 + x * 3;
    return `#${rows.toString("hex", start, start + 3)}`;
  };
  const colours = new Map<string, number>();
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) colours.set(at(x, y), (colours.get(at(x, y)) ?? 0) + 1);
  return { width, height, at, colours };
}

test("a chart becomes a picture twice its size, with its bars, its axes and its words", async () => {
  const picture = readPng((await pictures().draw(SALES)) ?? new Uint8Array());
  expect([picture.width, picture.height]).toEqual([1440, 840]);
  for (const [x, y, width, height, colour] of [
    ...SALES.matchAll(/<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" fill="(#\w{6})"/g),
  ].map(([, ...parts]) => parts)) {
    const middle = [x, y].map((start, at) =>
      Math.round((Number(start) + Number(at ? height : width) / 2) * 2),
    );
    expect(picture.at(middle[0] ?? 0, middle[1] ?? 0)).toBe(colour);
  }
  // Without its words far fewer pixels have the colour of ink.
  const without = readPng(
    (await pictures().draw(SALES.replaceAll(/<text.*?<\/text>/g, ""))) ?? new Uint8Array(),
  );
  const ink = (of: typeof picture) => of.colours.get("#1f2937") ?? 0;
  expect(ink(picture) - ink(without)).toBeGreaterThan(1000);
});

test("every kind of chart is drawn, and a pie has its slices in their sizes", async () => {
  const rows = Array.from({ length: 40 }, (_, at) => ({
    day: new Date(Date.UTC(2026, 0, 1 + at)),
    visits: Math.sin(at) * 9,
  }));
  const { draw } = pictures();
  for (const kind of ["line", "area", "scatter"] as const)
    expect(await draw(chartOf((charts) => charts[kind](rows, { title: kind })))).toBeDefined();
  const pie = chartOf((charts) =>
    charts.pie([
      ["one", 1],
      ["three", 3],
    ]),
  );
  const { colours } = readPng((await draw(pie)) ?? new Uint8Array());
  const share = (colours.get("#f97316") ?? 0) / (colours.get("#2563eb") ?? 1);
  expect(share).toBeGreaterThan(2.9);
  expect(share).toBeLessThan(3.1);
});

test("what is no chart of ours is not drawn: other elements, other sizes, broken marks, letters without an outline", async () => {
  const { draw } = pictures();
  for (const svg of [
    "",
    "no marks",
    SALES.replace("</svg>", '<image href="https://example.org/a.png"/></svg>'),
    SALES.replace("</svg>", "<script>1</script></svg>"),
    SALES.replace(/width="720"/, 'width="90000"'),
    SALES.replace("</svg>", ""),
    SALES.replaceAll("Umsätze", "東京"),
    `<!DOCTYPE svg [<!ENTITY a "aaaa">]>${SALES}`,
    SALES.replace("</svg>", `${" ".repeat(2 ** 20)}</svg>`),
  ])
    expect(await draw(svg), svg.slice(0, 60)).toBeUndefined();
  expect(await draw(SALES)).toBeDefined();
});

test("a chart goes to a chat as a picture; another SVG goes as it is", async () => {
  const model = await scriptedModel();
  const chat = createFakeChat();
  const kernel = await bootChat(chat, {}, { model, plugins: [toolsPlugin({})] });
  await pairSender(kernel);
  const write = (path: string, text: string) => ({ name: "workspace_write", arguments: { path, text } });
  const logo = '<svg xmlns="http://www.w3.org/2000/svg"><ellipse/></svg>';
  model.script(
    { calls: [write("/output/sales.svg", SALES), write("/logo.svg", logo)] },
    { text: "Here is the chart." },
  );
  await chat.write("Draw my sales");
  await chat.until(({ files }) => files?.[0]?.name === "logo.svg");
  await chat.until(({ files }) => files?.[0]?.name === "sales.png");
  const files = chat.sent.flatMap((message) => message.files ?? []);
  expect(files.map(({ name, mime }) => [name, mime]).sort()).toEqual([
    ["logo.svg", "image/svg+xml"],
    ["sales.png", "image/png"],
  ]);
  const picture = readPng(files.find(({ name }) => name === "sales.png")?.data ?? new Uint8Array());
  expect(picture.width).toBe(1440);
});

test("a chart that code drew again as it was goes along too, though no file changed", async () => {
  const model = await scriptedModel();
  const chat = createFakeChat();
  const charts = [{ path: "/output/sales.svg", title: "Sales" }];
  const code = { run: async () => ({ status: "ok" as const, output: JSON.stringify({ charts }) }) };
  const kernel = await bootChat(chat, {}, { model, plugins: [toolsPlugin({ "run-code": code })] });
  await pairSender(kernel);
  await kernel
    .service("workspace")
    .apply("ann", [{ op: "write", path: "/output/sales.svg", data: Buffer.from(SALES) }], {
      writer: { kind: "api", channel: "page" },
    });
  model.script(
    { calls: [{ name: "run-code", arguments: { code: "chart.bar(sales)" } }] },
    { text: "Here it is again." },
  );
  await chat.write("Show it once more");
  await chat.until(({ files }) => files?.[0]?.name === "sales.png");
});
