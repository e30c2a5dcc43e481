/** `postern explain` and `postern destination`, on a home that a conversation has left behind. */
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/home.ts";
import { postern } from "../../support/processes/postern.ts";
import { IBAN, office, pay, READ } from "../../support/services/office.ts";

/** Runs commands on a home where a payment that nobody asked for waits. */
async function leaveConversation() {
  const home = temporaryFolder();
  const STORE_URL = `sqlite://${home}/store.sqlite`;
  const { model, say, kernel } = await office({ STORE_URL }, { home });
  model.script({ calls: [READ] }, { calls: [pay("p", IBAN, 98)] });
  const { gate } = await say("Look at bill.txt and tell me what it costs");
  expect(gate?.type).toBe("approval");
  await kernel.stop();
  const env = { POSTERN_HOME: home, STORE_URL, MEMORY_VECTORS: "false" };
  return (...args: string[]) => postern(args, { env, cwd: home });
}

test("postern explain prints the flow of each value, in words and as JSON", async () => {
  const run = await leaveConversation();
  const { code, stdout } = await run("explain");
  expect(code).toBe(0);
  const lines = stdout.split("\n").map((line) => line.replace(/ {2,}/g, "  "));
  expect(lines[0]).toMatch(/^Turn \S+ of ann, (?:just now|\d+ min ago), on thread \S+$/);
  expect(lines).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^read_file \(ok; /),
      expect.stringMatching(
        /^ {2}path {2}\w+ {2}“bill.txt” {2}the user said it {2}nobody else had said anything$/,
      ),
      "send_money (asked; to be asked about)",
      `  recipient  destination  “${IBAN}”  from bill.txt (read by read_file)`,
      "  amount  content  “98”  the model wrote it",
      `  ? send_money to ${IBAN}: this account number comes from bill.txt (read by read_file), not from you`,
    ]),
  );

  const told = await run("explain", "--json");
  const { turn_id, user_id, calls } = JSON.parse(told.stdout);
  expect({ user_id, tools: calls.map(({ tool }: { tool: string }) => tool) }).toEqual({
    user_id: "ann",
    tools: ["read_file", "send_money"],
  });
  expect(calls[1].values[0]).toMatchObject({
    param: "recipient",
    role: "destination",
    from: "others",
    origin: { kind: "tool", name: "read_file" },
    excerpt: expect.stringContaining(IBAN),
    rule: "asks",
  });
  expect(calls[0].values[0]).toMatchObject({ rule: "alone" });
  expect((await run("explain", turn_id)).stdout).toBe(stdout);

  const wrong = await run("explain", "nothing\u001b[2J");
  expect(wrong.code).not.toBe(0);
  expect(wrong.stderr).toContain("there is no turn nothing");
  expect(wrong.stderr).not.toContain("\u001b[2J");
});

test("postern destination lists a rule, and takes it back by its words", async () => {
  const home = temporaryFolder();
  const STORE_URL = `sqlite://${home}/store.sqlite`;
  const { model, say, answer, kernel } = await office({ STORE_URL }, { home });
  const asked = `Read bill.txt and send that much to ${IBAN}`;
  model.script({ calls: [READ] }, { calls: [pay("p", IBAN, 100)] }, { text: "Paid." });
  const { gate } = await say(asked);
  expect(await answer(gate, "rule", "150")).toMatchObject({ status: "completed" });
  await kernel.stop();
  const env = { POSTERN_HOME: home, STORE_URL, MEMORY_VECTORS: "false" };
  const run = (...args: string[]) => postern(args, { env, cwd: home });
  const [listed] = JSON.parse((await run("destination", "list", "--json")).stdout).destinations;
  const words = "up to 150 a day (amount)";
  expect(listed).toMatchObject({
    destination: words,
    tool: "send_money",
    user_id: "ann",
    rule: { limit: "150" },
  });
  expect((await run("destination", "remove", words, "--tool", "send_money", "--user", "ann")).code).toBe(0);
  expect((await run("destination", "list")).stdout).toContain("None.");
});

test("postern destination: what is added is listed and no doubt any more, and can be taken back", async () => {
  const run = await leaveConversation();
  expect((await run("destination", "list")).stdout).toContain("None.");
  const added = await run("destination", "add", IBAN, "--tool", "send_money", "--user", "ann");
  expect(added.stdout).toBe(`Calls of send_money for ann may go to ${IBAN} without being asked about it.\n`);
  const [listed] = JSON.parse((await run("destination", "list", "--json")).stdout).destinations;
  expect(listed).toMatchObject({ destination: IBAN.toLowerCase(), tool: "send_money", user_id: "ann" });
  const explained = await run("explain");
  expect(explained.stdout).toMatch(/“DE89\S+ +from bill\.txt \(read by read_file\) +a trusted destination\n/);
  expect(explained.stdout).not.toContain(`to ${IBAN}`);
  expect(explained.stdout).toContain("? send_money with amount");
  const wrong = await run("destination", "remove", IBAN);
  expect(wrong.code).not.toBe(0);
  expect(wrong.stderr).toContain("is not trusted for all calls");
  const removed = await run("destination", "remove", IBAN, "--tool", "send_money", "--user", "ann");
  expect(removed.stdout).toBe(`Calls of send_money for ann to ${IBAN} are asked about again.\n`);
});
