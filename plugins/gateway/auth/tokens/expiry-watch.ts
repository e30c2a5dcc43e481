/** Who is told of tokens that expire soon: the operator, by `postern doctor` and once a day by the log. */
import type { DiagnoseContext, Finding, Log, Store } from "../../../../kernel/plugin.ts";
import { expiresSoon, expiryInWords } from "./expiry.ts";
import type { Tokens } from "./tokens.ts";

const DAY_MILLIS = 86_400_000;

interface Row {
  readonly id: string;
  readonly user: string;
  readonly name: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
}

/** Once a day, by one of all nodes. Answers how to stop. */
export function watchExpiry(
  store: Pick<Store, "repeat">,
  { listTokens }: Pick<Tokens, "listTokens">,
  log: Pick<Log, "warn">,
): () => void {
  return store.repeat("tokens that expire", DAY_MILLIS, async () => {
    for (const token of await listTokens())
      if (expiresSoon(token))
        log.warn({ code: "token_expires_soon", user: token.user, token: token.id }, expiryInWords(token));
  });
}

export async function diagnoseExpiry({
  stored,
}: Pick<DiagnoseContext<unknown>, "stored">): Promise<readonly Finding[]> {
  return (await stored.rows<Row>("SELECT * FROM gateway_tokens")).flatMap(
    ({ expires_at: expiresAt, revoked_at: revokedAt, id, user, name }) =>
      expiresAt !== null && expiresSoon({ expiresAt, revokedAt })
        ? [
            {
              name: "token",
              ok: true,
              warning: true,
              detail: expiryInWords({ id, user, name, expiresAt }),
            },
          ]
        : [],
  );
}
