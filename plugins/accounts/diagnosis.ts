/** For `postern doctor`: operator's tokens that are easy to guess or unusable, and tokens that expire soon. */
import { examineSecret } from "../../kernel/kit/operations.ts";
import { expiresSoon } from "../../kernel/kit/people.ts";
import type { DiagnoseContext, Finding } from "../../kernel/plugin.ts";
import type { AccountsConfig } from "./settings.ts";
import { expiryInWords } from "./sign-in/expiry.ts";
import { chosenTokens, examineTokenFile } from "./sign-in/operator-token.ts";

interface Row {
  readonly id: string;
  readonly user: string;
  readonly name: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
}

export async function diagnose({
  config,
  home,
  stored,
}: DiagnoseContext<AccountsConfig>): Promise<readonly Finding[]> {
  const tokens = Object.entries(chosenTokens(config, home)).flatMap(([name, token]) =>
    token === undefined ? [] : [examineSecret("gateway token", name, token)],
  );
  const expiring = (await stored.rows<Row>("SELECT * FROM gateway_tokens")).flatMap(
    (row): readonly Finding[] => {
      const { id, user, name, expires_at: expiresAt, revoked_at: revokedAt } = row;
      if (expiresAt === null || !expiresSoon({ expiresAt, revokedAt })) return [];
      const detail = expiryInWords({ id, user, name, expiresAt });
      return [{ name: "token", ok: true, warning: true, detail }];
    },
  );
  return [
    ...tokens.filter(({ warning }) => warning),
    ...(config.operatorToken === undefined ? examineTokenFile(home) : []),
    ...expiring,
  ];
}
