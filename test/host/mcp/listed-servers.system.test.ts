/** `postern mcp add` and the lists of servers, as somebody types it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/home.ts";
import { postern } from "../../support/processes/postern.ts";
import { posternInTerminal } from "../../support/processes/terminal.ts";
import { openMcpHttp } from "../../support/servers/mcp-http.ts";
import { ECHO } from "../../support/servers/scripted-mcp.ts";

const UP = "\u001b[A";

async function place() {
  const server = await openMcpHttp([ECHO]);
  const cwd = temporaryFolder();
  const home = join(cwd, "home");
  mkdirSync(home, { mode: 0o700 });
  const listed = { name: "near-by", about: "Says things again.", url: server.url, sign_in: "none" };
  const index = join(home, "servers.json");
  writeFileSync(index, JSON.stringify({ servers: [listed] }));
  const env = { POSTERN_HOME: home, TOOLS_PRIVATE_HOSTS: server.host, TOOLS_SHIPPED: "false" };
  return { cwd, env, index };
}

test("without a target the list is offered on a terminal, and what was chosen is added after a look", async () => {
  const { cwd, env, index } = await place();
  const terminal = posternInTerminal(["mcp", "add"], { env: { ...env, MCP_INDEX: index }, cwd });
  await terminal.shows("Which server?");
  expect(terminal.text()).toContain("linear");
  // The last one, which is from the operator's own list.
  terminal.type(UP);
  await terminal.shows("near-by (Says things again.)");
  terminal.type("\r");
  await terminal.shows("Says it again.");
  terminal.type("y\r");
  expect(await terminal.ended).toBe(0);
  expect(terminal.text()).toContain("Added near-by. 1 tool may run without asking");
});

test("a listed server is added by its name; a list that only the folder's .env names is not read", async () => {
  const { cwd, env, index } = await place();
  writeFileSync(join(cwd, ".env"), `MCP_INDEX=${index}\n`);
  const unknown = await postern(["mcp", "add", "near-by", "--yes"], { env, cwd });
  expect(unknown).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("No list has a server named near-by"),
  });
  const known = { ...env, MCP_INDEX: index };
  const added = await postern(["mcp", "add", "near-by", "--yes"], { env: known, cwd });
  expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining("Added near-by.") });
  expect(added.stderr).toContain("near-by: Says things again. It needs no sign-in.");
  expect(added.stderr).toMatch(/echo +read-only +Says it again\./);
});
