/** Indexes of tools: what they may say, what is found in them, and what a name then means. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createNetwork } from "../../../host/broker/network.ts";
import { digestOf } from "../../../host/catalog/catalog.ts";
import { createDownloads } from "../../../host/sources/download.ts";
import { type IndexEntry, parseIndex } from "../../../host/sources/index/index-file.ts";
import { findEntry } from "../../../host/sources/index/indexes.ts";
import { searchEntries } from "../../../host/sources/index/listing.ts";
import { parseReference } from "../../../host/sources/reference.ts";
import { createSources, type SourcesParts } from "../../../host/sources/sources.ts";
import { temporaryFolder } from "../../support/home.ts";
import { startNpmPackages } from "../../support/servers/npm-packages.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;
const tool = (more: object = {}) => ({
  name: "weather",
  about: "Weather anywhere.",
  from: "oci://ghcr.io/acme/weather:1",
  digest: DIGEST,
  ...more,
});
const read = (...tools: readonly unknown[]) =>
  parseIndex(JSON.stringify({ tools }), "https://tools.example/index.json", () => undefined);

function sourcesWith(
  privateHosts: readonly string[],
  parts: Pick<SourcesParts, "folder" | "indexes" | "npmRegistry" | "maxFetchMs">,
) {
  const network = createNetwork({ privateHosts: new Set(privateHosts) });
  onTestFinished(network.close);
  const downloads = createDownloads({ network });
  const openRegistry = () => {
    throw new Error("no registry is needed here");
  };
  return createSources({ ...parts, downloads, openRegistry });
}

test("an index lists tools by name, with a sentence, a place, a digest and a signer", () => {
  const listed = [
    tool({ signer: "releases@acme.example" }),
    tool({ name: "notes", from: "npm:@acme/notes@^1" }),
  ];
  const { entries, problems } = read(...listed);
  expect(problems).toEqual([]);
  expect(entries).toEqual(listed.map((one) => ({ ...one, index: "https://tools.example/index.json" })));
});

test("a sentence is put on one line, without hidden characters, and shortened", () => {
  const [entry] = read(tool({ about: `One\n\u202etwo\u0007\u200b ${"long ".repeat(100)}` })).entries;
  expect(entry?.about).toMatch(/^One two long long .*…$/);
  expect(entry?.about).toHaveLength(240);
});

test.each<[string, unknown, string]>([
  ["a name that leads elsewhere", tool({ name: "../weather" }), '"../weather" is not a valid tool name'],
  [
    "a name with a hidden character",
    tool({ name: "weath\u200ber" }),
    '"weath\\u{200b}er" is not a valid tool name',
  ],
  ["a name with letters that look like others", tool({ name: "wеather" }), "is not a valid tool name"],
  ["a name of the agent's", tool({ name: "memory_search" }), "memory_ are reserved for the agent"],
  ["a name that is no text", tool({ name: ["weather"] }), 'its "name" is not a text'],
  ["nothing", null, "it is not an object"],
  ["no sentence", tool({ about: "\u200b \n" }), 'weather has no "about"'],
  ["no place", tool({ from: undefined }), 'weather has no "from"'],
  ["a place on this machine", tool({ from: "/etc/weather.wasm" }), "which is neither https, oci nor npm"],
  ["another name for a place", tool({ from: "other" }), "which is neither https, oci nor npm"],
  ["a place with a password", tool({ from: "https://a:b@x.example/y.wasm" }), "user name or password"],
  ["no digest", tool({ digest: undefined }), "weather has no digest"],
  ["a digest that is none", tool({ digest: "sha256:abc" }), "the digest of weather is neither"],
  [
    "a capabilities file elsewhere",
    tool({ capabilities: "x.json" }),
    "which only a file beside the index can have",
  ],
])("an entry with %s is left out with a sentence, and the others stay", (_what, entry, why) => {
  const { entries, problems } = read(entry, tool({ name: "notes" }));
  expect(entries.map(({ name }) => name)).toEqual(["notes"]);
  expect(problems).toEqual([expect.stringContaining(why)]);
  expect(problems[0]).toMatch(/^Tool 1 of the index https:\/\/tools\.example\/index\.json is left out: /);
});

test("an index that is none, or that lists a name twice, is told", () => {
  const parse = (text: string) => () => parseIndex(text, "x.json", () => undefined);
  expect(parse("<html>")).toThrow("The index x.json cannot be used: it is not JSON");
  expect(parse("[]")).toThrow('it has no list of "tools"');
  expect(parse(JSON.stringify({ tools: Array(2001).fill(0) }))).toThrow("at most 2000 are read");
  expect(read(tool(), tool({ name: "Weather" })).problems).toEqual([
    expect.stringContaining("lists Weather twice"),
  ]);
  expect(read(...Array(30).fill(0)).problems).toHaveLength(11);
});

const entry = (name: string, about: string, more: object = {}): IndexEntry => ({
  name,
  about,
  from: `npm:${name}@latest`,
  index: "shipped",
  ...more,
});

test("a search finds what has every word in its name or sentence, the best first", () => {
  const entries = [
    entry("tides", "Weather of the sea."),
    entry("weather-maps", "Maps of rain."),
    entry("weather", "Forecasts."),
    entry("notes", "Keeps notes."),
  ];
  const found = (...words: string[]) => searchEntries(entries, words).map(({ name }) => name);
  expect(found("WEATHER")).toEqual(["weather", "weather-maps", "tides"]);
  expect(found("rain weather")).toEqual(["weather-maps"]);
  expect(found("nothing")).toEqual([]);
  expect(found()).toHaveLength(4);
});

test("a name that two indexes give to different tools is not chosen between", () => {
  const ours = entry("weather", "Ours.");
  const same = { ...ours, index: "https://a.example/i.json" };
  expect(findEntry([ours, same], "weather")).toBe(ours);
  const other = { ...ours, from: "oci://evil.example/weather:1", index: "https://b.example/i.json" };
  expect(() => findEntry([ours, other], "weather")).toThrow(
    "weather is the name of different tools: npm:weather@latest (listed in shipped) and oci://evil.example/weather:1 (listed in https://b.example/i.json). Install one by its full reference.",
  );
  expect(() => findEntry([ours], "absent")).toThrow("No index lists a tool named absent.");
});

test("indexes are read from disk and over the network; one that cannot be read does not hide the others", async () => {
  const home = temporaryFolder();
  const npm = await startNpmPackages();
  mkdirSync(join(home, "lists"));
  const component = Buffer.from("a component");
  writeFileSync(join(home, "lists", "notes.wasm"), component);
  writeFileSync(join(home, "lists", "notes.json"), '{"version":"1.0.0","wit_version":"0.1.0"}');
  const notes = {
    name: "notes",
    about: "Keeps notes.",
    from: "./notes.wasm",
    capabilities: "notes.json",
    digest: `sha256:${digestOf(component)}`,
  };
  const changed = { ...notes, name: "changed", digest: DIGEST };
  writeFileSync(join(home, "lists", "own.json"), JSON.stringify({ tools: [notes, changed] }));
  npm.answer("/index.json", (response) => void response.end(JSON.stringify({ tools: [tool()] })));
  const sources = sourcesWith([npm.host], {
    folder: home,
    indexes: ["lists/own.json", `${npm.url}/index.json`, `${npm.url}/gone.json`, "absent.json"],
  });
  const { entries, problems } = await sources.indexes.read();
  expect(entries.map(({ name }) => name)).toEqual(["notes", "changed", "weather"]);
  expect(problems).toEqual([
    `the index ${npm.url}/gone.json does not exist at ${npm.host}.`,
    expect.stringContaining("absent.json cannot be used: ENOENT"),
  ]);

  const fetch = (name: string) => sources.fetch(parseReference(name), { progress: () => {} });
  expect(await fetch("notes")).toMatchObject({
    name: "notes",
    capabilitiesText: '{"version":"1.0.0","wit_version":"0.1.0"}',
    origin: { kind: "file", reference: join(home, "lists", "notes.wasm"), listed: "notes" },
  });
  await expect(fetch("changed")).rejects.toThrow(
    /is not known to be the changed that the index lists\/own\.json lists: its digest is sha256:[0-9a-f]{64}, expected sha256:a+\. Nothing was installed\.$/,
  );
});

test("a digest that covers a package's component alone does not let its capabilities change", async () => {
  const home = temporaryFolder();
  const npm = await startNpmPackages();
  const publish = (methods: readonly string[]) =>
    npm.publish("hello", "1.0.0", [
      {
        path: "package/package.json",
        data: JSON.stringify({ postern: { component: "a.wasm", capabilities: "a.json" } }),
      },
      { path: "package/a.wasm", data: "a component" },
      { path: "package/a.json", data: JSON.stringify({ version: "1.0.0", wit_version: "0.1.0", methods }) },
    ]);
  publish(["GET"]);
  const whole = npm.document("hello").versions["1.0.0"]?.dist["integrity"];
  const hello = { name: "hello", about: "Greets.", from: "npm:hello" };
  const list = (digest: unknown) =>
    writeFileSync(join(home, "own.json"), JSON.stringify({ tools: [{ ...hello, digest }] }));
  const sources = sourcesWith([npm.host], { folder: home, indexes: ["own.json"], npmRegistry: npm.url });
  const fetch = () => sources.fetch(parseReference("hello"), { progress: () => {} });
  list(`sha256:${digestOf(Buffer.from("a component"))}`);
  await expect(fetch()).rejects.toThrow("does not cover the capabilities that came with it");
  list(whole);
  expect(await fetch()).toMatchObject({ name: "hello" });
  publish(["GET", "POST"]);
  await expect(fetch()).rejects.toThrow("is not known to be the hello that the index own.json lists");
});

test("ours lists the tools of this repository, each where it is built", async () => {
  const sources = sourcesWith([], { folder: temporaryFolder() });
  const { entries, problems } = await sources.indexes.read();
  expect(problems).toEqual([]);
  expect(entries.map(({ name }) => name)).toEqual([
    "calendar",
    "convert",
    "github-issues",
    "read-page",
    "run-code",
    "weather",
    "web-search",
  ]);
  for (const { name, from } of entries)
    expect(from).toMatch(new RegExp(`/components/${name}/dist/${name}\\.wasm$`));
});

test("a tool that comes too slowly altogether is given up, and a server without TLS is said to be one", async () => {
  const npm = await startNpmPackages();
  npm.answer("/slow.wasm", (response) => {
    const timer = setInterval(() => response.write("x"), 20);
    response.on("close", () => clearInterval(timer));
  });
  const sources = sourcesWith([npm.host], { folder: temporaryFolder(), maxFetchMs: 200 });
  const fetch = (url: string) => sources.fetch(parseReference(url), { progress: () => {} });
  await expect(fetch(`${npm.url}/slow.wasm`)).rejects.toThrow(/slow\.wasm did not come within 0\.2 seconds/);
  await expect(fetch(`https://${npm.host}/x.wasm`)).rejects.toThrow(`${npm.host} does not speak TLS.`);
});
