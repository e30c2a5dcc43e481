/** Tools in npm packages, from a registry on a loopback port. */
import { expect, onTestFinished, test } from "vitest";
import { createNetwork } from "../../../host/broker/network.ts";
import { createDownloads } from "../../../host/sources/download.ts";
import { createNpmSource } from "../../../host/sources/npm/npm.ts";
import { parseReference, type ReferenceOf } from "../../../host/sources/reference.ts";
import { type NpmPackages, startNpmPackages } from "../../support/servers/npm-packages.ts";
import type { TarEntry } from "../../support/tarball.ts";

const CAPABILITIES = '{"version":"1.0.0","wit_version":"0.1.0"}';

const packed = (postern: unknown, ...more: readonly TarEntry[]): readonly TarEntry[] => [
  {
    path: "package/package.json",
    data: JSON.stringify({ scripts: { postinstall: "touch /tmp/owned" }, postern }),
  },
  { path: "package/dist/hello.wasm", data: "a component" },
  { path: "package/capabilities.json", data: CAPABILITIES },
  ...more,
];

async function start(stallMs = 10_000) {
  const npm = await startNpmPackages();
  const network = createNetwork({ privateHosts: new Set([npm.host]) });
  onTestFinished(network.close);
  const downloads = createDownloads({ network, stallMs });
  const source = createNpmSource(downloads, npm.url);
  const lines: string[] = [];
  const fetch = (text: string) =>
    source.fetch(parseReference(text) as ReferenceOf<"npm">, { progress: (line) => void lines.push(line) });
  return { npm, fetch, lines };
}

test("a package's postern field says what is what; its digest is npm's integrity", async () => {
  const { npm, fetch, lines } = await start();
  npm.publish(
    "@acme/hello",
    "1.2.0",
    packed(
      {
        component: "./dist/hello.wasm",
        capabilities: "capabilities.json",
        name: "greet",
        recordings: "calls/",
      },
      { path: "package/dist/other.wasm", data: "of its own" },
      { path: "package/calls/b.json", data: '{"exchanges":[]}' },
      { path: "package/calls/a.json", data: "{}" },
      { path: "package/README.md", data: "# Hello" },
    ),
  );
  const { component, ...rest } = await fetch("npm:@acme/hello");
  expect(Buffer.from(component).toString()).toBe("a component");
  expect(rest).toMatchObject({
    capabilitiesText: CAPABILITIES,
    name: "greet",
    readme: "# Hello",
    recordings: [
      { name: "a.json", text: "{}" },
      { name: "b.json", text: '{"exchanges":[]}' },
    ],
    origin: {
      kind: "npm",
      reference: "npm:@acme/hello@latest",
      version: "1.2.0",
      digest: npm.document("@acme/hello").versions["1.2.0"]?.dist["integrity"],
    },
  });
  expect(lines).toEqual(["downloading npm:@acme/hello@1.2.0"]);
  expect(npm.asked).toEqual(["/@acme/hello", "/@acme/hello/-/1.2.0.tgz"]);
});

test("without a word in it, the only component, the capabilities beside it and the package's name are taken", async () => {
  const { npm, fetch } = await start();
  npm.publish("@acme/hello", "1.0.0", packed({}));
  expect(await fetch("npm:@acme/hello")).toMatchObject({ name: "hello", capabilitiesText: CAPABILITIES });
});

test("a version is chosen by its number, a range or a tag", async () => {
  const { npm, fetch } = await start();
  for (const version of ["1.0.0", "1.2.0", "2.0.0-beta.1", "2.0.0"])
    npm.publish("hello", version, packed({}));
  npm.document("hello")["dist-tags"] = { latest: "1.2.0", next: "2.0.0" };
  const chosen = async (range: string) => (await fetch(`npm:hello${range}`)).origin.version;
  expect(await chosen("")).toBe("1.2.0");
  expect(await chosen("@1.0.0")).toBe("1.0.0");
  expect(await chosen("@^1")).toBe("1.2.0");
  expect(await chosen("@next")).toBe("2.0.0");
  await expect(chosen("@3")).rejects.toThrow(
    "hello has no version 3. There are: 1.0.0, 1.2.0, 2.0.0-beta.1, 2.0.0, latest, next.",
  );
  await expect(fetch("npm:absent")).rejects.toThrow("npm:absent does not exist at 127.0.0.1:");
});

test.each<[string, (npm: NpmPackages) => void, string | RegExp]>([
  [
    "lies about integrity",
    (npm) => npm.answer("/hello/-/1.0.0.tgz", (response) => void response.end("something else")),
    /^npm:hello@1\.0\.0 is not what the registry says it is: .* Nothing was installed\.$/,
  ],
  [
    "gives none",
    (npm) => void delete npm.document("hello").versions["1.0.0"]?.dist["integrity"],
    "it gives no SHA-512 for version 1.0.0",
  ],
  [
    "gives one that is too weak",
    (npm) =>
      void Object.assign(npm.document("hello").versions["1.0.0"]?.dist ?? {}, { integrity: "sha1-aGVsbG8=" }),
    "it gives no SHA-512 for version 1.0.0",
  ],
  [
    "answers about another package",
    (npm) => void Object.assign(npm.document("hello"), { name: "other" }),
    'it is about "other"',
  ],
  [
    "answers with a page",
    (npm) => npm.answer("/hello", (response) => void response.end("<html>")),
    "it is not JSON",
  ],
  [
    "answers with an error",
    (npm) => npm.answer("/hello", (response) => void response.writeHead(500).end()),
    /127\.0\.0\.1:\d+ answered 500 for npm:hello/,
  ],
  [
    "ends early",
    (npm) =>
      npm.answer("/hello/-/1.0.0.tgz", (response) => {
        response.writeHead(200, { "content-length": "5000" });
        response.write("half", () => response.destroy());
      }),
    /The request to 127\.0\.0\.1:\d+ failed/,
  ],
  [
    "sends more than is read",
    (npm) => npm.answer("/hello", (response) => void response.end(Buffer.alloc(9 * 1024 * 1024))),
    "answered with more than 8388608 bytes",
  ],
  [
    "sends the tarball from a private place",
    (npm) =>
      void Object.assign(npm.document("hello").versions["1.0.0"]?.dist ?? {}, {
        tarball: "http://127.0.0.1:1/hello.tgz",
      }),
    /TOOLS_PRIVATE_HOSTS/,
  ],
  [
    "has a package that is no tool",
    (npm) => npm.publish("hello", "1.0.0", packed(undefined)),
    'npm:hello@1.0.0 cannot be used: it is not a tool: its package.json has no "postern" field.',
  ],
  [
    "has one with two components",
    (npm) => npm.publish("hello", "1.0.0", packed({}, { path: "package/dist/other.wasm" })),
    "it has 2 components (dist/hello.wasm, dist/other.wasm), and its postern field does not say which one is the tool",
  ],
  [
    "has one that names two",
    (npm) => npm.publish("hello", "1.0.0", packed({ component: ["dist/hello.wasm", "dist/other.wasm"] })),
    'the "component" of its postern field has to be one text',
  ],
  [
    "has one that names what is not in it",
    (npm) => npm.publish("hello", "1.0.0", packed({ component: "../../etc/passwd" })),
    "its postern field names ../../etc/passwd, which is not in it",
  ],
  [
    "has one with a link",
    (npm) =>
      npm.publish("hello", "1.0.0", [
        ...packed({}),
        { path: "package/capabilities.json2", type: "2", link: "/etc/passwd" },
      ]),
    'its entry "package/capabilities.json2" is a link',
  ],
  [
    "has one that may do more than can be read",
    (npm) =>
      npm.publish("hello", "1.0.0", [
        ...packed({}).slice(0, 2),
        { path: "package/capabilities.json", data: " ".repeat(300_000) },
      ]),
    "capabilities.json has 300000 bytes; at most 262144 are read",
  ],
])("a registry that %s is refused in a sentence", async (_what, spoil, why) => {
  const { npm, fetch } = await start();
  npm.publish("hello", "1.0.0", packed({}));
  spoil(npm);
  await expect(fetch("npm:hello")).rejects.toThrow(why);
});

test("a registry that answers slowly is given up", async () => {
  const { npm, fetch } = await start(150);
  npm.publish("hello", "1.0.0", packed({}));
  // It never ends what it began.
  npm.answer("/hello/-/1.0.0.tgz", (response) => void response.write("a"));
  await expect(fetch("npm:hello")).rejects.toThrow(/127\.0\.0\.1:\d+ sent nothing for 0\.15 seconds/);
});

test("a tarball of another package or version is refused, also where it is signed", async () => {
  const { npm, fetch } = await start();
  const own = (manifest: object) => [
    { path: "package/package.json", data: JSON.stringify({ ...manifest, postern: {} }) },
    { path: "package/hello.wasm", data: "a component" },
    { path: "package/capabilities.json", data: CAPABILITIES },
  ];
  npm.publish("hello", "2.0.0", own({ name: "hello", version: "2.0.0" }));
  expect((await fetch("npm:hello")).name).toBe("hello");
  npm.publish("hello", "2.0.1", own({ name: "hello", version: "1.0.0" }));
  await expect(fetch("npm:hello")).rejects.toThrow("its package.json says that it is hello@1.0.0");
  npm.publish("hello", "2.0.2", own({ name: "hallo", version: "2.0.2" }));
  await expect(fetch("npm:hello")).rejects.toThrow("its package.json says that it is hallo@2.0.2");
});
