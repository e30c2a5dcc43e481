/** `postern mcp`: the channel on standard input and output, for hosts that start a command. */
import { once } from "node:events";
import { Writable } from "node:stream";
import type { Command } from "commander";
import { OPERATOR } from "../../kernel/kit/people.ts";
import { warn } from "../../kernel/kit/terminal.ts";
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

/** Standard output belongs to the protocol: whatever else this process prints goes to standard error. */
function takeOutput(): Writable {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, encoding, done) => void write(chunk as string, encoding, done),
  });
}

/** Resolves when the host closes our input, no longer reads our output, or ends us with a signal. */
async function hostIsGone(wire: Writable): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  try {
    await Promise.race([
      once(process.stdin, "end", { signal }),
      once(process.stdin, "close", { signal }),
      once(wire, "close", { signal }),
      once(process, "SIGTERM", { signal }),
      once(process, "SIGINT", { signal }),
    ]);
  } catch {
    // An input that cannot be read has ended.
  } finally {
    over.abort();
  }
}

async function assertKnown(accounts: Services["accounts"], user: string): Promise<void> {
  if (user === OPERATOR || (await accounts.find(user))) return;
  const message = `There is no user "${user}". "postern user list" shows them, "postern user add ${user}" adds one.`;
  throw new Fault("invalid", "unknown_user", message, { usage: true });
}
