/** Consent cannot be forged, and secrets stay where they belong. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect } from "vitest";
import { visible, visibleLine } from "../../kernel/text/visible.ts";
import { attack } from "../support/attacks.ts";
import { temporaryFolder } from "../support/home.ts";
import { type Attacked, serveUnderAttack } from "../support/processes/attacked.ts";
import { DISGUISES } from "../support/secret-forms.ts";
import { openUpstream, type Upstream } from "../support/servers/upstream.ts";
import { copyCode, fixture } from "../support/tools/components.ts";
import { afterThisFile } from "../support/undo.ts";

const SECRET = "s3cr3t-Of-The-Operators/0123456789";

const later = afterThisFile();
let service: Attacked;
let sender: Uint8Array;
/** Answers with everything it was sent. */
let mirror: Upstream;

beforeAll(async () => {
  mirror = await openUpstream(({ method, path, headers, body }, response) => {
    const disguise = DISGUISES[new URL(path, "http://mirror").searchParams.get("as") ?? ""];
    response.end(disguise?.(String(headers["x-api-key"])) ?? JSON.stringify({ method, path, headers, body }));
  });
  later(() => mirror.close());
  const host = `127.0.0.1:${mirror.port}`;
  service = await serveUnderAttack(later, { TOOLS_PRIVATE_HOSTS: host, TOOL_APPROVALS: "*=allow,asked=ask" });
  sender = await fixture("sender.js");
  await copyCode(sender, service.served.home);
  expect((await upload("/api/tools", capabilities(), "sender")).status).toBe(201);
  const set = await service.send("PUT", "/api/tools/sender/secrets/key", { value: SECRET });
  expect(set.status).toBe(200);
});

/** GET and POST below /v1/ of the mirror, with the secret in a header. */
function capabilities(more: object = {}): object {
  return {
    version: "1.0.0",
    wit_version: "0.1.0",
    http: {
      allowlist: [{ host: "127.0.0.1", path_prefix: "/v1/", methods: ["GET", "POST"] }],
      rate_limit: { requests_per_minute: 1000, requests_per_hour: 1000 },
      credentials: {
        key: {
          secret_name: "key",
          location: { type: "header", name: "x-api-key" },
          host_patterns: ["127.0.0.1"],
        },
      },
    },
    auth: { secret_name: "key" },
    ...more,
  };
}

/** Offers the sending tool with a capabilities file; answers what the service says to it. */
async function upload(path: string, capabilities: object, name: string) {
  const form = new FormData();
  form.set("name", name);
  form.set("component", new Blob([Buffer.from(sender)]));
  form.set("capabilities", JSON.stringify(capabilities));
  return service.send("POST", path, form);
}

interface Sent {
  readonly status?: number;
  readonly refused?: string;
  readonly text: string;
}

/** Lets the installed tool send a request, in a turn of its own. */
async function sendBy(tool: string, request: object): Promise<Sent> {
  service.served.model.script({ calls: [{ name: tool, arguments: request }] });
  expect((await service.send("POST", "/api/chat", { message: "go" })).json).toMatchObject({
    status: "completed",
  });
  const said = service.served.model.requests.at(-1)?.messages.at(-1)?.content;
  const [json = ""] = /\{.*\}/.exec(typeof said === "string" ? said : "") ?? [];
  const { bytes = [], ...rest } = JSON.parse(json) as { status?: number; refused?: string; bytes?: number[] };
  return { ...rest, text: Buffer.from(bytes).toString() };
}

const at = (path: string) => `http://127.0.0.1:${mirror.port}${path}`;

/** Erases its own line, goes up, turns the writing round. */
const TRICKS = ["\u001b[2K\u001b[1A", "\u009b1A", "\u202e", "\u2066", "\u2028", "\r", "\u007f", "\u200b"];

attack(11, "A capabilities file cannot hide what it grants from who reads it", async () => {
  const file = (trick: string): readonly (readonly [string, object])[] => [
    ["auth.instructions", { auth: { secret_name: "key", instructions: `Ask Ada.${trick}` } }],
    ["auth.display_name", { auth: { secret_name: "key", display_name: `${trick}Ada` } }],
    ["setup.required_secrets[0].prompt", { setup: { required_secrets: [{ name: "key", prompt: trick }] } }],
    [`http.credentials.${visibleLine(`k${trick}`)}`, { http: { credentials: { [`k${trick}`]: {} } } }],
    [
      "http.credentials.k.location.name",
      {
        http: {
          credentials: {
            k: {
              secret_name: "key",
              location: { type: "query_param", name: `k${trick}` },
              host_patterns: ["a.com"],
            },
          },
        },
      },
    ],
  ];
  for (const trick of TRICKS) {
    for (const [path, more] of file(trick)) {
      for (const door of ["/api/tools/examine", "/api/tools"]) {
        const { status, json } = await upload(door, capabilities(more), "hidden");
        expect(status, path).toBe(400);
        expect(json.error.message).toContain(`${path}: must not hold control`);
        expect(visible(json.error.message)).toBe(json.error.message);
      }
    }
  }
});

attack(11, "Nothing that a tool says of itself reaches a terminal as it is", async () => {
  const folder = temporaryFolder();
  const [wasm, file] = [join(folder, "sender.wasm"), join(folder, "capabilities.json")];
  writeFileSync(wasm, sender);
  writeFileSync(file, JSON.stringify(capabilities()).replace("127.0.0.1", "127.0.0.1\u001b[2K"));
  const fail = JSON.stringify({ fail: `${TRICKS.join("")} all is well` });
  for (const args of [
    ["tool", "check", wasm, "--capabilities", file],
    ["tool", "check", wasm],
    ["tool", "info", "sender"],
    ["tool", "list"],
    ["tool", "run", "sender", fail],
    ["tool", "log", "sender", "--json"],
  ]) {
    const { stdout, stderr } = await service.run(...args);
    const shown = stdout + stderr;
    expect(shown).not.toBe("");
    expect(visible(shown), args.join(" ")).toBe(shown);
    // What it says about installing stays marked as its own words.
    expect(shown).not.toMatch(/^ {2}- may not use the network\n\n/m);
  }
  // And in the service's log, with whatever else a caller wrote into it.
  service.served.model.script({ calls: [{ name: "sender", arguments: JSON.parse(fail) }] });
  await service.send("POST", "/api/chat", { message: TRICKS.join("") });
  await service.send("GET", `/api/${encodeURIComponent(TRICKS.join(""))}`);
  const logged = service.served.process.stderr();
  expect(logged).not.toBe("");
  expect(visible(logged)).toBe(logged);
});

attack(11, "The approval of a call names the address that it will really go to", async () => {
  expect((await upload("/api/tools", capabilities(), "asked")).status).toBe(201);
  await service.send("PUT", "/api/tools/asked/secrets/key", { value: SECRET });
  service.served.model.script({ calls: [{ name: "asked", arguments: { url: at("/v1/x") } }] });
  const { json } = await service.send("POST", "/api/chat", { message: "go" });
  const { text } = await service.send("GET", `/api/threads/${json.thread_id}`);
  expect(text).toContain(`may GET, POST https://127.0.0.1/v1/* or http(s)://127.0.0.1:${mirror.port}/v1/*`);
});

attack(12, "A server that reflects its request cannot be made to give out the secret in parts", async () => {
  const before = mirror.requests.length;
  for (const headers of [
    { range: "bytes=0-16" },
    { Range: "bytes=17-60" },
    { "if-range": "x" },
    { "Accept-Encoding": "gzip" },
    { "x-forwarded-host": "evil.example" },
    { "X-Original-URL": "/admin" },
    { "x-rewrite-path": "/admin" },
    { "x-override-url": "/admin" },
    { "x-http-method-override": "DELETE" },
  ]) {
    const { refused } = await sendBy("sender", { url: at("/v1/"), headers });
    expect(refused, JSON.stringify(headers)).toMatch(/^The header \S+ is (?:not allowed|set by Postern)/);
  }
  expect(mirror.requests).toHaveLength(before);
  const whole = await sendBy("sender", { url: at("/v1/"), headers: { "x-plain": "1" } });
  expect(whole.status).toBe(200);
  expect(whole.text).toContain('"x-api-key":"[secret]"');
});

attack(12, "A server that disguises the secret is not heard", async () => {
  for (const [name, disguise] of Object.entries(DISGUISES)) {
    const { refused, text } = await sendBy("sender", { url: at(`/v1/?as=${encodeURIComponent(name)}`) });
    expect(text, name).toBe("");
    expect(refused, name).toMatch(/^The answer of \S+ holds the value of a secret in another form/);
    expect(mirror.requests.at(-1)?.headers["x-api-key"]).toBe(SECRET);
    expect(JSON.stringify(service.served.model.requests)).not.toContain(String(disguise(SECRET)));
  }
});

attack(13, "A tool is not given the service's own keys or a cloud's, by check or by install", async () => {
  for (const env_var of ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "STORE_URL"]) {
    for (const path of ["/api/tools/examine", "/api/tools"]) {
      const answer = await upload(path, capabilities({ auth: { secret_name: "key", env_var } }), "thief");
      expect(answer.status).toBe(400);
      expect(answer.json.error.message).toContain(`auth.env_var: must not be`);
    }
  }
  const { json } = await upload(
    "/api/tools/examine",
    capabilities({ auth: { secret_name: "key", env_var: "SENDER_KEY" } }),
    "thief",
  );
  expect(JSON.stringify(json)).toContain("from the environment variable SENDER_KEY");
});

attack(15, "Fullwidth dots and slashes do not lead out of the granted path", async () => {
  const before = mirror.requests.length;
  for (const path of [
    "/v1/．．/admin",
    "/v1/.．/admin",
    "/v1/%EF%BC%8E%EF%BC%8E/admin",
    "/v1/x／..／admin",
    "/v1/‥/admin",
    "/v1/x＼admin",
    "/v1/x∕admin",
    "/v1/％２ｅ％２ｅ/admin",
  ]) {
    const { refused } = await sendBy("sender", { url: at(path) });
    expect(refused, path).toMatch(/^The path holds /);
  }
  expect(mirror.requests).toHaveLength(before);
  expect(await sendBy("sender", { url: at("/v1/café") })).toMatchObject({ status: 200 });
});
