/** Where strangers' bytes come in, each with inputs that are sound. What is wrong is said as a fault, and nothing else is thrown. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type CallToolResult, type ListToolsResult, specTypeSchemas } from "@modelcontextprotocol/client";
import { describeCapabilities } from "../../../capabilities/describe.ts";
import { FileError } from "../../../capabilities/file.ts";
import { parseCapabilities } from "../../../host/catalog/catalog.ts";
import {
  readCapabilitiesSection,
  withCapabilitiesSection,
} from "../../../host/compile/capabilities-section.ts";
import { inspect } from "../../../host/compile/component.ts";
import { toOutcome } from "../../../host/mcp/call/result.ts";
import { readDefinitions } from "../../../host/mcp/tools/definition.ts";
import { readManifest } from "../../../host/sources/oci/manifest.ts";
import type { SimpleSignature } from "../../../host/trust/evidence.ts";
import { createJudge } from "../../../host/trust/judge.ts";
import { createDocumentReader } from "../../../kernel/files/document-reader.ts";
import { createMask } from "../../../kernel/mask/mask.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { createMailReader } from "../../../plugins/email/reading/mail-reader.ts";
import { ROOT } from "../../support/clone.ts";
import { mailOf } from "../../support/mails.ts";
import { pdf } from "../../support/pdf.ts";
import { createKey, hash, keyBundle, simpleSignature } from "../../support/signatures/cosign.ts";
import { fixture } from "../../support/tools/components.ts";
import { bytesDoor, jsonDoor } from "./growing.ts";

const read = (file: string) => readFileSync(join(ROOT, file));
const json = (file: string): unknown => JSON.parse(read(file).toString());
const closed = { close: async () => {} };

/** What was refused, in words; throws what is no refusal. */
function refusal(error: unknown): string {
  if (error instanceof Fault || error instanceof FileError) return error.message;
  throw error;
}

async function orRefusal(work: () => unknown): Promise<string> {
  try {
    return JSON.stringify(await work()) ?? "";
  } catch (error) {
    return refusal(error);
  }
}

export const capabilities = jsonDoor({
  name: "capabilities",
  runs: 10_000,
  open: async () => ({
    ...closed,
    seeds: ["calendar", "weather", "read-page", "github-issues", "run-code", "web-search"].map((name) =>
      json(`capabilities/${name}.json`),
    ),
    answer: (input) => orRefusal(() => describeCapabilities(parseCapabilities(input))),
  }),
});

const MANIFEST = {
  schemaVersion: 2,
  mediaType: "application/vnd.oci.image.manifest.v1+json",
  config: { mediaType: "application/vnd.wasm.config.v0+json", digest: `sha256:${"0".repeat(64)}`, size: 2 },
  layers: [
    { mediaType: "application/wasm", digest: `sha256:${"1".repeat(64)}`, size: 100, annotations: {} },
    { mediaType: "application/json", digest: `sha256:${"2".repeat(64)}`, size: 100 },
  ],
  annotations: { "org.opencontainers.image.version": "1.0.0" },
};

export const manifest = jsonDoor({
  name: "manifest",
  runs: 10_000,
  open: async () => ({
    ...closed,
    seeds: [MANIFEST, { manifests: [MANIFEST] }],
    answer: (input) =>
      orRefusal(() => readManifest(Buffer.from(JSON.stringify(input) ?? ""), "oci://a.test/b")),
  }),
});

/** However a signature is changed, it does not become that of somebody else. */
export const signature = jsonDoor({
  name: "signature",
  runs: 2000,
  async open() {
    const [key, named] = [createKey(), createKey()];
    const subject = Buffer.from(JSON.stringify(MANIFEST));
    const signer = { type: "key", pem: named.pem, fingerprint: named.fingerprint } as const;
    const rule = { id: "1", pattern: "oci://registry.example/acme/*", signer, addedAt: "" };
    const judge = createJudge({ matching: async () => [rule] });
    const digest = `sha256:${hash("sha256", subject).toString("hex")}`;
    const origin = { kind: "oci", reference: "oci://registry.example/acme/tool:1", digest } as const;
    const { payload, ...simple } = simpleSignature(subject, key);
    return {
      ...closed,
      seeds: [
        { bundle: JSON.parse(keyBundle(subject, key).toString()) },
        { simple, payload: JSON.parse(Buffer.from(payload).toString()) },
      ],
      async answer(input) {
        const { bundle, simple: other, payload: told } = Object(input);
        const bundles = bundle === undefined ? [] : [Buffer.from(JSON.stringify(bundle))];
        const isSimple = typeof other === "object" && other !== null && told !== undefined;
        const one = { ...simple, ...textsIn(other), payload: Buffer.from(JSON.stringify(told) ?? "") };
        const { status, sentence } = await judge(origin, {
          subject,
          bundles,
          simple: isSimple ? [one as SimpleSignature] : [],
        });
        if (status === "signed") throw new Error("it counts as signed by a key that did not sign it");
        return `${status}: ${sentence}`;
      },
    };
  },
});

/** Annotations of a manifest are texts, as whoever reads them sees to. */
function textsIn(value: unknown): Readonly<Record<string, string>> {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(entries.filter(([, one]) => typeof one === "string"));
}

/** Sound ones, small enough to be changed where it matters. */
const components = () =>
  Promise.all(
    ["smuggler.wat", "hoarder.wat"].map(async (name) =>
      Buffer.from(withCapabilitiesSection(await fixture(name), read("capabilities/weather.json").toString())),
    ),
  );

/** The one part of a component that is read in the service's own process. */
export const section = bytesDoor({
  name: "component-section",
  runs: 5000,
  open: async () => ({
    ...closed,
    seeds: await components(),
    answer: (input) => orRefusal(() => readCapabilitiesSection(input)),
  }),
});

/** Each is read in a process of its own. */
export const component = bytesDoor({
  name: "component",
  runs: 25,
  open: async () => ({
    ...closed,
    seeds: await components(),
    answer: (input) => orRefusal(() => inspect(input)),
  }),
});

const TOOLS = {
  tools: [
    {
      name: "search",
      title: "Search",
      description: "Finds pages.",
      inputSchema: { type: "object", properties: { query: { type: "string", "x-mcp-header": "Query" } } },
      outputSchema: { type: "object", properties: { hits: { type: "array", items: { $ref: "#/x" } } } },
      annotations: { readOnlyHint: true },
    },
  ],
};
const RESULT = {
  content: [
    { type: "text", text: "Hello" },
    { type: "image", data: "aGk=", mimeType: "image/png" },
    { type: "resource", resource: { uri: "file:///a", text: "x" } },
    { type: "resource_link", uri: "https://a.test/", name: "a", title: "A" },
  ],
  structured: { hits: [{ title: "a", url: "https://a.test/" }] },
  isError: false,
};

/** What a server says of its tools and as their results, once the protocol's package has let it through. */
export const mcpServer = jsonDoor({
  name: "mcp-server",
  runs: 5000,
  async open() {
    const mask = createMask();
    return {
      ...closed,
      seeds: [TOOLS, RESULT],
      answer: (input) =>
        orRefusal(() => {
          const { tools, structured } = Object(input);
          const isListing = tools !== undefined;
          const kind = isListing ? specTypeSchemas.ListToolsResult : specTypeSchemas.CallToolResult;
          const read = kind["~standard"].validate(input);
          if (!("value" in read)) return "refused by the protocol's package";
          if (isListing) return readDefinitions((read.value as ListToolsResult).tools);
          const { content, isError = false } = read.value as CallToolResult;
          return toOutcome({ type: "result", content, structured, isError }, [], mask);
        }),
    };
  },
});

const MAIL = mailOf(
  [
    "From: Ann <ann@example.org>",
    "To: bot@example.org",
    "Subject: =?utf-8?B?SGVsbG8=?=",
    "Message-ID: <1@example.org>",
    "References: <0@example.org>",
    "Authentication-Results: mx.example.org; dkim=pass header.d=example.org; spf=pass",
    "MIME-Version: 1.0",
    'Content-Type: multipart/mixed; boundary="b"',
  ],
  `--b
Content-Type: multipart/alternative; boundary=c

--c
Content-Type: text/plain; charset=utf-8

Hello

> quoted
--c
Content-Type: text/html; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

<p>H=E9llo <a href=3D"https://a.test">x</a></p>
--c--
--b
Content-Type: application/pdf; name="a.pdf"
Content-Disposition: attachment; filename*=utf-8''a%2e.pdf
Content-Transfer-Encoding: base64

JVBERi0=
--b
Content-Type: message/rfc822

From: Bob <bob@example.org>
Subject: Inner

Forwarded
--b--
`,
);

export const mail = bytesDoor({
  name: "mail",
  runs: 2000,
  async open() {
    const reader = createMailReader();
    return {
      close: reader.close,
      seeds: [Buffer.from(MAIL)],
      answer: async (source) => {
        const task = { source, address: "bot@example.org", authservId: "mx.example.org" };
        // One whose header cannot be read either is left where it is, and said.
        return JSON.stringify(await reader.read(task).catch((error: Error) => error.message));
      },
    };
  },
});

export const pdfFile = bytesDoor({
  name: "pdf",
  runs: 25,
  async open() {
    const reader = createDocumentReader();
    return {
      close: reader.close,
      seeds: [pdf("Hello\nWorld", "Second page")],
      answer: async (input) => JSON.stringify(await reader.read("ada", "pdf", input)),
    };
  },
});
