/** The list of MCP servers that can be added by name, and what a further list may not do. */
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createNetwork } from "../../../host/broker/network.ts";
import known from "../../../host/mcp/index/known-servers.json" with { type: "json" };
import { createServerIndex, parseServerIndex } from "../../../host/mcp/index/server-index.ts";
import { createDownloads } from "../../../host/sources/download.ts";
import { temporaryFolder } from "../../support/home.ts";
import { listen } from "../../support/servers/listening.ts";

const server = (more: object = {}) => ({
  name: "notes",
  about: "Notes.",
  url: "https://notes.example/mcp",
  sign_in: "browser",
  ...more,
});
const parse = (...servers: readonly unknown[]) =>
  parseServerIndex(JSON.stringify({ servers }), "x.json", new Set());

function indexOf(folder: string, serverIndexes: readonly string[], hosts: readonly string[] = []) {
  const privateHosts = new Set(hosts);
  const network = createNetwork({ privateHosts });
  onTestFinished(network.close);
  return createServerIndex({ downloads: createDownloads({ network }), serverIndexes, folder, privateHosts });
}

test("every server of the shipped list fits the schema and has a date", async () => {
  const { date, servers, problems } = await indexOf(temporaryFolder(), [])();
  expect(problems).toEqual([]);
  expect(servers.map(({ name }) => name)).toEqual(known.servers.map(({ name }) => name));
  expect(date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  expect(servers.find(({ name }) => name === "github")).toMatchObject({ signIn: "token", index: "shipped" });
});

test.each<[string, unknown, string]>([
  ["plain http to a public host", server({ url: "http://notes.example/mcp" }), "Plain http to notes.example"],
  ["a private scheme", server({ url: "file:///etc/passwd" }), "only https is"],
  ["a name that is none", server({ name: "No\u001b[2J!" }), "is not a valid server name"],
  ["neither url nor command", server({ url: undefined }), "needs a url or a command"],
  ["a command and a url", server({ command: ["x"] }), "needs a url or a command"],
  [
    "hidden characters in its command",
    { name: "x", about: "X.", command: ["np\u202ex", "\u001b]0;x"] },
    "hidden characters",
  ],
  ["a field nobody knows", server({ token: "t" }), "token"],
  ["nothing", null, "it is not an object"],
])("an entry with %s is left out with a sentence, and the others stay", (_what, entry, why) => {
  const { entries, problems } = parse(entry, server({ name: "other" }));
  expect(entries.map(({ name }) => name)).toEqual(["other"]);
  expect(problems).toEqual([expect.stringContaining(why)]);
  expect(problems[0]).toMatch(/^Server 1 of the index x\.json is left out: /);
  expect(problems[0]).not.toContain("\u001b");
});

test("escape sequences are taken out of a sentence", () => {
  const about = parse(server({ about: "No\u001btes\u202e." })).entries[0]?.about;
  expect(about).toBe("Notes.");
});

test("a further list adds servers, takes no name of another, and one that is bad loses nothing", async () => {
  const folder = temporaryFolder();
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write("ours.json", JSON.stringify({ servers: [server(), server({ name: "github" })] }));
  write("broken.json", "<html>");
  write("large.json", " ".repeat(10 * 1024 * 1024));
  const endless = createServer((_request, response) => {
    const more = () => {
      while (response.write("[".repeat(65_536)));
    };
    response.on("drain", more);
    more();
  });
  const { host } = await listen(endless);
  const named = ["ours.json", "broken.json", "large.json", "none.json", "/dev/zero", "http://x.example/i"];
  const { servers, problems } = await indexOf(folder, [...named, `http://${host}/i`], [host])();
  expect(servers).toHaveLength(known.servers.length + 1);
  expect(servers.find(({ name }) => name === "github")?.index).toBe("shipped");
  expect(problems).toEqual([
    expect.stringContaining("it is not JSON"),
    expect.stringContaining("it has 10485760 bytes"),
    expect.stringContaining("none.json"),
    expect.stringContaining("/dev/zero cannot be used: it is not a file"),
    expect.stringContaining("Plain http to x.example is not allowed"),
    expect.stringContaining(host),
    "github of the index ours.json is left out: the index shipped has that name.",
  ]);
});
