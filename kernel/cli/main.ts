/** The composition root: the only file that knows everyone. Heavy modules are loaded when they are needed. */
import { CommanderError } from "commander";
import { Fault, reason } from "../fault.ts";
import { MANIFEST } from "../package.ts";
import type { AnyPlugin } from "../plugin.ts";
import { sayError, setTypedCommand } from "../terminal/output.ts";
import { operatorCommands } from "./operator/commands.ts";
import { takePlace } from "./option-values.ts";
import { buildProgram, type Client } from "./program.ts";
import type { Session } from "./service/session.ts";

/** Every plugin Postern ships, in the order of the start-up table. */
async function shippedPlugins(): Promise<readonly AnyPlugin[]> {
  const modules = await Promise.all([
    import("../../plugins/store/plugin.ts"),
    import("../../plugins/telemetry/plugin.ts"),
    import("../../host/plugin.ts"),
    import("../../plugins/home/plugin.ts"),
    import("../../plugins/models/plugin.ts"),
    import("../../plugins/agent/plugin.ts"),
    import("../../plugins/memory/plugin.ts"),
    import("../../plugins/memory/tools/plugin.ts"),
    import("../../plugins/workspace/plugin.ts"),
    import("../../plugins/workspace/tools/plugin.ts"),
    import("../../plugins/guidance/plugin.ts"),
    import("../../plugins/provenance/plugin.ts"),
    import("../../host/proposals/plugin.ts"),
    import("../../host/users/plugin.ts"),
    import("../../plugins/jobs/plugin.ts"),
    import("../../plugins/jobs/queue/plugin.ts"),
    import("../../plugins/delegation/plugin.ts"),
    // Before the other channels: a person waits for the first frame, and the screen fills in the rest later.
    import("../../plugins/tui/plugin.ts"),
    import("../../plugins/tui/local/plugin.ts"),
    import("../../plugins/accounts/plugin.ts"),
    import("../../plugins/gateway/plugin.ts"),
    ...[
      import("../../plugins/agent/routes/plugin.ts"),
      import("../../plugins/store/routes/plugin.ts"),
      import("../../plugins/accounts/routes/plugin.ts"),
      import("../../host/routes/plugin.ts"),
      import("../../plugins/home/routes/plugin.ts"),
      import("../../plugins/models/routes/plugin.ts"),
      import("../../plugins/memory/routes/plugin.ts"),
      import("../../plugins/workspace/routes/plugin.ts"),
      import("../../plugins/provenance/routes/plugin.ts"),
      import("../../plugins/jobs/routes/plugin.ts"),
      import("../../plugins/delegation/routes/plugin.ts"),
      import("../../plugins/webhook/routes/plugin.ts"),
      import("../../plugins/messaging/routes/plugin.ts"),
      import("../../plugins/status/plugin.ts"),
    ],
    import("../../plugins/page/plugin.ts"),
    import("../../plugins/responses/plugin.ts"),
    import("../../plugins/mcp/plugin.ts"),
    import("../../plugins/webhook/plugin.ts"),
    import("../../plugins/slack/plugin.ts"),
    import("../../plugins/email/plugin.ts"),
    import("../../plugins/messaging/plugin.ts"),
    import("../../plugins/telegram/plugin.ts"),
  ]);
  return modules.map((module) => module.default as AnyPlugin);
}

/** The client of the service that runs on the session's home, or at this address. */
async function createClient(session: Session, url: string | undefined): Promise<Client> {
  const [client, { serviceAt, serviceOfHome }, accounts, operatorToken, terminal] = await Promise.all([
    import("../../plugins/client/plugin.ts"),
    import("../../plugins/client/address.ts"),
    import("../../plugins/accounts/settings.ts"),
    import("../../plugins/accounts/sign-in/operator-token.ts"),
    import("../../plugins/tui/plugin.ts"),
  ]);
  const { settings, home } = session;
  const config = accounts.readSettings(settings.for("accounts"));
  const service =
    url === undefined
      ? serviceOfHome(home, () => operatorToken.findOperatorToken(config, home))
      : await serviceAt(url, settings.for("client"));
  return {
    plugins: [...client.createClient(service), terminal.default as AnyPlugin],
    assertReachable: () => void service.locate(),
  };
}

/** Exit codes: 0 done, 1 failed, 2 wrong usage, 78 bad configuration. */
export async function main(argv: readonly string[], typed = "postern"): Promise<void> {
  setTypedCommand(typed);
  // `postern … | head`: a reader that has seen enough is no error of ours.
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  try {
    const { words, ...place } = takePlace(argv);
    const program = await buildProgram({
      ...place,
      argv: words,
      version: MANIFEST.version,
      shippedPlugins,
      createClient,
      operatorCommands: operatorCommands(() => import("../../plugins/store/access.ts")),
    });
    await program.parseAsync(words, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.code === "usage") sayError(`${error.message}\n`);
      process.exitCode = error.exitCode === 0 ? 0 : 2;
    } else if (error instanceof Fault) {
      sayError(`postern: ${error.message}\n`);
      process.exitCode = error.kind === "config" ? 78 : error.usage ? 2 : 1;
    } else {
      sayError(`postern: this is a bug: ${error instanceof Error ? error.stack : reason(error)}\n`);
      process.exitCode = 1;
    }
  }
}
