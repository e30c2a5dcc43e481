/** Files of the workspace as resources, as the SDK's own client sees them. */
import { describe, expect, test } from "vitest";
import { openMcp, REVISIONS } from "../../support/services/mcp.ts";

const LEAN = { MEMORY_VECTORS: "false" };
const change = { writer: { kind: "page" } } as const;
const write = (path: string, data: string | Uint8Array) =>
  ({ op: "write", path, data: typeof data === "string" ? Buffer.from(data) : data }) as const;

describe.each(REVISIONS)("%s", (revision) => {
  test("files follow the memory documents, page by page, and are read as text or bytes", async () => {
    const mcp = await openMcp({ variables: LEAN });
    await mcp.service.service("memory").write("operator", "a.md", "A");
    const workspace = mcp.service.service("workspace");
    const many = Array.from({ length: 150 }, (_, at) => write(`/many/${1000 + at}.txt`, `number ${at}`));
    await workspace.apply(
      "operator",
      [...many, write("/Ä b.md", "Blue."), write("/raw", Uint8Array.of(0, 255))],
      change,
    );
    await workspace.apply("operator", [write("garden:/plan.md", "Peas.")], change);
    const client = await mcp.client(revision);

    // The client asks for page after page.
    const { resources: all } = await client.listResources();
    expect([all.length, new Set(all.map(({ uri }) => uri)).size]).toEqual([154, 154]);
    expect(all[0]).toMatchObject({ uri: "memory:///a.md" });
    expect(all.at(-1)).toMatchObject({ uri: "workspace:///garden%3A/plan.md", name: "garden:/plan.md" });

    const read = async (uri: string) => (await client.readResource({ uri })).contents;
    expect(await read("workspace:///%C3%84%20b.md")).toMatchObject([
      { mimeType: "text/markdown", text: "Blue." },
    ]);
    expect(await read("workspace:///raw")).toMatchObject([{ blob: "AP8=" }]);
    expect(await read("workspace:///garden%3A/plan.md")).toMatchObject([{ text: "Peas." }]);
  });

  test("what is not there, somebody else's, too large or out of scope is refused", async () => {
    const mcp = await openMcp({ variables: LEAN });
    const workspace = mcp.service.service("workspace");
    await workspace.apply(
      "operator",
      [write("/a.txt", "mine"), write("/large.bin", new Uint8Array(5_000_001))],
      change,
    );
    const client = await mcp.client(revision);
    const uri = "workspace:///a.txt";
    for (const missing of ["workspace:///none", "workspace:///", "workspace:///../a.txt", "workspace:///%ff"])
      await expect(client.readResource({ uri: missing })).rejects.toMatchObject({ code: -32602 });
    await expect(client.readResource({ uri: "workspace:///large.bin" })).rejects.toThrow("at most 5000000");
    await expect(client.listResources({ cursor: "bm9uZQ" })).rejects.toThrow("Invalid cursor");

    const ann = await mcp.client(revision, { token: await mcp.addUser("ann") });
    expect((await ann.listResources()).resources).toEqual([]);
    await expect(ann.readResource({ uri })).rejects.toMatchObject({ code: -32602 });

    const body = { user: "operator", name: "n", tools: ["memory_read"] };
    const { token } = (await mcp.ask("/api/tokens", { method: "POST", body })).body;
    const narrow = await mcp.client(revision, { token });
    expect((await narrow.listResources()).resources).toEqual([]);
    await expect(narrow.readResource({ uri })).rejects.toMatchObject({ code: -32602 });
  });
});
