/** `postern status`: whether a service is running with this home, with which plugins, and all nodes of its store. */
import type { Command } from "commander";
import type { NodeInfo } from "../../../plugins/store/services.ts";
import type { PluginState } from "../../plugin.ts";
import { asTyped, say, sayJson, sayPainted } from "../../terminal/output.ts";
import { pluginTable, table } from "../../terminal/table.ts";
import type { JsonOption } from "../../terminal/verb.ts";
import { relativeTime } from "../../text/time-words.ts";
import { findRunning, type Notice } from "../service/home.ts";
import type { Session } from "../service/session.ts";
import type { OperatorContext } from "./context.ts";

export function register(command: Command, context: OperatorContext): void {
  command
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nTools that were installed since the start are listed too: they can be used from the next message on, without a restart.\n\nExample:\n  $ postern status && echo up",
    )
    .action(async ({ json = false }: JsonOption) => {
      const session = await context.open();
      const isShared = /^postgres(ql)?:/i.test(session.settings.for("store").connection("STORE_URL") ?? "");
      const notice = findRunning(session.home);
      const current = notice && { ...notice, plugins: await currentStates(notice.plugins, session, context) };
      showStatus(session.home, current, json, isShared ? await nodesOf(session, context) : undefined);
    });
}

/** The plugins as they were when the service started, with what they can tell by now. */
async function currentStates(
  plugins: readonly PluginState[],
  { settings, home }: Session,
  { shippedPlugins, store }: OperatorContext,
): Promise<readonly PluginState[]> {
  const details = new Map((await shippedPlugins()).map(({ name, operations }) => [name, operations?.detail]));
  const { rows, keyed, close } = await (await store()).look(settings.for("store"), home);
  try {
    return await Promise.all(
      plugins.map(async (plugin) => ({
        ...plugin,
        detail: (plugin.on && (await details.get(plugin.name)?.({ home, rows, keyed }))) || plugin.detail,
      })),
    );
  } finally {
    await close();
  }
}

async function nodesOf(session: Session, context: OperatorContext): Promise<readonly NodeInfo[]> {
  let nodes: readonly NodeInfo[] = [];
  const own = await context.contextOf(session, context.shippedPlugins);
  await own.with(["store"], async ({ store }) => {
    nodes = await store.node.list();
  });
  return nodes;
}

/** `fleet`: the nodes of a store that several machines share; absent where the home has a store of its own. */
function showStatus(
  home: string,
  notice: Notice | undefined,
  json: boolean,
  fleet: readonly NodeInfo[] | undefined,
): void {
  process.exitCode = notice ? 0 : 1;
  const nodes = fleet ?? (notice === undefined ? [] : [nodeOf(notice)]);
  if (json) {
    sayJson(notice ? { running: true, home, ...notice, nodes } : { running: false, home, nodes });
    return;
  }
  if (notice) {
    say(
      `Postern ${notice.version} was started ${relativeTime(notice.startedAt)} (${notice.startedAt}, pid ${notice.pid}, home ${home})\n`,
    );
    sayPainted(asTyped(pluginTable(notice.plugins)));
  } else {
    say(`Postern is not running with the home ${home}. Start it with "postern serve".\n`);
  }
  if (fleet !== undefined) say(nodeTable(fleet, notice?.node));
}

function nodeOf({ node = "", version, startedAt }: Notice): NodeInfo {
  return { id: node, version, startedAt, lastSeenAt: new Date().toISOString() };
}

function nodeTable(nodes: readonly NodeInfo[], own: string | undefined): string {
  if (nodes.length === 0) return "No node is running on this store.\n";
  const rows = nodes.map(({ id, version, startedAt, lastSeenAt }) => [
    id,
    version,
    relativeTime(startedAt),
    relativeTime(lastSeenAt),
    id === own ? "this home's" : "",
  ]);
  return `\n${table(["NODE", "VERSION", "STARTED", "LAST SEEN", ""], rows, { indent: "  " })}`;
}
