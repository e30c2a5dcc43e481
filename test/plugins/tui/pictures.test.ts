/** Charts as pictures in terminals that say that they can, and only as names in others. */
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { createRenderer } from "../../../plugins/tui/screen/entry-lines.ts";
import { createPictures, showsPictures } from "../../../plugins/tui/screen/pictures.ts";
import type { TerminalFiles } from "../../../plugins/tui/services.ts";
import { createPalette } from "../../../plugins/tui/text/palette.ts";

/** The beginning of a PNG is all that is looked at. */
function png(width: number, height: number, length = 5000): Buffer {
  const data = Buffer.alloc(length, 0x1b);
  Buffer.from("\x89PNG\r\n\x1a\n", "latin1").copy(data);
  data.writeUInt32BE(width, 16);
  data.writeUInt32BE(height, 20);
  return data;
}

const PART = "\u{10EEEE}";

function chartIn(file: Buffer, draw?: TerminalFiles["draw"]) {
  const written: string[] = [];
  const read = Promise.withResolvers<void>();
  const files = {
    async read() {
      setImmediate(read.resolve);
      return { entry: {} as never, data: file };
    },
    ...(draw && { draw }),
  };
  const pictures = createPictures({ files, write: (text) => written.push(text), changed: () => {} });
  const renderer = createRenderer(createPalette(false), undefined, pictures);
  const output = JSON.stringify({ charts: [{ path: "/output/a.svg", title: "By month" }] });
  const call = { id: "c", name: "run-code", params: JSON.stringify({ code: "1" }) };
  const entry = { id: 1, type: "tool", call, outcome: { status: "ok", output }, open: false } as const;
  const lines = (width = 80) => renderer.lines(entry, width, false).map((line) => line.trimEnd());
  return { written, pictures, read: read.promise, lines };
}

const named = "    chart /output/a.svg, By month";

test("a chart stands below its name as cells of its own, and its bytes are sent once, as nothing but base64", async () => {
  const file = png(400, 200);
  const svg: string[] = [];
  const { written, pictures, read, lines } = chartIn(Buffer.from("<svg/>"), async (text) => {
    svg.push(text);
    return file;
  });
  const before = lines().slice(1).map(stripVTControlCharacters);
  expect([before, written]).toEqual([[named, ""], []]);
  pictures.turnOn();
  lines();
  await read;
  await expect.poll(() => lines().length).toBe(before.length + 11);
  expect(svg).toEqual(["<svg/>"]);
  const rows = lines().slice(2, -1);
  expect(rows).toHaveLength(10);
  const plain = rows.map(stripVTControlCharacters);
  expect(plain.map((row) => row.split(PART).length - 1)).toEqual(rows.map(() => 40));
  expect(new Set(plain).size).toBe(10);
  const sequences = written.map((one) => {
    expect([one.slice(0, 3), one.slice(-2)]).toEqual(["\u001b_G", "\u001b\\"]);
    return /^([\w=,]+);([\w+/=]{1,4096})$/.exec(one.slice(3, -2)) ?? [];
  });
  expect(Buffer.from(sequences.map(([, , data]) => data).join(""), "base64").equals(file)).toBe(true);
  expect(sequences[0]?.[1]).toMatch(/^a=T,U=1,q=2,f=100,i=\d+,c=40,r=10,m=1$/);
  expect(sequences.at(-1)?.[1]).toBe("q=2,m=0");
  const [, number = ""] = /i=(\d+)/.exec(sequences[0]?.[1] ?? "") ?? [];
  const colour = [Number(number) >> 16, (Number(number) >> 8) & 255, Number(number) & 255].join(";");
  expect(rows[0]).toContain(`\u001b[38;2;${colour}m${PART}`);
  // Where it does not fit it is a name again.
  expect(lines(30).join("")).not.toContain(PART);
  pictures.close();
  expect(written.at(-1)).toBe(`\u001b_Ga=d,d=I,q=2,i=${number}\u001b\\`);
});

test.each([
  ["that is not a PNG", Buffer.from("GIF89a\u001b]0;x\u0007".padEnd(100))],
  ["that is too large", png(10, 10, 2_000_001)],
  ["that says it has billions of pixels", png(100_000, 100_000)],
  ["that is cut", png(10, 10).subarray(0, 20)],
  ["that is drawn by nobody", Buffer.from("<svg/>")],
])("a file %s is only named, and nothing of it is sent", async (_, file) => {
  const { written, pictures, read, lines } = chartIn(file);
  pictures.turnOn();
  lines();
  await read;
  await new Promise(setImmediate);
  expect(lines().slice(1).map(stripVTControlCharacters)).toEqual([named, ""]);
  expect(written).toEqual([]);
});

test("only terminals that are known to show pictures like this are sent any", () => {
  const names = ["kitty(0.28.0)", "kitty(0.41.1)", "kitty(1.0.0)", "ghostty 1.0.1"];
  expect(names.filter(showsPictures)).toEqual(names);
  const others = [
    "kitty(0.27.1)",
    "tmux 3.4",
    "xterm.js(5.5.0)",
    "WezTerm 20240203",
    "iTerm2 3.5.0",
    "",
    "not kitty(0.41)",
  ];
  expect(others.filter(showsPictures)).toEqual([]);
});
