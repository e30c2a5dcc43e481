/** What `postern doctor` wants to know: could anybody post, could the callback be reached? */
import { resolveFor } from "../../kernel/kit.ts";
import type { Finding, StoreLook } from "../../kernel/plugin.ts";
import { type CallbackTarget, explainFailure } from "./callbacks/target.ts";

/** Without the shared secret only integrations can post, where there are any. */
export function withoutSecret(variable: string, integrations: number): string {
  const who = integrations === 1 ? "only the integration" : `only the ${integrations} integrations`;
  return integrations === 0
    ? `${variable} is not set: every request gets 401`
    : `${variable} is not set: ${who} can post`;
}

export async function examineNoSecret(variable: string, { rows }: StoreLook): Promise<Finding> {
  const [row] = await rows<{ readonly count: number }>("SELECT count(*) AS count FROM webhook_integrations");
  const integrations = row?.count ?? 0;
  const detail = withoutSecret(variable, integrations);
  return integrations > 0
    ? { name: "webhook secret", ok: true, detail }
    : {
        name: "webhook secret",
        ok: false,
        detail: `${detail}; set it to a long random string, or add an integration`,
      };
}

/** Asks for the address only: a connection would show at the receiver. */
export async function examineCallback({ url, privateHosts }: CallbackTarget): Promise<Finding> {
  const name = "webhook callback";
  try {
    await resolveFor(url, privateHosts);
    return { name, ok: true, detail: `${url.hostname} has an address that callbacks may reach` };
  } catch (error) {
    return { name, ok: false, detail: `HTTP_CALLBACK_URL cannot be reached: ${explainFailure(error)}` };
  }
}
