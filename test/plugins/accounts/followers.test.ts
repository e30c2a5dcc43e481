import { expect, test } from "vitest";
import { bootAgent, scriptedModel } from "../../support/services/agent.ts";

async function withTwoUsers() {
  const model = await scriptedModel();
  const never = new Promise<string>(() => {});
  const kernel = await bootAgent({ model, variables: { JOBS_CONCURRENCY: "1" } });
  const [accounts, agent, threads, jobs, memory, approvals] = [
    kernel.service("accounts"),
    kernel.service("agent"),
    kernel.service("threads"),
    kernel.service("jobs"),
    kernel.service("memory"),
    kernel.service("approvals"),
  ];
  for (const user of ["ann", "bob"]) {
    await accounts.addUser(user, "user");
    model.script({ text: "Hello." });
    await (await agent.run({ user, channel: "test", input: { type: "message", text: "hi" } })).record;
    await memory.write(user, "notes/diary.md", `I am ${user}.`);
    await approvals.remember(user, "mail", "deny");
  }
  // One turn runs and one job waits when the user is removed.
  model.script({ text: ["Well, ", never] }, { text: ["Well, ", never] });
  const running = await agent.run({
    user: "ann",
    channel: "test",
    input: { type: "message", text: "go on" },
  });
  for await (const event of running) if (event.type === "text") break;
  await jobs.submit({ user: "ann", channel: "test", message: "later" });
  const shown = async (user: string) => ({
    threads: (await threads.list(user)).items.length,
    jobs: (await jobs.list({ user })).items.length,
    documents: (await memory.tree(user)).length,
    remembered: await approvals.remembered(user),
  });
  return { accounts, jobs, running, shown };
}

test("who is removed with their data leaves nothing behind, and others keep theirs", async () => {
  const { accounts, running, shown } = await withTwoUsers();
  const before = await shown("bob");
  await accounts.removeUser("ann", { withData: true });
  expect((await running.record).status).toBe("cancelled");
  expect(await shown("ann")).toEqual({ threads: 0, jobs: 0, documents: 0, remembered: {} });
  expect(await shown("bob")).toEqual(before);
});

test("who is removed without it has nothing running any more, and everything is still there", async () => {
  const { accounts, jobs, running, shown } = await withTwoUsers();
  await accounts.removeUser("ann", { withData: false });
  expect((await running.record).status).toBe("cancelled");
  await expect
    .poll(async () => (await jobs.list({ user: "ann" })).items)
    .toMatchObject([{ status: "completed", error: { code: "cancelled" } }]);
  expect(await shown("ann")).toMatchObject({ documents: 1, remembered: { mail: "deny" } });
});
