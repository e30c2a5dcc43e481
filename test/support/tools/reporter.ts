/** A tool that does what it is told with files of a real workspace. */
import type { Origin } from "../../../kernel/plugin.ts";
import { createWorkspace } from "../../../plugins/workspace/workspace.ts";
import { temporaryFolder } from "../home.ts";
import { afterThisTest } from "../undo.ts";
import { fixture } from "./components.ts";
import { openHomeStore } from "./home-store.ts";
import { install, toolHost } from "./tool-host.ts";

const FOLDERS = [
  { path: "/reports", access: "read" },
  { path: "/output", access: "write" },
];

export const capabilities = (more: object = {}) =>
  JSON.stringify({ version: "1.0.0", wit_version: "0.1.0", files: FOLDERS, ...more });

export type Step = readonly [step: string, ...args: unknown[]];

const HERE = { user: "ada", channel: "web", thread: "t1", turn: "u1" } as const;

export async function open(text = capabilities(), name = "files.js", config = {}) {
  const home = temporaryFolder();
  const store = openHomeStore(home);
  const workspace = await createWorkspace({ store, maxMb: 60, home });
  afterThisTest(() => workspace.close());
  const host = await toolHost({ workspace, ...config }, home, store);
  await install(host, "reporter", await fixture(name), text);
  const put = async (path: string, data: string | Uint8Array, origins?: readonly Origin[], user = "ada") => {
    const edit = { op: "write", path, data: Buffer.from(data) } as const;
    await workspace.apply(user, [edit], { writer: { kind: "page" }, origins });
  };
  const read = async (path: string, user = "ada") => {
    const file = await workspace.read(user, path);
    return file && Buffer.from(file.data).toString();
  };
  const run = (steps: readonly Step[], options: object = {}, error?: string) =>
    host.run(
      { id: "1", name: "reporter", params: JSON.stringify({ steps, error }) },
      { ...HERE, ...options },
    );
  const call = async (steps: readonly Step[], options: object = {}, error?: string) => {
    const { outcome } = await run(steps, options, error);
    return outcome.status === "ok" ? JSON.parse(outcome.output) : outcome;
  };
  return { host, workspace, put, text: read, run, call };
}
