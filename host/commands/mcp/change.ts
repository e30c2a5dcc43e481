/** `mcp agree`, `mcp edit` and `mcp remove`. */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toWire } from "../../../kernel/kit/schema.ts";
import { agree, isInteractive, type JsonOption } from "../../../kernel/kit/terminal.ts";
import { type CommandContext, Fault } from "../../../kernel/plugin.ts";
import { McpServerInfo as ServerForm } from "../../wire.ts";
import { print, progress, readInput } from "../terminal/terminal.ts";
import { countTools, describeChanges, describeTools } from "./describe.ts";
import { noSuchServer, withServer, withServers } from "./server-access.ts";

export async function agreeTo(
  context: CommandContext,
  name: string,
  tools: readonly string[],
  options: JsonOption & { readonly yes?: boolean },
): Promise<void> {
  await withServer(context, name, async (server, servers) => {
    const meant = server.tools.filter((tool) =>
      tools.length === 0 ? tool.state === "held" : tools.includes(tool.tool) || tools.includes(tool.name),
    );
    const unknown = tools.find((given) => !meant.some(({ tool, name }) => tool === given || name === given));
    if (unknown !== undefined)
      throw new Fault("invalid", "no_such_tool", `${name} has no tool ${unknown}.`, { usage: true });
    if (meant.length === 0) {
      print(options, toWire(ServerForm, server), () => `Nothing of ${name} is held back.`);
      return;
    }
    progress(`${describeTools(meant)}\n${describeChanges(meant)}`.trimEnd());
    const names = meant.map(({ tool }) => tool).join(", ");
    await agree(`Let the agent use ${names} as shown? What only reads may run without asking.`, options);
    const now = await servers.agree(name, meant);
    print(options, toWire(ServerForm, now), () => `${name}: ${countTools(now.tools)}.`);
  });
}

export async function edit(
  context: CommandContext,
  name: string,
  options: JsonOption & { readonly file?: string },
): Promise<void> {
  await withServers(context, async (servers) => {
    const before = await servers.file(name);
    const draft = options.file === undefined ? await openEditor(context, name, before) : undefined;
    const text = draft?.text ?? (await readInput(context, options.file ?? "")).toString("utf8");
    if (draft !== undefined && text === before) {
      await draft.remove();
      print(options, { name, changed: false }, () => `${name}: nothing changed.`);
      return;
    }
    const server = await servers.edit(name, text).catch((error: unknown) => {
      if (draft !== undefined)
        progress(
          `Your version is in ${draft.path}. Fix it and run: postern mcp edit ${name} --file ${draft.path}`,
        );
      throw error;
    });
    await draft?.remove();
    print(
      options,
      { ...toWire(ServerForm, server), changed: true },
      () => `${name}: ${countTools(server.tools)}.`,
    );
  });
}

export async function remove(context: CommandContext, name: string, options: JsonOption): Promise<void> {
  await withServers(context, async (servers) => {
    if (!(await servers.remove(name))) throw noSuchServer(name);
    print(options, { name, removed: true }, () => `Removed ${name} and its credentials.`);
  });
}

async function openEditor(context: CommandContext, name: string, text: string) {
  const editor = context.settingsOf("tools", (env) => env.text("VISUAL") ?? env.text("EDITOR", "vi"));
  if (!isInteractive())
    throw new Fault("invalid", "no_terminal", "There is no terminal for an editor; pass --file.", {
      usage: true,
    });
  const folder = await mkdtemp(join(tmpdir(), "postern-mcp-"));
  const path = join(folder, `${name}.json`);
  await writeFile(path, text, { mode: 0o600 });
  const [command = "vi", ...rest] = editor.split(" ");
  const code = await new Promise<number | null>((resolve, reject) => {
    spawn(command, [...rest, path], { stdio: "inherit" })
      .once("error", reject)
      .once("exit", resolve);
  }).catch(async (error: Error) => {
    await rm(folder, { recursive: true });
    const message = `The editor ${command} cannot be started: ${error.message}. Set EDITOR, or pass --file.`;
    throw new Fault("invalid", "no_editor", message);
  });
  if (code !== 0)
    throw new Fault("invalid", "editor_failed", `${command} ended with ${code}; nothing changed.`);
  return { path, text: await readFile(path, "utf8"), remove: () => rm(folder, { recursive: true }) };
}
