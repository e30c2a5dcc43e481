/** What `postern doctor` says about tools. Read-only. */
import { type DiagnoseContext, type Finding, type Fix, reason, type StoreLook } from "../../kernel/plugin.ts";
import { SWITCHES, type SwitchedOff } from "../calls/switches.ts";
import { diagnoseServers, SERVERS, type ServerRow } from "../mcp/diagnosis.ts";
import type { Catalog } from "./catalog.ts";
import { diagnoseLeftovers } from "./leftovers.ts";
import { findDamage } from "./shipped-repair.ts";
import { openFolderCatalog } from "./storage/folders.ts";
import { openRowCatalog } from "./storage/rows.ts";

export async function diagnoseTools({
  config,
  home,
  shared,
  stored,
}: Omit<DiagnoseContext<{ readonly shipped?: boolean }>, "tables">): Promise<readonly Finding[]> {
  if (shared === "unreachable" || (shared !== undefined && !(await shared.has("tools")))) return [];
  const { shipped = true } = config;
  const catalog = shared === undefined ? openFolderCatalog(home) : openRowCatalog(shared.sql, shared.changes);
  const servers = diagnoseServers(await stored.rows<ServerRow>(`SELECT * FROM ${SERVERS}`));
  const leftovers = await diagnoseLeftovers(home, catalog);
  return [...leftovers, ...(await diagnose(catalog, stored, shipped)), ...servers];
}

async function diagnose(catalog: Catalog, stored: StoreLook, shipped: boolean): Promise<readonly Finding[]> {
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
        return {
          name,
          ok: true,
          detail: `version ${tool.capabilities.version}, ${tool.folder === undefined ? "in the database, " : "file "}unchanged`,
        };
      } catch (error) {
        return { name, ok: false, detail: reason(error), ...(await fixOf(tool.name)) };
      }
    }),
  );
  return [...sound, ...broken];
}

/** For one that came with Postern. None where its list cannot be read: whose it is, nobody knows then. */
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
