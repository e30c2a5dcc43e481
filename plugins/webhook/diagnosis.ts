/** Checks of `postern doctor`: could anybody post, could the callback be reached? */
import { resolveFor } from "../../kernel/kit/outbound.ts";
import type { Finding, StoreLook } from "../../kernel/plugin.ts";
import { explainFailure } from "./callbacks/callbacks.ts";
import { type CallbackTarget, describeNoSecret } from "./settings.ts";

export async function examineNoSecret({ rows }: StoreLook): Promise<Finding> {
  const [row] = await rows<{ readonly count: number }>("SELECT count(*) AS count FROM webhook_integrations");
  const integrations = row?.count ?? 0;
  const detail = describeNoSecret(integrations);
  const advice = integrations > 0 ? "" : "; set it to a long random string, or add an integration";
  return { name: "webhook secret", ok: integrations > 0, detail: detail + advice };
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
