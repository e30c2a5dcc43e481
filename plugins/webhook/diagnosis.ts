/** Checks of `postern doctor`: could anybody post, could the callback be reached? */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { resolveFor } from "../../kernel/kit.ts";
import type { Finding, SharedStore } from "../../kernel/plugin.ts";
import { explainFailure } from "./callbacks/callbacks.ts";
import { type CallbackTarget, describeNoSecret } from "./settings.ts";

export async function examineNoSecret(home: string, shared?: SharedStore | "unreachable"): Promise<Finding> {
  const integrations = shared ? await countShared(shared) : countIntegrations(join(home, "store.sqlite"));
  const detail = describeNoSecret(integrations);
  const advice = integrations > 0 ? "" : "; set it to a long random string, or add an integration";
  return { name: "webhook secret", ok: integrations > 0, detail: detail + advice };
}

const COUNT = "SELECT count(*) AS count FROM webhook_integrations";

async function countShared(shared: SharedStore | "unreachable"): Promise<number> {
  if (shared === "unreachable" || !(await shared.has("webhook_integrations"))) return 0;
  return (await shared.sql.get<{ readonly count: number }>(COUNT))?.count ?? 0;
}

/** Opens the store read-only; without a store or the table there are no integrations. */
function countIntegrations(file: string): number {
  try {
    using database = new DatabaseSync(file, { readOnly: true });
    const row = database.prepare(COUNT).get();
    return Number(row?.["count"] ?? 0);
  } catch {
    return 0;
  }
}

/** Only looks up the address: a connection would be visible to the receiver. */
export async function examineCallback({ url, privateHosts }: CallbackTarget): Promise<Finding> {
  const name = "webhook callback";
  try {
    await resolveFor(url, privateHosts);
    return { name, ok: true, detail: `${url.hostname} has an address that callbacks may reach` };
  } catch (error) {
    return { name, ok: false, detail: `HTTP_CALLBACK_URL cannot be reached: ${explainFailure(error)}` };
  }
}
