/** The log, the redaction before a model and the broker once knew different forms of a secret. */
import { expect, test } from "vitest";
import { createLog } from "../../../kernel/log/log.ts";
import { createMask } from "../../../kernel/mask/mask.ts";
import { redact } from "../../../kernel/mask/redact.ts";
import { createRedactStream } from "../../../plugins/agent/turn/answer/redact-stream.ts";
import { FORMED_SECRET, SECRET_FORMS } from "../../support/secret-forms.ts";
import { bootAgent, eventsOf, message, scriptedModel, textIn } from "../../support/services/agent.ts";
import { ask, everywhere, textOf, withServer } from "../../support/services/brokerage.ts";

const FORMS = Object.entries(SECRET_FORMS);
// Base64 shares its outermost characters with what stands beside the secret.
const HIDDEN = /^before .{0,4}\[secret\].{0,4} after$/;

function maskOf(value: string) {
  const mask = createMask();
  mask.add(value);
  return mask;
}

test.each(FORMS)("a secret %s is hidden in the log, before a model and from a tool", async (_name, write) => {
  const text = `before ${write(FORMED_SECRET)} after`;
  const mask = maskOf(FORMED_SECRET);

  const lines: string[] = [];
  createLog("info", mask, { pretty: false, write: (line) => void lines.push(line) }).info(
    { field: text },
    text,
  );
  const { message, field } = JSON.parse(lines.join("")) as { message: string; field: string };
  expect([message, field]).toEqual([expect.stringMatching(HIDDEN), expect.stringMatching(HIDDEN)]);

  expect(redact(mask, text)).toMatch(HIDDEN);
  const stream = createRedactStream(mask);
  expect([...text].map((character) => stream.push(character)).join("") + stream.end()).toMatch(HIDDEN);

  const { opened, url } = await withServer((_request, response) => response.end(text));
  await opened.vault.secrets.set("token", FORMED_SECRET);
  expect(textOf(await ask(opened.open(everywhere("api.test")), url))).toMatch(HIDDEN);
});

test("no form of a secret reaches the model or the channel, in a message, a tool's output or an answer", async () => {
  const all = FORMS.map(([, write]) => `before ${write(FORMED_SECRET)} after`).join("\n");
  const model = await scriptedModel();
  model.script({ calls: [{ name: "echo", arguments: {} }] }, { text: all });
  const kernel = await bootAgent({
    model,
    tools: { echo: { run: () => ({ status: "ok", output: all }) } },
    variables: { TOOL_APPROVALS: "*=allow" },
  });
  kernel.service("kernel").mask.add(FORMED_SECRET);
  const turn = await kernel.service("agent").run({ user: "ada", channel: "test", input: message(all) });
  const answer = textIn(await eventsOf(turn));
  const sent = model.requests.flatMap(({ messages }) => messages.map(({ content }) => String(content)));
  for (const text of [answer, ...sent]) {
    for (const [, write] of FORMS) expect(text).not.toContain(write(FORMED_SECRET));
  }
  expect(answer.split("\n")).toHaveLength(FORMS.length);
  for (const line of answer.split("\n")) expect(line).toMatch(HIDDEN);
});
