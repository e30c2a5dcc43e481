/** `postern mcp`: the channel on standard input and output, for hosts that start a command. */
import type { Command } from "commander";
import { OPERATOR } from "../../kernel/kit/people.ts";
import { hostIsGone, takeOutput, warn } from "../../kernel/kit/terminal.ts";
import { type CommandContext, Fault, type Services } from "../../kernel/plugin.ts";
import { CHANNEL, readSettings, SERVICES, WANTED } from "./parts.ts";

const HELP = `
Examples:
  $ postern mcp
  $ postern mcp --user ann

A host, such as a desktop assistant or an editor, starts the command itself. Its configuration:
  {
    "mcpServers": {
      "postern": { "command": "postern", "args": ["mcp"] },
      "postern-ann": { "command": "npx", "args": ["-y", "postern", "mcp", "--user", "ann"] }
    }
  }
POSTERN_HOME in its "env" names another home. A service may run on the same home, but does not have to. Over HTTP the
same is served by "postern serve" at /mcp.`;

export function register(command: Command, context: CommandContext): void {
  command
    .option("--user <id>", "act as this user", OPERATOR)
    .addHelpText("after", HELP)
    .action(async ({ user }: { readonly user: string }) => {
      const { taskAfterMillis } = context.settingsOf("mcp", readSettings);
      const wire = takeOutput();
      await context.with(
        [...SERVICES, "accounts"],
        async (use, log) => {
          await assertKnown(use.accounts, user);
          const [{ serveStdio, StdioServerTransport }, { createServers }] = await Promise.all([
            import("@modelcontextprotocol/server/stdio"),
            import("./server/server.ts"),
          ]);
          const { version } = context;
          const servers = await createServers({ ...use, log, version, page: undefined, taskAfterMillis });
          const ended = hostIsGone(wire);
          if (process.stdin.isTTY)
            warn("postern mcp: waiting for an MCP host on standard input; see postern mcp --help\n");
          const caller = { user, channel: CHANNEL };
          const handle = serveStdio(
            ({ era }) => {
              const server = servers.create(caller, era);
              servers.announce(server, caller);
              return server;
            },
            {
              transport: new StdioServerTransport(process.stdin, wire),
              onerror: (error) => log.debug({ error }, "an MCP message was refused"),
            },
          );
          await ended;
          await handle.close();
          await servers.close();
          process.stdin.destroy();
        },
        { wants: WANTED, stays: true },
      );
    });
}

async function assertKnown(accounts: Services["accounts"], user: string): Promise<void> {
  if (user === OPERATOR || (await accounts.find(user))) return;
  const message = `There is no user "${user}". "postern user list" shows them, "postern user add ${user}" adds one.`;
  throw new Fault("invalid", "unknown_user", message, { usage: true });
}
