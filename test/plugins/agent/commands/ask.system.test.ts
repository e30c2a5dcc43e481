import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Command } from "commander";
import { expect, test } from "vitest";
import { createCommandContext } from "../../../../kernel/cli/command-context.ts";
import { openSession } from "../../../../kernel/cli/service/session.ts";
import type { AnyPlugin, TurnEvent } from "../../../../kernel/plugin.ts";
import type { Variables } from "../../../../kernel/settings/env.ts";
import { register } from "../../../../plugins/agent/commands/ask.ts";
import store from "../../../../plugins/store/plugin.ts";
import { BIN } from "../../../support/clone.ts";
import { temporaryFolder } from "../../../support/home.ts";
import { startPostern } from "../../../support/processes/postern.ts";
import { scriptedModel, toolsPlugin } from "../../../support/services/agent.ts";
import { agentPlugins } from "../../../support/services/agent-plugins.ts";
import { printedBy } from "../../../support/services/printed.ts";

const post = toolsPlugin({ post: { writes: true, run: () => ({ status: "ok", output: "{}" }) } });

/** What `postern ask …` prints on standard output, and how it ended. */
async function ask(words: readonly string[], variables: Variables = {}) {
  const home = temporaryFolder();
  const session = openSession(
    { POSTERN_HOME: home, LOG_LEVEL: "error", MODEL_PROVIDER: "builtin", ...variables },
    home,
  );
  const command = new Command("ask").exitOverride();
  register(
    command,
    createCommandContext(
      session,
      async () => [store, post, ...agentPlugins] as readonly AnyPlugin[],
      "0.0.0-test",
    ),
  );
  let failure: unknown;
  const printed = await printedBy(() =>
    command.parseAsync(words, { from: "user" }).catch((error: unknown) => {
      failure = error;
    }),
  );
  const exitCode = process.exitCode ?? 0;
  process.exitCode = 0;
  return { printed, failure, exitCode };
}

async function scripted() {
  const model = await scriptedModel();
  return {
    model,
    variables: { MODEL_PROVIDER: "openai-compatible", MODEL_BASE_URL: model.url, MODEL_NAME: "scripted" },
  };
}

test("postern ask answers one question on standard output, and nothing else", async () => {
  const { model, variables } = await scripted();
  model.otherwise({ text: ["Forty", "-two."] });
  expect(await ask(["How", "many?"], variables)).toEqual({
    printed: "Forty-two.\n",
    failure: undefined,
    exitCode: 0,
  });
  expect(JSON.stringify(model.requests[0])).toContain("How many?");
});

test("--json prints the turn's events, one a line, started first and done last", async () => {
  const { printed } = await ask(["--json", "hello"]);
  const events = printed
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as TurnEvent);
  expect(events[0]?.type).toBe("started");
  expect(events.at(-1)).toMatchObject({ type: "done", status: "completed" });
});

test("a turn that fails fails the command, with the reason", async () => {
  const { model, variables } = await scripted();
  model.otherwise({ status: 401 });
  const { failure } = await ask(["hello"], variables);
  expect(failure).toMatchObject({ kind: "turn", message: expect.stringMatching(/./) });
  expect(await ask(["--json", "hello"], variables)).toMatchObject({ exitCode: 1, failure: undefined });
});

test("a tool that waits for an approval fails the command and says where to give it", async () => {
  const { model, variables } = await scripted();
  model.script({ calls: [{ name: "post", arguments: {} }] });
  const { failure } = await ask(["post it"], variables);
  expect(failure).toMatchObject({ code: "gate_open", message: expect.stringContaining("web UI") });
});

test("what is piped in belongs to the question, and the real command line asks it", async () => {
  const { model, variables } = await scripted();
  model.otherwise({ text: "Looks fine." });
  const script = `printf 'one line of a diff' | "${process.execPath}" "${BIN}" ask Review this`;
  const env = { PATH: process.env["PATH"] ?? "", POSTERN_HOME: temporaryFolder(), ...variables };
  const { stdout } = await promisify(execFile)("sh", ["-c", script], { env });
  expect(stdout).toBe("Looks fine.\n");
  expect(JSON.stringify(model.requests[0])).toContain("Review this\\n\\none line of a diff");
});

test("without a terminal postern starts the rest, and says that serve is meant for that", async () => {
  const running = startPostern([], {
    env: { POSTERN_HOME: temporaryFolder(), GATEWAY_PORT: "0", MODEL_PROVIDER: "builtin" },
  });
  await running.printed("ready in");
  expect(running.stdout()).toMatch(/tui +off +.*postern serve/);
});
