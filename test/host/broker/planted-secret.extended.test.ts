/** The whole host with a planted secret: it reaches the server it is meant for, and is found nowhere else. */
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openServiceHost, type ServiceHost } from "../../../host/service-host.ts";
import { createLog } from "../../../kernel/log/log.ts";
import { createMask } from "../../../kernel/mask/mask.ts";
import type { OpenStore } from "../../../plugins/store/engine/open-store.ts";
import { childrenBytes } from "../../support/processes/children.ts";
import { openUpstream, type Upstream } from "../../support/servers/upstream.ts";
import { fixture } from "../../support/tools/components.ts";
import { openHomeStore } from "../../support/tools/home-store.ts";

const PLANTED = "Planted-0f9e8d7c6b5a-Value";
const HARMLESS = "harmless-words-from-upstream";
const forms = [PLANTED, Buffer.from(PLANTED).toString("base64"), Buffer.from(PLANTED).toString("hex")];

let home: string;
let store: OpenStore;
let host: ServiceHost;
let api: Upstream;
const held = Promise.withResolvers<ServerResponse>();
const logged: string[] = [];

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "postern-planted-"));
  store = openHomeStore(home);
  api = await openUpstream(({ path, headers }, response) => {
    if (path === "/held") held.resolve(response);
    else if (path === "/away") response.writeHead(302, { location: `/${headers.authorization}` }).end();
    else
      response.end(
        `${HARMLESS} ${headers.authorization} ${Buffer.from(String(headers.authorization)).toString("base64")}`,
      );
  });
  const mask = createMask();
  host = await openServiceHost({
    config: {
      privateHosts: new Set([`127.0.0.1:${api.port}`]),
      shipped: false,
      workers: 1,
      variable: () => undefined,
    },
    home,
    store,
    mask,
    log: createLog("debug", mask, { pretty: false, write: (line) => logged.push(line) }),
  });
  const capabilities = {
    version: "1.0.0",
    wit_version: "0.1.0",
    http: {
      allowlist: [{ host: "127.0.0.1", path_prefix: "/", methods: ["GET"] }],
      credentials: {
        main: { secret_name: "token", location: { type: "bearer" }, host_patterns: ["127.0.0.1"] },
      },
    },
    secrets: { allowed_names: ["token"] },
    auth: { secret_name: "token" },
  };
  const candidate = await host.examine(await fixture("echo.js"), JSON.stringify(capabilities));
  await host.place("echo", candidate, false);
});

afterAll(async () => {
  await host.close();
  await api.close();
  await store.close();
  await rm(home, { recursive: true });
});

const run = (params: object) =>
  host.run({ id: "1", name: "echo", params: JSON.stringify(params) }, { user: "ada" });

const PIECE_BYTES = 16 << 20;

/** Which of the texts lie anywhere in the memory of a process. */
function findIn(pid: number, texts: readonly string[]): Set<string> {
  const found = new Set<string>();
  const memory = openSync(`/proc/${pid}/mem`, "r");
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, "utf8").split("\n")) {
      const [, from = "0", to = "0"] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
      for (let at = BigInt(`0x${from}`); at < BigInt(`0x${to}`); at += BigInt(PIECE_BYTES)) {
        const piece = readPiece(memory, at, Math.min(PIECE_BYTES, Number(BigInt(`0x${to}`) - at)));
        for (const text of texts) if (piece.includes(text)) found.add(text);
      }
    }
    return found;
  } finally {
    closeSync(memory);
  }
}

function readPiece(memory: number, at: bigint, length: number): Buffer {
  const piece = Buffer.alloc(length);
  try {
    return piece.subarray(0, readSync(memory, piece, 0, length, at));
  } catch {
    // Kept by the system for itself.
    return piece.subarray(0, 0);
  }
}

test("without the credential the call ends before any request, as unauthenticated", async () => {
  const { outcome } = await run({ url: `http://127.0.0.1:${api.port}/` });
  expect(outcome).toMatchObject({ status: "unauthenticated", tool: "echo", secret: "token" });
  expect(api.requests).toHaveLength(0);
});

test("the planted value is in no outcome, receipt, log line or file", async () => {
  const tool = await host.catalog.find("echo");
  if (tool === undefined) throw new Error("echo is installed");
  await host.authorize(tool, {
    say: (line) => logged.push(line),
    secret: async () => PLANTED,
    text: async () => undefined,
    agrees: async () => false,
    browse: async () => false,
  });

  const url = `http://127.0.0.1:${api.port}`;
  const runs = [
    await run({ text: "echoed by the server", url: `${url}/` }),
    await run({ text: "redirected", url: `${url}/away` }),
    await run({ secret: "token" }),
    await run({ text: "carried out", url: `${url}/?x=${PLANTED}`, line: "said", print: "printed" }),
    await run({ text: "nobody there", url: "http://127.0.0.1:1/" }),
  ];
  expect(api.requests.map(({ headers }) => headers.authorization)).toEqual([
    `Bearer ${PLANTED}`,
    `Bearer ${PLANTED}`,
  ]);
  expect(runs[0]?.outcome).toMatchObject({
    status: "ok",
    output: expect.stringContaining(`${HARMLESS} Bearer [secret]`),
  });
  expect(runs[2]?.outcome).toMatchObject({ status: "ok", output: '{"secret":true}' });
  expect(runs[3]?.outcome).toMatchObject({ status: "error" });

  const files = await Promise.all(
    (await readdir(home))
      .filter((name) => /^(store|secrets)/.test(name))
      .map((name) => readFile(join(home, name), "latin1")),
  );
  const told = JSON.stringify([runs, await host.receipts.list(), logged, files]);
  for (const form of forms) expect(told).not.toContain(form);
});

test("a tool's process holds the address it asked for, and not the value that was sent there", async () => {
  // The last one was given the value as a param.
  for (const pid of childrenBytes().keys()) process.kill(pid, "SIGKILL");
  await expect.poll(() => childrenBytes().size).toBe(0);
  const running = run({ url: `http://127.0.0.1:${api.port}/held` });
  const response = await held.promise;
  const asked = `127.0.0.1:${api.port}/held`;
  const found = [...childrenBytes().keys()].flatMap((pid) => [...findIn(pid, [asked, ...forms])]);
  response.end(HARMLESS);
  await running;
  expect(found).toEqual([asked]);
});
