/** The channel contract, as it is seen from outside, where each request goes to another of three nodes. */
import { beforeAll, describe, expect, test } from "vitest";
import type { Turn } from "../../plugins/agent/services.ts";
import { type ChannelClient, conversation } from "../channel-contract/channel-contract.ts";
import { type Fleet, startFleet, TOKEN } from "../support/processes/fleet.ts";
import { describePostgres, execute, freshDatabase } from "../support/processes/postgres/database.ts";
import type { ChatRequest } from "../support/servers/model-server.ts";
import { bearer, eventsOf, textOf } from "../support/services/responses.ts";
import { SECRET } from "../support/services/webhook-plugins.ts";
import { afterThisFile } from "../support/undo.ts";

function lastText({ messages }: ChatRequest): string {
  const said = messages.findLast(({ role }) => role === "user")?.content;
  return typeof said === "string" ? said : (said?.[0]?.text ?? "");
}

async function post(url: string, body: object, headers: Record<string, string> = {}) {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...bearer(TOKEN), ...headers },
    body: JSON.stringify(body),
  });
  return JSON.parse(await answer.text());
}

describePostgres("a fleet of three behind a balancer", () => {
  const later = afterThisFile();
  let fleet: Fleet;
  let database: string;
  beforeAll(async () => {
    database = await freshDatabase(later);
    fleet = await startFleet(database, { later });
  });

  const CHANNELS: Readonly<Record<string, ChannelClient["say"]>> = {
    async gateway(message) {
      const { response = "", error } = await post(`${fleet.gateway.url}/api/chat`, { message });
      return `${response} ${error?.message ?? ""}`;
    },
    async responses(input) {
      const answer = await post(`${fleet.gateway.url}/api/v1/responses`, { model: "reborn", input });
      return `${textOf(answer)} ${answer.error?.message ?? ""}`;
    },
    async webhook(message) {
      const headers = { "x-webhook-secret": SECRET, prefer: "wait=60" };
      const body = { message, user_id: "ada" };
      const { response, error } = await post(`${fleet.webhook.url}/webhook`, body, headers);
      return `${response} ${error?.message ?? ""}`;
    },
  };

  describe.for(Object.entries(CHANNELS))("%s", ([channel, say]) => {
    test.for(conversation(channel))("$title", async ({ play }) => {
      const newest = "SELECT coalesce(max(seq), 0)::int AS seq FROM turns";
      const [before] = await execute<{ seq: number }>(database, newest);
      fleet.model.otherwise((request) => ({ text: `You said: ${lastText(request)}` }));
      await play({
        client: async () => ({ say, close: () => {} }),
        async heard() {
          const since = `SELECT "user", channel, input FROM turns WHERE seq > ${before?.seq} ORDER BY seq`;
          const rows = await execute<{ user: string; channel: string; input: string }>(database, since);
          return rows.map(({ input, ...rest }) => ({ ...rest, input: JSON.parse(input) as Turn["input"] }));
        },
        speak: (pieces) => fleet.model.otherwise({ text: pieces }),
        fail() {
          fleet.model.otherwise({ status: 400 });
          return "The model scripted";
        },
      });
    });
  });

  test("each of them was asked", () => {
    expect(new Set(fleet.gateway.taken)).toEqual(new Set([0, 1, 2]));
    expect(new Set(fleet.webhook.taken)).toEqual(new Set([0, 1, 2]));
  });

  const create = (node: number, key: string, stream: boolean) =>
    fetch(`${fleet.nodes[node]?.url}/api/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json", ...bearer(TOKEN), "idempotency-key": key },
      body: JSON.stringify({ model: "reborn", input: key, stream }),
    });

  test.for([false, true])(
    "a response that one node makes is waited for at another where its request is repeated (stream: %s)",
    async (stream) => {
      const rest = Promise.withResolvers<string>();
      fleet.model.otherwise({ text: ["One ", rest.promise] });
      const before = fleet.model.requests.length;
      const first = create(0, `key ${stream}`, stream);
      await expect.poll(() => fleet.model.requests.length).toBe(before + 1);
      const again = create(1, `key ${stream}`, stream);
      let isAnswered = false;
      void again.then((answer) => answer.clone().text()).then(() => (isAnswered = true));
      // Long enough for an answer that does not wait.
      for (let round = 0; round < 3; round++)
        await fetch(`${fleet.nodes[1]?.url}/api/status`, { headers: bearer(TOKEN) });
      expect(isAnswered).toBe(false);
      rest.resolve("two.");
      const answers = await Promise.all([first, again]);
      if (stream) {
        const [live = [], repeated = []] = await Promise.all(answers.map(eventsOf));
        const end = (events: typeof live) => events.at(-1);
        expect(end(repeated)?.type).toBe("response.completed");
        expect(end(repeated)?.["response"]).toEqual(end(live)?.["response"]);
      } else {
        const [made, repeated] = await Promise.all(answers.map((answer) => answer.json()));
        expect(made).toMatchObject({ status: "completed" });
        expect(repeated).toEqual(made);
      }
      expect(fleet.model.requests.length).toBe(before + 1);
    },
  );

  test("a token's scope holds on every node, and for who answers its turn's gate on another", async () => {
    const made = await post(`${fleet.nodes[0]?.url}/api/tokens`, {
      user: "operator",
      name: "codex",
      tools: "none",
    });
    fleet.model.otherwise({ text: "Done." });
    const before = fleet.model.requests.length;
    const shell = [{ type: "function", name: "shell", parameters: { type: "object" } }];
    for (const [at, { url }] of fleet.nodes.entries()) {
      fleet.model.script({ calls: [{ id: "c1", name: "shell", arguments: {} }] });
      const asked = { model: "reborn", input: "Go on", tools: shell };
      const first = await post(`${url}/api/v1/responses`, asked, bearer(made.token));
      const output = { type: "function_call_output", call_id: "c1", output: "ok" };
      const other = fleet.nodes[(at + 1) % fleet.nodes.length]?.url;
      const second = { model: "reborn", input: [output], previous_response_id: first.id };
      expect(await post(`${other}/api/v1/responses`, second)).toMatchObject({ status: "completed" });
    }
    const offered = fleet.model.requests
      .slice(before)
      .map(({ tools = [] }) => tools.map((t) => t.function.name));
    expect(offered).toEqual(Array(6).fill(["shell"]));
  });

  test("a response that runs on one node is retrieved and cancelled at others", async () => {
    fleet.model.otherwise({ text: ["Well, "], end: "stall" });
    const before = fleet.model.requests.length;
    const first = create(0, "cancel", false);
    await expect.poll(() => fleet.model.requests.length).toBe(before + 1);
    const find = "SELECT id, thread FROM turns WHERE status = 'running'";
    const [turn] = await execute<{ id: string; thread: string }>(database, find);
    const bare = (id = "") => id.replaceAll("-", "");
    const path = `/api/v1/responses/resp_${bare(turn?.id)}${bare(turn?.thread)}`;
    const ask = async (node: number, rest = "", method = "GET") => {
      const url = `${fleet.nodes[node]?.url}${path}${rest}`;
      return (await fetch(url, { method, headers: bearer(TOKEN) })).json();
    };
    expect(await ask(1)).toMatchObject({ status: "in_progress" });
    expect(await ask(2, "/cancel", "POST")).toMatchObject({ status: "cancelled" });
    expect(await (await first).json()).toMatchObject({ status: "cancelled" });
  });
});
