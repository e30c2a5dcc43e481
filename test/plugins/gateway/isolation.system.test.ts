import { expect, test } from "vitest";
import { scriptedModel } from "../../support/services/agent.ts";
import { openGateway } from "../../support/services/gateway.ts";

const SECRET = "the-thing-only-bob-knows";

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
}

test("user A can read and change nothing of user B by any route of the OpenAPI document", async () => {
  const model = await scriptedModel();
  model.otherwise({ text: `I say ${SECRET}` });
  const tools = { mail: { writes: true, run: () => ({ status: "ok", output: SECRET }) as const } };
  const gateway = await openGateway({ model, tools, variables: { CHAT_RATE_LIMIT: "100000" } });
  const [alice, bob] = [await gateway.addUser("alice"), await gateway.addUser("bob")];

  const asBob = (path: string, method = "GET", body?: object) =>
    gateway.ask(path, { token: bob, method, ...(body && { body }) });
  const chat = (await asBob("/api/chat", "POST", { message: `Remember ${SECRET}` })).body;
  await asBob(`/api/threads/${chat.thread_id}`, "PATCH", { title: `About ${SECRET}` });
  const binned = (await asBob("/api/chat", "POST", { message: `Forget ${SECRET}` })).body;
  await asBob(`/api/threads/${binned.thread_id}`, "DELETE");
  model.script({ calls: [{ name: "mail", arguments: { text: SECRET } }] });
  const gated = (await asBob("/api/chat", "POST", { message: "Mail it" })).body;
  await asBob("/api/memory/file?path=notes/bob.md", "PUT", { text: `I know ${SECRET}` });
  const workspace = gateway.service.service("workspace");
  const write = { op: "write", path: "/bob.md", data: Buffer.from(`I keep ${SECRET}`) } as const;
  await workspace.apply("bob", [write], { writer: { kind: "page" } });
  const [set] = (await asBob("/api/workspace/log")).body.sets;
  const routine = (await asBob("/api/routines", "POST", { schedule: "daily at 8:00", text: SECRET })).body;
  model.script({ calls: [{ name: "task_delegate", arguments: { task: SECRET } }] }, { text: SECRET });
  await asBob("/api/chat", "POST", { message: "Delegate it" });
  const [task] = (await asBob("/api/tasks")).body.tasks;
  const jobs = gateway.service.service("jobs");
  const job = await jobs.submit({ user: "bob", channel: "webhook", message: SECRET });
  await jobs.wait(job.id, 60_000);
  await gateway.service.service("approvals").remember("bob", "mail", "deny");
  await gateway.ask("/api/session", { method: "POST", token: "", body: { token: bob } });
  const session = (await asBob("/api/sessions")).body.sessions[0].id;

  const shown = async () => {
    const paths = [
      "/api/threads",
      "/api/bin",
      `/api/threads/${chat.thread_id}`,
      `/api/threads/${gated.thread_id}`,
      "/api/memory",
      "/api/memory/file?path=notes/bob.md",
      "/api/workspace?deep=true",
      "/api/workspace/text?path=/bob.md",
      "/api/workspace/log",
      "/api/approvals",
      "/api/jobs",
      "/api/tasks",
      "/api/session",
      "/api/sessions",
      "/api/routines",
      `/api/routines/${routine.id}/runs`,
    ];
    return Promise.all(paths.map(async (path) => [path, (await asBob(path)).body]));
  };
  const before = await shown();
  expect(JSON.stringify(before)).toContain(SECRET);

  const socket = await gateway.socket({ token: alice });
  const tokenId = (await gateway.ask("/api/tokens")).body.tokens.find(
    ({ user }: { user: string }) => user === "bob",
  ).id;
  const values: Readonly<Record<string, readonly string[]>> = {
    id: [
      chat.thread_id,
      chat.message_id,
      gated.thread_id,
      gated.message_id,
      binned.thread_id,
      job.id,
      task.id,
      routine.id,
      tokenId,
      session,
      "bob",
    ],
    with_data: ["true"],
    gate: [gated.gate.id],
    tool: ["mail"],
    name: ["mail"],
    secret: ["mail_key"],
    q: [SECRET],
    path: ["notes/bob.md", "../bob/notes/bob.md", "/bob/notes/bob.md", "/bob.md", "bob:/bob.md"],
    folder: ["/", "bob:/"],
    deep: ["true"],
    now: ["true"],
    expected: [],
    before: [],
    order: ["changed"],
    limit: [],
    status: [],
    stream: [],
    after: [],
    schedule: ["daily at 8:00"],
    tz: ["UTC"],
    format: [],
    from: [],
    to: [],
    by: [],
    zone: [],
    step: [],
    level: [],
    text: [],
    turn: [],
    version: [],
    user: ["bob"],
    thread: [chat.thread_id],
    through: [],
    setting: ["base_url"],
    channel: [],
    code: ["AAAA-BBBB"],
  };
  const bodies: Readonly<Record<string, object>> = {
    "post /api/chat": { message: "Hi", thread_id: chat.thread_id },
    "post /api/chat/send": { message: "Hi", thread_id: chat.thread_id },
    "patch /api/threads/{id}": { title: "Mine now" },
    "post /api/routines": { schedule: "daily at 9:00", text: "Mine", user: "bob" },
    "patch /api/routines/{id}": { text: "Mine now", paused: true },
    "put /api/memory/file": { text: "Mine now" },
    "post /api/workspace/undo": { set_id: set.id },
    "post /api/workspace/restore": { path: "/bob.md", version: 1 },
    "post /api/workspace/move": { path: "/bob.md", to: "/mine.md" },
    "post /api/workspace/attach": { path: "/bob.md" },
    "post /api/workspace/folders": { path: "/bob.md" },
    "post /api/approvals/{gate}": { decision: "always" },
    "post /api/identities/pair": { identity: "webhook/bob", account: "alice" },
    "post /api/identities/unpair": { identity: "webhook/bob" },
    "post /api/identities/deny": { identity: "webhook/bob" },
    "post /api/pairings/{code}": { account: "alice" },
    "post /api/webhooks": { name: "mine", user: "bob" },
    "post /api/users": { id: "mallory", role: "operator" },
    "patch /api/users/{id}": { role: "operator" },
    "patch /api/tokens/{id}": { expires_in_days: 0.001 },
    "post /api/tokens": { user: "bob", name: "mine" },
    "post /api/invitations": { user: "bob" },
    "post /api/session": { token: "not-a-token" },
  };
  const { paths } = (await gateway.ask("/api/openapi.json")).body;
  let walked = 0;
  for (const [path, verbs] of Object.entries<Record<string, Operation>>(paths)) {
    for (const [verb, { parameters }] of Object.entries(verbs)) {
      for (const target of targetsOf(path, parameters, values)) {
        const body = bodies[`${verb} ${path}`] ?? (["post", "put", "patch"].includes(verb) ? {} : undefined);
        const answer = await gateway.ask(target, {
          method: verb.toUpperCase(),
          token: alice,
          ...(body && { body }),
        });
        expect([verb, target, answer.text.includes(SECRET)]).toEqual([verb, target, false]);
        walked++;
      }
    }
  }
  expect(walked).toBeGreaterThan(40);
  // Sign-out came along in the walk; nothing else of Alice's may have touched what is Bob's.
  expect(await shown()).toEqual(before);
  expect(JSON.stringify(socket.frames)).not.toContain(SECRET);
});

/** Every address that the values make of a path: each parameter in turn, and the bare path where none is in it. */
function targetsOf(
  path: string,
  parameters: Operation["parameters"],
  values: Readonly<Record<string, readonly string[]>>,
): readonly string[] {
  let targets = [path];
  for (const { name, in: where } of parameters) {
    const given = values[name];
    if (given === undefined) throw new Error(`the walk has no value for "${name}" of ${path}`);
    const put = (target: string, value: string) =>
      where === "path"
        ? target.replace(`{${name}}`, encodeURIComponent(value))
        : `${target}${target.includes("?") ? "&" : "?"}${name}=${encodeURIComponent(value)}`;
    const grown = targets.flatMap((target) => given.map((value) => put(target, value)));
    targets = where === "path" ? grown : [...targets, ...grown];
  }
  return targets;
}
