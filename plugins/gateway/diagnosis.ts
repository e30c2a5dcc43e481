/** For `postern doctor`: could the gateway open its port, and are its tokens hard to guess? */
import { examinePort, examineSecret } from "../../kernel/kit.ts";
import type { DiagnoseContext, Finding } from "../../kernel/plugin.ts";
import { chosenTokens, examineTokenFile } from "./auth/tokens/operator-token.ts";
import type { GatewayConfig } from "./settings.ts";

export async function diagnose({
  config,
  home,
  running,
}: DiagnoseContext<GatewayConfig>): Promise<readonly Finding[]> {
  const { host, port } = config;
  const tokens = Object.entries(chosenTokens(config, home)).flatMap(([name, token]) =>
    token === undefined ? [] : [examineSecret("gateway token", name, token)],
  );
  return [
    await examinePort({ name: "gateway", host, port, variables: "GATEWAY_PORT", running }),
    ...tokens.filter(({ warning }) => warning),
    ...(config.operatorToken === undefined ? examineTokenFile(home) : []),
  ];
}
