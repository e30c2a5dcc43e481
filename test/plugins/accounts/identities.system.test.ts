/** The users of any channel can be paired with accounts, and an operator answers their gates. */
import { expect, test } from "vitest";
import { identityOf, isIdentity } from "../../../kernel/kit/people.ts";
import { type AnyPlugin, definePlugin, type Job } from "../../../kernel/plugin.ts";
import { scriptedModel, type TestTool } from "../../support/services/agent.ts";
import { openGateway } from "../../support/services/gateway.ts";

/** A channel as a third party would write it: who is not paired waits for an operator. */
function createChannel() {
  let say: (sender: string, message: string) => Promise<Job> = () => Promise.reject(new Error("not started"));
  const plugin = definePlugin({
    name: "telegram",
    kind: "channel",
    needs: ["jobs", "identities"],
    configure: () => ({}),
    start({ use: { jobs, identities } }) {
      say = async (sender, message) => {
        const identity = identityOf("telegram", sender);
        const account = await identities.account(identity);
        const user = account ?? identity;
        return jobs.submit({ user, channel: "telegram", message, waitsForPairing: account === undefined });
      };
    },
  });
  return { plugin: plugin as AnyPlugin, say: (sender: string, message: string) => say(sender, message) };
}

test("a third-party channel's user waits at a pairing gate, which an operator answers by naming an account", async () => {
  const telegram = createChannel();
  const gateway = await openGateway({
    plugins: [telegram.plugin],
    variables: { MODEL_PROVIDER: "builtin" },
  });
  await gateway.addUser("ann");
  const jobs = gateway.service.service("jobs");
  const post = (path: string, body: object) => gateway.ask(path, { method: "POST", body });

  const first = await telegram.say("42", "What is 2 + 3?");
  const other = await telegram.say("7", "hello");
  expect((await gateway.ask("/api/approvals")).body.pending).toMatchObject([
    { type: "pairing", id: first.id, identity: "telegram/42" },
    { type: "pairing", id: other.id, identity: "telegram/7" },
  ]);
  expect((await gateway.ask("/api/identities")).body.identities).toMatchObject([
    { id: "telegram/42", account: null, held: 1 },
    { id: "telegram/7", account: null, held: 1 },
  ]);

  expect((await post("/api/identities/pair", { identity: "telegram/42", account: "ann" })).status).toBe(204);
  expect(await jobs.wait(first.id, 60_000)).toMatchObject({
    user: "ann",
    response: expect.stringContaining("5"),
  });
  const next = await telegram.say("42", "What is 3 + 3?");
  expect(await jobs.wait(next.id, 60_000)).toMatchObject({
    user: "ann",
    response: expect.stringContaining("6"),
  });
  expect((await post("/api/identities/deny", { identity: "telegram/7" })).status).toBe(204);
  expect(await jobs.find(other.id)).toMatchObject({ error: { code: "pairing_denied" } });

  await gateway.ask("/api/users/ann", { method: "DELETE" });
  expect((await gateway.ask("/api/identities")).body.identities).toEqual([]);
});

test("an operator sees and answers the gate of a third-party channel's user who is not paired", async () => {
  const model = await scriptedModel();
  const sent: unknown[] = [];
  const mail: TestTool = {
    writes: true,
    run: (params) => {
      sent.push(params);
      return { status: "ok", output: "sent" };
    },
  };
  const gateway = await openGateway({ model, tools: { mail } });
  const jobs = gateway.service.service("jobs");
  model.script({ calls: [{ name: "mail", arguments: { to: "a" } }] }, { text: "Sent." });
  const { id } = await jobs.submit({ user: "telegram/42", channel: "telegram", message: "Send it" });
  expect(await jobs.wait(id, 60_000)).toMatchObject({ error: { code: "approval_required" } });
  expect((await gateway.ask("/api/identities")).body.identities).toMatchObject([{ id: "telegram/42" }]);
  const { pending } = (await gateway.ask("/api/approvals")).body;
  expect(pending).toMatchObject([{ type: "approval", user_id: "telegram/42" }]);
  const answer = { method: "POST", body: { decision: "once" } };
  expect((await gateway.ask(`/api/approvals/${pending[0].id}`, answer)).status).toBe(202);
  await expect.poll(() => sent).toEqual([{ to: "a" }]);
});

test("an identity is a channel and a user; neither an account nor a person of an identity provider is one", () => {
  for (const user of ["webhook/ann", "telegram/42", "email/ann@example.org", "webhook//", "webhook/a\nb"])
    expect([user, isIdentity(user)]).toEqual([user, true]);
  for (const user of ["ann", "webhook/", "/ann", "operator", "ann@example.org", "oidc:a/b", ""])
    expect([user, isIdentity(user)]).toEqual([user, false]);
});
