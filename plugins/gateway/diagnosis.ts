/** For `postern doctor`: could the gateway open its port? */
import { createServer } from "node:net";
import { hostInUrl } from "../../kernel/net/address.ts";
import { examineSecret } from "../../kernel/net/weak-secret.ts";
import { type Finding, reason } from "../../kernel/plugin.ts";
import { chosenTokens } from "./auth/operator-token.ts";
import { HEALTH } from "./routes/health.ts";
import type { GatewayConfig } from "./settings.ts";

const PATIENCE_MILLIS = 2000;

/** Could the port be opened, and are the tokens hard to guess? */
export async function diagnose(config: GatewayConfig, home: string): Promise<readonly Finding[]> {
  const tokens = Object.entries(chosenTokens(config, home)).flatMap(([name, token]) =>
    token === undefined ? [] : [examineSecret("gateway token", name, token)],
  );
  return [...(await diagnosePort(config)), ...tokens.filter(({ warning }) => warning)];
}

async function diagnosePort(config: { host: string; port: number }): Promise<readonly Finding[]> {
  const address = `${config.host}:${config.port}`;
  const refusal = await tryPort(config);
  if (refusal === undefined) return [{ name: "gateway", ok: true, detail: `${address} is free` }];
  if (await isPostern(config))
    return [{ name: "gateway", ok: true, detail: `Postern is running on ${address}` }];
  const detail = `${address} cannot be opened (${refusal}): stop the program that uses it, or set GATEWAY_PORT`;
  return [{ name: "gateway", ok: false, detail }];
}

function tryPort({ host, port }: { host: string; port: number }): Promise<string | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", (error) => resolve(reason(error)));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

async function isPostern({ host, port }: { host: string; port: number }): Promise<boolean> {
  try {
    const answer = await fetch(`http://${hostInUrl(host)}:${port}/health`, {
      signal: AbortSignal.timeout(PATIENCE_MILLIS),
    });
    return ((await answer.json()) as { service?: unknown }).service === HEALTH.service;
  } catch {
    return false;
  }
}
