/** A service that a terminal joins may be somebody else's: nothing that it answers reaches the terminal as it is. */
import { createServer } from "node:http";
import { connect } from "node:net";
import { expect } from "vitest";
import { visible } from "../../kernel/text/visible.ts";
import { attack } from "../support/attacks.ts";
import { postern } from "../support/processes/postern.ts";
import { scriptedModel } from "../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../support/services/gateway.ts";
import { afterThisTest } from "../support/undo.ts";

const TRICKS = "\u001b]52;c;ZXZpbA==\u0007\u001b[2J\u001b[1A\u009b1A\u202e\r\u200b";
const WORD = "Trickery";

/** A service whose texts have tricks in place of a word. Its socket is passed on as it is. */
async function tricky(url: string): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = request.method === "GET" ? undefined : Buffer.concat(await Array.fromAsync(request));
    const headers = {
      authorization: request.headers.authorization ?? "",
      "content-type": "application/json",
    };
    const answer = await fetch(url + (request.url ?? ""), { method: request.method ?? "GET", headers, body });
    const type = answer.headers.get("content-type") ?? "";
    const tricks = type.includes("json") ? JSON.stringify(TRICKS).slice(1, -1) : TRICKS;
    const text = (await answer.text()).replaceAll(WORD, tricks);
    response.writeHead(answer.status, { "content-type": type }).end(text);
  });
  server.on("upgrade", (request, socket, head) => {
    const upstream = connect(Number(new URL(url).port), "127.0.0.1");
    const lines = [`${request.method} ${request.url} HTTP/1.1`];
    for (const [name, value] of Object.entries(request.headers)) lines.push(`${name}: ${value}`);
    upstream.write(`${lines.join("\r\n")}\r\n\r\n`);
    upstream.write(head);
    upstream.pipe(socket).pipe(upstream);
    for (const end of [upstream, socket]) end.on("error", () => {});
    afterThisTest(() => void upstream.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  afterThisTest(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

attack("K", "A service that was joined cannot act on the terminal with what it answers", async () => {
  const model = await scriptedModel();
  model.otherwise({ text: `Red. ${WORD}` });
  const gateway = await openGateway({ model });
  const asked = await gateway.ask("/api/chat", { method: "POST", body: { message: `${WORD} colour?` } });
  const { thread_id: thread } = asked.body;
  await gateway.ask("/api/jobs", { method: "POST", body: { message: `Look up ${WORD}` } });
  const schedule = { schedule: "weekdays at 8:00", text: `Say ${WORD}` };
  await gateway.ask("/api/routines", { method: "POST", body: schedule });
  const url = await tricky(gateway.url);
  const run = (...args: string[]) =>
    postern([...args, "--url", url], { env: { POSTERN_TOKEN: OPERATOR_TOKEN } });
  let tricked = 0;
  for (const args of [
    ["thread", "list"],
    ["thread", "show", thread],
    ["job", "list"],
    ["routine", "list"],
    ["ask", "Again?"],
    ["thread", "show", WORD],
    ["thread", "list", "--json"],
  ]) {
    const { stdout, stderr } = await run(...args);
    const shown = stdout + stderr;
    expect(shown, args.join(" ")).not.toBe("");
    expect(visible(shown), args.join(" ")).toBe(shown);
    if (shown.includes("52;c;")) tricked++;
  }
  expect(tricked).toBeGreaterThan(3);
});
