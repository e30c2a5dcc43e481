/** A process that a tool has taken over asks the service for files: every rule holds on the service's side. */
import { expect } from "vitest";
import { filesIn } from "../../host/calls/files/sources.ts";
import { openCallFiles } from "../../host/calls/files.ts";
import type { FileOp } from "../../host/sandbox/protocol.ts";
import { attack } from "../support/attacks.ts";

const GRANTED = [
  { path: "/reports", access: "read" },
  { path: "/output", access: "write" },
] as const;

const SECRET = "/private/key";
const there = new Map([
  [SECRET, Buffer.from("secret")],
  ["/reports/may.csv", Buffer.from("a;b")],
]);

const open = () => openCallFiles("ada", GRANTED, filesIn(there));

const SPELLINGS = [
  SECRET,
  `/reports/..${SECRET}`,
  `/reports/./..${SECRET}`,
  `/reports/../${SECRET}`,
  `/reports//..${SECRET}`,
  `/output/..${SECRET}`,
  `.${SECRET}`,
  SECRET.slice(1),
  `ada:${SECRET}`,
  `file://${SECRET}`,
  `\\private\\key`,
  `/reports\\..\\..${SECRET}`,
  `${SECRET}\u0000/reports/may.csv`,
  `/reports/\u0000/..${SECRET}`,
  `/reports${SECRET}`,
  `/Reports/may.csv`,
  `/reports\u200b/may.csv`,
  `/rep\u00adorts/may.csv`,
  `/reports\ud800/may.csv`,
  "/",
  "",
  "/reports/".padEnd(4000, "x"),
];

attack("I", "No spelling of a path leads out of the granted folders, whatever is asked", async () => {
  const files = open();
  for (const path of SPELLINGS)
    for (const op of [
      "stat",
      "list",
      "read",
      "write",
      "patch",
      "append",
      "resize",
      "folder",
      "remove",
      "move",
    ] as const) {
      const reply = await files.answer({
        op,
        path,
        to: "/output/x",
        offset: 0,
        length: 10,
        body: Buffer.from("x"),
      });
      const isRefused = !reply.ok || (op === "stat" && reply.entries?.length === 0);
      expect([op, path, isRefused]).toEqual([op, path, true]);
      if (op !== "move") continue;
      expect(await files.answer({ op, path: "/output/none", to: path })).toMatchObject({ ok: false });
    }
  expect([files.edits(), files.read()]).toEqual([[], []]);
  files.close();
});

attack("I", "What may only be read cannot be written, removed or moved away", async () => {
  const files = open();
  for (const op of ["write", "patch", "append", "resize", "remove", "move", "folder"] as const)
    expect(
      await files.answer({ op, path: "/reports/may.csv", to: "/output/may.csv", body: Buffer.from("x") }),
    ).toMatchObject({ ok: false, code: "read-only" });
  for (const path of ["/output", "/reports"])
    for (const [op, to] of [
      ["remove", ""],
      ["move", "/output/x"],
    ] as const)
      expect(await files.answer({ op, path, to })).toMatchObject({ ok: false });
  expect(files.edits()).toEqual([]);
  files.close();
});

attack("I", "Numbers without end cost no memory, and asking without waiting ends", async () => {
  const files = open();
  const far = Number.MAX_SAFE_INTEGER;
  const refused = { ok: false, code: "file-too-large" };
  for (const [op, offset, length] of [
    ["patch", far, 0],
    ["patch", 25_000_000, 0],
    ["resize", 0, far],
    ["resize", 0, 25_000_001],
  ] as const)
    expect(
      await files.answer({ op, path: "/output/a", offset, length, body: Buffer.from("x") }),
    ).toMatchObject(refused);
  expect(
    await files.answer({ op: "read", path: "/reports/may.csv", offset: far, length: far }),
  ).toMatchObject({ ok: true, body: new Uint8Array() });
  const ask = (op: FileOp) => files.answer({ op, path: "/output/b", body: Buffer.from("x") });
  const replies = await Promise.all(Array.from({ length: 200 }, () => ask("append")));
  expect(replies.filter(({ ok }) => ok)).toHaveLength(128);
  let count = 0;
  while ((await ask("stat")).ok) count++;
  expect(count).toBeLessThan(10_000);
  expect(await ask("stat")).toMatchObject({
    ok: false,
    error: expect.stringContaining("at most 10000 times"),
  });
  files.close();
  expect(await ask("stat")).toMatchObject({ ok: false });
});

attack("I", "Calls that hold all memory for files keep others from writing, not from reading", async () => {
  const holders = Array.from({ length: 6 }, open);
  let refusal: unknown;
  for (const files of holders)
    for (let file = 0; file < 4; file++) {
      const reply = await files.answer({ op: "resize", path: `/output/${file}`, length: 25_000_000 });
      if (!reply.ok) refusal ??= reply;
    }
  expect(refusal).toMatchObject({
    code: "insufficient-space",
    error: expect.stringContaining("try again later"),
  });
  const other = open();
  expect(await other.answer({ op: "read", path: "/reports/may.csv", length: 9 })).toMatchObject({ ok: true });
  for (const files of holders) files.close();
  expect(await other.answer({ op: "resize", path: "/output/a", length: 25_000_000 })).toMatchObject({
    ok: true,
  });
  other.close();
});
