import { createServer } from "node:http";
import { expect, test } from "vitest";
import { createOutbound } from "../../../kernel/kit/outbound.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { createConversations } from "../../../plugins/client/commands.ts";
import type { Events } from "../../../plugins/client/events.ts";
import { createRequests } from "../../../plugins/client/requests.ts";
import { listen } from "../../support/servers/listening.ts";
import { afterThisTest } from "../../support/undo.ts";

test("a service that was joined cannot choose that an export is a file which other programs run", async () => {
  let named = "";
  const server = createServer((_, response) => {
    response.setHeader("content-disposition", `attachment; filename="${named}"`);
    response.end("# A talk");
  });
  const { url: origin } = await listen(server);
  const outbound = createOutbound({ privateHosts: "any" });
  afterThisTest(outbound.close);
  const refused = () => new Fault("unauthenticated", "token_refused", "no");
  const requests = createRequests(() => ({ origin, token: "t" }), outbound, refused);
  const { export: exported } = createConversations(requests, {} as Events);
  const nameOf = async (name: string, format: "markdown" | "json") => {
    named = name;
    return (await exported("operator", "a-thread", format)).name;
  };
  expect(await nameOf("The bike.md", "markdown")).toBe("The bike.md");
  for (const name of [".bashrc", ".env", "../.profile", "run.sh", ".x.md", ""])
    expect(await nameOf(name, "markdown")).toBe("thread.md");
  expect(await nameOf("deploy.sh", "json")).toBe("thread.json");
});
