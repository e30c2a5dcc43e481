/** One request must not stop everybody: what would keep the service busy for minutes is answered at once. */
import { Agent, request } from "node:http";
import { brotliCompressSync } from "node:zlib";
import { beforeAll, expect } from "vitest";
import { attack } from "../support/attacks.ts";
import { type Attacked, serveUnderAttack, TOKEN } from "../support/processes/attacked.ts";
import { chunk, head, LAST_CHUNK, statusLines } from "../support/servers/raw-socket.ts";
import { SECRET } from "../support/services/webhook.ts";
import { afterThisFile } from "../support/undo.ts";

const later = afterThisFile();
let service: Attacked;

beforeAll(async () => {
  service = await serveUnderAttack(later);
});

/** 4 KB in which each definition refers to the next one twice, or often: followed, there are 2 to the 40th of them. */
function fanningSchema(keyword: "allOf" | "anyOf" | "properties") {
  const names = Array.from({ length: 40 }, (_, at) => `d${at}`);
  const referTo = (name: string) => ({ $ref: `#/$defs/${name}` });
  const definitionOf = (next: string | undefined) => {
    if (next === undefined) return { type: "object" };
    if (keyword === "properties") return { properties: { one: referTo(next), two: referTo(next) } };
    return { [keyword]: [referTo(next), referTo(next)] };
  };
  const $defs = Object.fromEntries(names.map((name, at) => [name, definitionOf(names[at + 1])]));
  return { type: "object", $defs, ...definitionOf("d0") };
}

attack(1, "A function's schema that fans out is carried to the model and back, never run", async () => {
  for (const keyword of ["allOf", "anyOf", "properties"] as const) {
    const schema = { ...fanningSchema(keyword), patternProperties: { "^(a+)+$": {} } };
    const value = { ["a".repeat(40)]: 1, one: { two: {} } };
    const calls = Array.from({ length: 40 }, () => ({ name: "fan_out", arguments: value }));
    service.served.model.script({ calls });
    const answer = await service.send("POST", "/v1/responses", {
      model: "reborn",
      input: "call it",
      tools: [{ type: "function", name: "fan_out", parameters: schema }],
    });
    expect(answer).toMatchObject({ status: 200, json: { status: "completed" } });
    const call = answer.json.output.at(-1);
    expect(call).toMatchObject({ type: "function_call", name: "fan_out" });
    expect(JSON.parse(call.arguments)).toEqual(value);
    expect(answer.json.tools[0].parameters).toEqual(schema);
  }
});

attack(
  1,
  "References to earlier items neither multiply a request nor keep the store busy for everybody",
  async () => {
    const text = "long ".repeat(20_000);
    service.served.model.script({ text });
    const first = await service.send("POST", "/v1/responses", { model: "reborn", input: "write" });
    const reference = { type: "item_reference", id: first.json.output.at(-1).id };
    for (const [count, code] of [
      [200, "too_many_references"],
      [9_000, "too_many_references"],
      [20_000, "too_many_items"],
      [100_000, "body_too_complex"],
    ] as const) {
      const input = [...Array.from({ length: count }, () => reference), { role: "user", content: "go on" }];
      const answer = await service.send("POST", "/v1/responses", { model: "reborn", input });
      expect(answer).toMatchObject({ status: 400, json: { error: { code } } });
    }
  },
);

attack(2, "A message full of spaces after a bracket is answered, and so is everybody else", async () => {
  const message = `hi <${" ".repeat(400_000)}x`;
  const answers = await Promise.all([
    service.send("POST", "/api/chat", { message }),
    service.send("POST", "/v1/responses", { model: "reborn", input: message }),
    service.send("GET", "/health"),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
});

const MIB = 2 ** 20;
const JSON_TYPE = "Content-Type: application/json";

/** Each place that takes a body, with what it takes to get in. */
function doors(): readonly { url: string; path: string; headers: readonly string[]; large: number }[] {
  const bearer = `Authorization: Bearer ${TOKEN}`;
  const { url } = service.served;
  return [
    { url, path: "/api/chat/send", headers: [bearer], large: 15 * MIB },
    { url, path: "/api/session", headers: [], large: MIB },
    { url, path: "/v1/responses", headers: [bearer], large: 15 * MIB },
    { url: service.webhook.url, path: "/webhook", headers: [`X-Webhook-Secret: ${SECRET}`], large: MIB },
  ];
}

attack(3, "An early 413 arrives, however the body came", async () => {
  for (const { url, path, headers, large } of doors()) {
    const start = [`POST ${path} HTTP/1.1`, "Host: localhost", JSON_TYPE, ...headers];
    const body = Buffer.alloc(large, "x");
    const bodies: readonly [string, readonly (string | Uint8Array)[]][] = [
      [`Content-Length: ${large}`, [body]],
      ["Transfer-Encoding: chunked", [chunk(body), LAST_CHUNK]],
    ];
    for (const [length, sent] of bodies) {
      const lines = await statusLines(url, [head(...start, length), ...sent], 1);
      expect(lines, `${path} ${length}`).toEqual(["HTTP/1.1 413 Payload Too Large"]);
    }
  }
});

/** Node's own client, which keeps the connection when the answer comes before it has sent everything. */
function post(url: string, agent: Agent, headers: Record<string, string>, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const sending = request(url, { method: "POST", agent, headers }, (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
    });
    sending.on("error", reject).end(body);
  });
}

attack(3, "A client that keeps its connections waits for nothing after a 413", async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = {
    "content-type": "application/json",
    "x-webhook-secret": SECRET,
    authorization: `Bearer ${TOKEN}`,
  };
  const message = Buffer.from(JSON.stringify({ user_id: "ada", message: "hello" }));
  for (const { url, path, large } of doors().filter(({ path }) => path !== "/api/session")) {
    const statuses: number[] = [];
    for (const body of [Buffer.alloc(large), message, Buffer.alloc(large), message])
      statuses.push(await post(`${url}${path}`, agent, headers, body));
    expect(
      statuses.map((status) => status === 413),
      path,
    ).toEqual([true, false, true, false]);
  }
  agent.destroy();
});

attack(3, "Garbage in every encoding is the caller's mistake, at every door", async () => {
  const cut = brotliCompressSync("hello ".repeat(50)).subarray(0, 20);
  const bodies = [Buffer.from("garbage"), Buffer.from([1, 2, 0, 255]), Buffer.alloc(0), cut];
  for (const { url, path, headers } of doors()) {
    for (const encoding of ["br", "gzip", "deflate", "zstd"]) {
      for (const body of bodies) {
        const start = [`POST ${path} HTTP/1.1`, "Host: localhost", JSON_TYPE, ...headers];
        const framed = head(...start, `Content-Encoding: ${encoding}`, `Content-Length: ${body.length}`);
        const [line = ""] = await statusLines(url, [framed, body], 1);
        expect(line, `${path} ${encoding} ${body.toString("hex")}`).toMatch(/^HTTP\/1\.1 4(?:00|13|15) /);
      }
    }
  }
});
