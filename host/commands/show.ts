/** `tool list`, `tool info` and `tool log`: what is installed and what it did. */
import { toWire } from "../../kernel/kit/schema.ts";
import {
  fields,
  type JsonOption,
  relativeTime,
  type TableOptions,
  table,
} from "../../kernel/kit/terminal.ts";
import { ToolOrigin } from "../../kernel/kit/tools.ts";
import type { CommandContext, ToolInfo } from "../../kernel/plugin.ts";
import { quote } from "../author/conformance/report.ts";
import { locateReceipts } from "../author/trace/located.ts";
import type { Receipt } from "../calls/receipts.ts";
import type { ServiceHost } from "../service-host.ts";
import { provideShipped, withAnyTool, withHost } from "./host-access.ts";
import { bullets, print } from "./terminal/terminal.ts";

export async function list(context: CommandContext, options: JsonOption): Promise<void> {
  await withHost(context, async (host) => {
    // A fresh home does not have them yet.
    await provideShipped(host);
    const { catalog, switches, foreign, setup } = host;
    const outside = await foreign.list();
    const [tools, broken] = [await catalog.list(), await catalog.broken()];
    const off = await Promise.all(tools.map((tool) => switches.off(tool)));
    const needs = await Promise.all(tools.map((tool) => setup.needs(tool)));
    const installed = tools.map(({ name, capabilities, description, digest, installedAt }, at) => ({
      name,
      version: capabilities.version,
      description,
      digest,
      installed_at: installedAt,
      switched_off: off[at] ?? null,
      needs: needs[at] === undefined ? null : { names: needs[at].names, why: needs[at].why },
    }));
    const value = {
      tools: [
        ...installed,
        ...outside.map(({ name, version, description, server }) => ({
          name,
          version,
          description,
          server: server?.name,
        })),
      ],
      broken,
    };
    if (options.json || value.tools.length + broken.length === 0)
      print(options, value, () => 'No tools installed. See "postern tool install --help".');
    else {
      const rows = installed.map(({ name, version, description, switched_off, needs }) => [
        name,
        switched_off ? "switched off" : needs ? "needs setup" : version,
        switched_off?.why ?? needs?.why ?? description,
      ]);
      const shown = table(
        ["NAME", "VERSION", "DESCRIPTION"],
        [
          ...rows,
          ...outside.map(({ name, description, server }) => [name, `of ${server?.name}`, description]),
          ...broken.map(({ name, reason }) => [name, "broken", reason]),
        ],
        { cut: ["DESCRIPTION"], colours: STATES },
      );
      await context.show(shown);
    }
  });
}

const STATES: TableOptions["colours"] = {
  VERSION: (version) =>
    version === "broken" ? "red" : ["switched off", "needs setup"].includes(version) ? "yellow" : undefined,
};

export async function info(context: CommandContext, name: string, options: JsonOption): Promise<void> {
  await withAnyTool(context, name, async (host, tool) => {
    if (!("capabilities" in tool)) return foreignInfo(host, tool, options);
    const { receipts, missingSecrets, switches, describe } = host;
    const { digest, installedAt, description, schema, capabilities, folder, origin } = tool;
    const { grants, needs } = await describe(tool);
    const [last] = await receipts.list({ tool: name, limit: 1 });
    const { version } = capabilities;
    const missing = await missingSecrets(tool);
    const off = await switches.off(tool);
    print(
      options,
      {
        name,
        version,
        digest,
        installed_at: installedAt,
        origin: origin === undefined ? null : toWire(ToolOrigin, origin),
        folder: folder ?? null,
        description,
        schema,
        grants,
        missing_secrets: missing,
        needs: needs === undefined ? null : { names: needs.names, why: needs.why },
        switched_off: off ?? null,
        last_call: last ?? null,
      },
      () =>
        [
          `${name} ${version}`,
          `${quote(description)}\n`,
          fields([
            ["SHA-256", digest],
            ["installed", `${relativeTime(installedAt)} (${installedAt})`],
            ...describeOrigin(origin),
            ["folder", folder ?? "none: it is in the database"],
            ["secrets", missing.length === 0 ? "all set" : `missing: ${missing.join(", ")}`],
            ...(needs === undefined ? [] : [["needs", needs.why]]),
            ...(off === undefined
              ? []
              : [
                  [
                    "switched off",
                    `${relativeTime(off.at)}. ${off.why} Switch it on again: postern tool enable ${name}`,
                  ],
                ]),
            ["last call", last === undefined ? "none" : `${relativeTime(last.at)}, ${last.status}`],
          ]),
          `It:\n${bullets(grants)}\n`,
          `Params\n${JSON.stringify(schema, undefined, 2)}`,
        ].join("\n"),
    );
  });
}

function describeOrigin(origin: ToolOrigin | undefined): string[][] {
  if (origin === undefined) return [];
  const { kind, reference, digest, version, signer } = origin;
  const isLocal = kind === "file" || kind === "folder";
  return [
    ["from", version === undefined ? reference : `${reference}, version ${version}`],
    ...(isLocal
      ? []
      : [
          ["fetched", digest],
          ["signed by", signer ?? "nobody you named"],
        ]),
  ];
}

async function foreignInfo({ receipts }: ServiceHost, tool: ToolInfo, options: JsonOption): Promise<void> {
  const { name, description, schema, grants, server, asks } = tool;
  const [last] = await receipts.list({ tool: name, limit: 1 });
  const value = {
    name,
    version: tool.version,
    server: server?.name,
    tool: server?.tool,
    asks,
    description,
    schema,
    grants,
    warnings: server?.warnings ?? [],
    last_call: last ?? null,
  };
  print(options, value, () =>
    [
      `${name}, the tool ${server?.tool} of the MCP server ${server?.name}`,
      `${quote(description)}\n`,
      fields([
        ["without asking", asks === true ? "no" : "yes"],
        ["last call", last === undefined ? "none" : `${relativeTime(last.at)}, ${last.status}`],
      ]),
      ...(value.warnings.length === 0 ? [] : [`Warnings:\n${bullets(value.warnings)}\n`]),
      `It:\n${bullets(grants)}\n`,
      `Params\n${JSON.stringify(schema, undefined, 2)}`,
    ].join("\n"),
  );
}

export async function log(
  context: CommandContext,
  name: string | undefined,
  options: JsonOption & { readonly limit: number },
): Promise<void> {
  await withHost(context, async ({ receipts, catalog }) => {
    const { limit } = options;
    const kept = await receipts.list(name === undefined ? { limit } : { tool: name, limit });
    const found = await locateReceipts(catalog, kept);
    print(options, { receipts: found }, () =>
      found.length === 0
        ? `No calls ${name === undefined ? "" : `of ${name} `}recorded yet.`
        : table(["WHEN", "TOOL", "USER", "OUTCOME", "MS", "REQUESTS", "MESSAGE"], found.map(row), {
            cut: ["MESSAGE"],
          }).trimEnd(),
    );
  });
}

function row({ at, tool, user, status, code, millis, requests, message, logs }: Receipt): readonly string[] {
  const contacted = requests.map(({ host, status: answered }) => `${host} ${answered ?? "no answer"}`);
  const said = message ?? logs.at(-1)?.message ?? "";
  return [at, tool, user, code ?? status, String(millis), contacted.join(", ") || "none", said];
}
