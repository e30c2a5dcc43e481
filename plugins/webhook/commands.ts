/** `postern webhook …`; the commands also work while the service is running. */
import type { Command } from "commander";
import { toWire } from "../../kernel/kit/schema.ts";
import { type JsonOption, print, relativeTime, table, verb } from "../../kernel/kit/terminal.ts";
import { type CommandContext, Fault } from "../../kernel/plugin.ts";
import { callbackSecrets } from "./derived-secrets.ts";
import { Integration } from "./integration.ts";
import { createIntegrations, type OpenIntegrations } from "./integrations/integrations.ts";
import { MIGRATIONS } from "./tables.ts";

interface AddOptions extends JsonOption {
  readonly user: string;
  readonly message?: string;
}

const TEMPLATE_HELP = `
The sender posts to /webhook/<name>, with the secret in X-Webhook-Secret, or signs the body with it
(Standard Webhooks or X-Hub-Signature-256). With --message it posts its events as they are: {{a.b}} in the
template is replaced by that value of the event, and the whole event goes to the agent as untrusted data.`;

export function register(group: Command, context: CommandContext): void {
  verb(
    group,
    "add <name>",
    "add a sender with a secret of its own",
    "webhook add ci --user ann",
    "webhook add github --user webhook/github --message 'A {{action}} in {{repository.full_name}}'",
  )
    .requiredOption(
      "--user <id>",
      "the user it posts for: an account, or webhook/<name> for an identity of its own",
    )
    .option("--message <template>", "makes a message of each event")
    .addHelpText("after", TEMPLATE_HELP)
    .action((name: string, { user, message, ...options }: AddOptions) =>
      withIntegrations(context, async (integrations) => {
        const { integration, secret } = await integrations.add({ name, user, message });
        const value = { ...toWire(Integration, integration), secret };
        const about = `This is the secret of ${name}, which posts to /webhook/${name} for ${user}.`;
        print(options, value, `${secret}\n\n${about}`);
      }),
    );

  verb(group, "list", "list the senders, never their secrets", "webhook list").action((options: JsonOption) =>
    withIntegrations(context, async (integrations) => {
      const known = await integrations.list();
      const rows = known.map((one) => [
        one.name,
        one.user,
        one.lastUsedAt ? relativeTime(one.lastUsedAt) : "never",
        one.message ?? "",
      ]);
      print(
        options,
        { integrations: known.map((integration) => toWire(Integration, integration)) },
        known.length === 0
          ? 'No integrations yet. See "postern webhook add --help".'
          : table(["NAME", "USER", "LAST USED", "MESSAGE"], rows).trimEnd(),
      );
    }),
  );

  verb(group, "remove <name>", "remove a sender: its secret stops working", "webhook remove ci").action(
    (name: string, options: JsonOption) =>
      withIntegrations(context, async (integrations) => {
        if (!(await integrations.remove(name))) {
          const message = `there is no integration ${name}; "postern webhook list" shows all`;
          throw new Fault("missing", "integration_not_found", message);
        }
        print(options, { name, removed: true }, `Removed ${name}.`);
      }),
  );

  verb(
    group,
    "callback-key",
    "print the key that callbacks are signed with, for whoever receives them",
    "webhook callback-key",
  ).action((options: JsonOption) =>
    context.with(["store"], async ({ store }) => {
      const [key] = await callbackSecrets(store);
      print(options, { key }, key);
    }),
  );
}

function withIntegrations(
  context: CommandContext,
  work: (integrations: OpenIntegrations) => Promise<void>,
): Promise<void> {
  return context.with(["store", "accounts"], async ({ store, accounts }) => {
    const sql = await store.tables("webhook", MIGRATIONS);
    // The command prints the secret once, and nothing here writes a log.
    await work(createIntegrations({ store, sql, accounts, onSecret: () => {} }));
  });
}
