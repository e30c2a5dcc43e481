/** The findings of `postern doctor` about tools. Read-only. */
import { rm } from "node:fs/promises";
import type { AuthSetup } from "../capabilities/capabilities.ts";
import { type DiagnoseContext, type Finding, type Fix, reason, type StoreLook } from "../kernel/plugin.ts";
import { missingSecrets } from "./broker/credentials.ts";
import { SWITCHES, type SwitchedOff } from "./calls/switches.ts";
import type { Catalog } from "./catalog/catalog.ts";
import { openCodeCache } from "./catalog/code-cache.ts";
import { explainNeeds, unsetSettings } from "./catalog/settings.ts";
import { findDamage } from "./catalog/shipped-repair.ts";
import { openFolderCatalog, toolsFolder } from "./catalog/storage/folders.ts";
import { findDrafts, settle } from "./catalog/storage/recovery.ts";
import { exists, findReplaced } from "./catalog/storage/replaced.ts";
import { openRowCatalog } from "./catalog/storage/rows.ts";
import { isHeld } from "./mcp/tools/agreement.ts";
import type { ServerState, StoredTool } from "./mcp/tools/rows.ts";
import { checkServerName, parseServerFile } from "./mcp/tools/server-file.ts";
import { placeOf, SECRETS } from "./secrets/entry.ts";
import type { Holder } from "./secrets/holder.ts";
import type { ServiceHostConfig } from "./service-host.ts";

type Config = Partial<Pick<ServiceHostConfig, "shipped" | "variable">>;

export async function diagnoseTools({
  config,
  home,
  shared,
  stored,
}: Omit<DiagnoseContext<Config>, "tables">): Promise<readonly Finding[]> {
  if (shared === "unreachable" || (shared !== undefined && !(await shared.has("tools")))) return [];
  const catalog = shared === undefined ? openFolderCatalog(home) : openRowCatalog(shared.sql, shared.changes);
  const servers = diagnoseServers(await stored.rows<ServerRow>(`SELECT * FROM ${SERVERS}`));
  const leftovers = await diagnoseLeftovers(home, catalog);
  return [...leftovers, ...(await diagnose(catalog, stored, config)), ...servers];
}

async function diagnose(
  catalog: Catalog,
  stored: StoreLook,
  { shipped = true, variable = () => undefined }: Config,
): Promise<readonly Finding[]> {
  const tools = await catalog.list();
  const switches = await Promise.all(tools.map(({ name }) => stored.keyed<SwitchedOff>(SWITCHES, name)));
  const fixOf = (name: string) => (shipped ? offerRepair(catalog, name) : undefined);
  const broken = await Promise.all(
    (await catalog.broken()).map(async ({ name, reason: why }) => ({
      name: `tool ${name}`,
      ok: false,
      detail: `${why} Remove it or install it again.`,
      ...(await fixOf(name)),
    })),
  );
  const sound = await Promise.all(
    tools.map(async (tool, at): Promise<Finding> => {
      const name = `tool ${tool.name}`;
      try {
        await catalog.read(tool);
        const off = switches[at];
        if (off?.digest === tool.digest) {
          const detail = `switched off since ${off.at}. ${off.why} Switch it on again: postern tool enable ${tool.name}`;
          return { name, ok: false, detail };
        }
        // Without the key nobody can say whether a stored secret still works.
        const has = async (_: Holder, secret: string, auth: AuthSetup | undefined) =>
          (auth?.secretName === secret && auth.envVar !== undefined && variable(auth.envVar) !== undefined) ||
          (await stored.keyed<string>(SECRETS, placeOf(tool.name, secret))) !== undefined;
        const settings = unsetSettings(tool.capabilities);
        const secrets = await missingSecrets(tool, { has });
        if (settings.length + secrets.length > 0) {
          const detail = `${explainNeeds(tool, settings, secrets)}. A user who has their own can use it already`;
          return { name, ok: true, warning: true, detail };
        }
        return {
          name,
          ok: true,
          detail: `version ${tool.capabilities.version}, ${tool.folder === undefined ? "in the database, " : "file "}unchanged`,
        };
      } catch (error) {
        const detail = `${reason(error)} "postern tool install" replaces it with --force.`;
        return { name, ok: false, detail, ...(await fixOf(tool.name)) };
      }
    }),
  );
  return [...sound, ...broken];
}

/** Offers it for a shipped tool. Where the list of offered tools cannot be read, nobody knows whose it is. */
async function offerRepair(catalog: Catalog, name: string): Promise<{ readonly fix: Fix } | undefined> {
  const damage = await findDamage(catalog, name).catch(() => undefined);
  if (damage === undefined) return undefined;
  const asks = `what is left does not say whether it is the shipped ${name} or one of yours; it would be put aside`;
  const fix: Fix = {
    about: `put the shipped ${name} back`,
    ...(damage.digest === undefined && { asks }),
    apply: (context) =>
      context.with(["toolHost"], async ({ toolHost }, log) =>
        (await toolHost.open()).repairShipped(name, (line) => log.info(line)),
      ),
  };
  return { fix };
}

/** Looks in the folder of tools, and in that of compiled code, which a node has too. */
async function diagnoseLeftovers(home: string, catalog: Catalog): Promise<readonly Finding[]> {
  const folder = toolsFolder(home);
  const isThere = await exists(folder);
  const drafts = isThere ? await findDrafts(folder) : [];
  const stale = await openCodeCache(home, catalog).stale();
  return [
    ...(isThere ? await diagnoseReplaced(folder) : []),
    ...drafts.map((path) => leftover(path, "a tool install that was interrupted")),
    ...stale.map((path) =>
      leftover(path, "a tool that is not installed, or a compilation that was interrupted"),
    ),
  ];
}

function leftover(path: string, origin: string): Finding {
  return {
    name: "tool leftover",
    ok: true,
    warning: true,
    detail: `${path} is left from ${origin}; the service removes it, too`,
    fix: { about: `remove ${path}`, apply: () => rm(path, { recursive: true, force: true }) },
  };
}

async function diagnoseReplaced(folder: string): Promise<readonly Finding[]> {
  const replaced = [...(await findReplaced(folder))];
  return replaced.map(([name, waiting]) => ({
    name: `tool ${name}`,
    ok: true,
    warning: true,
    detail: `its replacement was interrupted and left ${waiting.join(", ")}; the next start clears that up`,
    fix: {
      about: `finish the interrupted replacement of ${name}, or undo it where the new version is missing`,
      async apply() {
        // An install that was at it a moment ago has finished by now.
        const still = (await findReplaced(folder)).get(name)?.filter((path) => waiting.includes(path)) ?? [];
        await settle(folder, name, still);
      },
    },
  }));
}

const SERVERS = "mcp_servers";

interface ServerRow {
  readonly name: string;
  readonly file: string;
  readonly tools: string;
  readonly state: string;
}

function diagnoseServers(rows: readonly ServerRow[]): readonly Finding[] {
  return rows.map(({ name: server, file, tools, state }): Finding => {
    const name = `MCP server ${server}`;
    try {
      checkServerName(server);
      const { target } = parseServerFile(file);
      const { trouble } = JSON.parse(state) as ServerState;
      if (trouble !== undefined)
        return { name, ok: false, detail: `${trouble.status} since ${trouble.at}. ${trouble.why}` };
      const offered = (JSON.parse(tools) as StoredTool[]).filter(({ isThere }) => isThere);
      const held = offered.filter(isHeld).length;
      const where = target.type === "http" ? target.url : `the command ${target.command[0]}`;
      const waiting = held === 0 ? "" : `, ${held} held back until you have seen what is new`;
      return { name, ok: true, detail: `${where}, ${offered.length} tools${waiting}` };
    } catch (error) {
      return { name, ok: false, detail: reason(error) };
    }
  });
}
