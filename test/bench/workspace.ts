/** Files of a workspace beside files of the machine: written with a flush for each, read, and searched. */
import { mkdirSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { openStore } from "../../plugins/store/sqlite/store.ts";
import type { Change } from "../../plugins/workspace/services.ts";
import { createWorkspace, type OpenWorkspace } from "../../plugins/workspace/workspace.ts";
import { atMost, type Bench, compare, type Figure, interleave, within } from "./support/bench.ts";
import { inFolder } from "./support/programs.ts";
import { createRandom, createWriter } from "./support/words.ts";

const ROUNDS = 3;
const SMALL_FILES = 1000;
const SMALL_BYTES = 4096;
const LARGE_BYTES = 20_000_000;
const SEARCHED_FILES = 10_000;
const USER = "ann";
const CHANGE: Change = { writer: { kind: "api" } };

const MACHINE = "node:fs, fsync for each";
const WORKSPACE = "the workspace on SQLite";

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function writeFlushed(file: string, data: Uint8Array): Promise<void> {
  const handle = await open(file, "w");
  await handle.writeFile(data);
  await handle.sync();
  await handle.close();
}

/** Contents that no two rounds share: the same one again would not be stored. */
function createData(bytes: number) {
  let count = 0;
  const block = Buffer.alloc(bytes, "some words of a file ");
  return (): Uint8Array => {
    const data = Buffer.from(block);
    data.write(`${count++}`);
    return data;
  };
}

async function fill(workspace: OpenWorkspace): Promise<void> {
  const write = createWriter(createRandom(1));
  for (let from = 0; from < SEARCHED_FILES; from += 500)
    await workspace.apply(
      "reader",
      Array.from({ length: 500 }, (_, at) => ({
        op: "write" as const,
        path: `/notes/${Math.floor((from + at) / 100)}/${from + at}.md`,
        data: Buffer.from(
          `${write(150)}\n${write(150)}\n${write(150)}\n${from + at === 9_876 ? "the needle in it" : ""}\n`,
        ),
      })),
      CHANGE,
    );
}

export const bench: Bench = {
  name: "workspace",
  about: `${SMALL_FILES.toLocaleString("en")} files of 4 KB and one of 20 MB, written one after the other and read, beside node:fs with an fsync for each; a search in ${SEARCHED_FILES.toLocaleString("en")} files`,
  run: (progress) =>
    inFolder(async (folder) => {
      const store = openStore(join(folder, "store.sqlite"));
      const workspace = await createWorkspace({ store, maxMb: 100_000, home: folder });
      const [small, large] = [createData(SMALL_BYTES), createData(LARGE_BYTES)];
      mkdirSync(join(folder, "files"));
      const names = Array.from({ length: SMALL_FILES }, (_, at) => `${at}.txt`);
      const each = (work: (name: string) => Promise<unknown>) =>
        timed(async () => {
          for (const name of names) await work(name);
        });
      const write = (path: string, data: Uint8Array) =>
        workspace.apply(USER, [{ op: "write", path, data }], CHANGE);
      async function* pieces(data: Uint8Array) {
        for (let at = 0; at < data.byteLength; at += 65_536) yield data.subarray(at, at + 65_536);
      }
      try {
        const figures: Figure[] = [];
        const pair = async (what: string, machine: () => Promise<number>, ours: () => Promise<number>) => {
          const samples = await interleave({ [MACHINE]: machine, [WORKSPACE]: ours }, ROUNDS, progress);
          figures.push(
            ...compare(samples, { unit: "ms", what, baseline: MACHINE, goals: { [WORKSPACE]: atMost(4) } }),
          );
        };
        const count = SMALL_FILES.toLocaleString("en");
        await pair(
          `write ${count} × 4 KB`,
          () => each((name) => writeFlushed(join(folder, "files", name), small())),
          () => each((name) => write(`/files/${name}`, small())),
        );
        await pair(
          `read ${count} × 4 KB`,
          () => each((name) => readFile(join(folder, "files", name))),
          () => each((name) => workspace.read(USER, `/files/${name}`)),
        );
        await pair(
          "write 20 MB",
          () => timed(() => writeFlushed(join(folder, "large"), large())),
          () => timed(() => workspace.upload(USER, "/large.bin", pieces(large()), CHANGE)),
        );
        await pair(
          "read 20 MB",
          () => timed(() => readFile(join(folder, "large"))),
          () => timed(() => workspace.read(USER, "/large.bin")),
        );
        progress("filling");
        await fill(workspace);
        const search = (query: object) => () => timed(() => workspace.search("reader", query));
        const samples = await interleave(
          { "by words": search({ words: "needle" }), "by a pattern": search({ pattern: "n[e]+dle in" }) },
          ROUNDS,
          progress,
        );
        const goals = { "by words": within(5000, "ms"), "by a pattern": within(5000, "ms") };
        figures.push(
          ...compare(samples, {
            unit: "ms",
            what: `search ${SEARCHED_FILES.toLocaleString("en")} files`,
            goals,
          }),
        );
        return figures;
      } finally {
        await workspace.close();
        await store.close();
      }
    }),
};
