/** A tool with state, installed in the real host. */
import { fixture } from "../support/tools/components.ts";
import { install, toolHost } from "../support/tools/tool-host.ts";

export const capabilities = (more: object = {}) =>
  JSON.stringify({ version: "1.0.0", wit_version: "0.1.0", state: {}, ...more });

export type Step = readonly [step: string, ...args: unknown[]];

export async function open(name = "state.js", text = capabilities(), config = {}) {
  const host = await toolHost(config);
  await install(host, "notes", await fixture(name), text);
  const call = async (steps: readonly Step[], user = "ada", error?: string) => {
    const params = JSON.stringify({ steps, error });
    const { outcome } = await host.run({ id: "1", name: "notes", params }, { user });
    return outcome.status === "ok" ? JSON.parse(outcome.output) : outcome;
  };
  return { host, call };
}
