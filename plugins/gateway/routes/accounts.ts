/** Users and their tokens: the operator's to give and to take. */
import { Fault, type User } from "../../../kernel/plugin.ts";
import { list, object, ref, text, time } from "../api/schemas.ts";
import { accountJson, tokenJson } from "../api/wire.ts";
import type { Accounts } from "../auth/accounts.ts";
import { type Route, route } from "../route.ts";

export interface AccountParts {
  readonly accounts: Accounts;
  /** Told when a credential ended, so that what hangs on it ends too. */
  onRevoked(): void;
}

export function accountRoutes({ accounts, onRevoked }: AccountParts): readonly Route[] {
  return [
    route({
      method: "get",
      path: "/api/users",
      tag: "accounts",
      summary: "Users",
      audience: "operator",
      answer: object({ users: list(ref("Account")) }),
      handle: () => ({ users: accounts.listUsers().map(accountJson) }),
    }),
    route<{ id: string; role?: User["role"] }>({
      method: "post",
      path: "/api/users",
      tag: "accounts",
      summary: "Add a user",
      audience: "operator",
      body: {
        type: "object",
        required: ["id"],
        properties: { id: { type: "string" }, role: { type: "string", enum: ["operator", "user"] } },
      },
      status: 201,
      answer: ref("Account"),
      handle: ({ body: { id, role = "user" } }) => accountJson(accounts.addUser(id, role)),
    }),
    route({
      method: "get",
      path: "/api/tokens",
      tag: "accounts",
      summary: "Tokens of all users, newest first; never the secret",
      audience: "operator",
      answer: object({ tokens: list(ref("Token")) }),
      handle: () => ({ tokens: accounts.listTokens().map(tokenJson) }),
    }),
    route<{ user: string; name: string; expires_in_days?: number }>({
      method: "post",
      path: "/api/tokens",
      tag: "accounts",
      summary: "Make a token for a user; its secret is shown this once",
      audience: "operator",
      body: {
        type: "object",
        required: ["user", "name"],
        properties: {
          user: { type: "string" },
          name: { type: "string", minLength: 1, maxLength: 100 },
          expires_in_days: { type: "number", exclusiveMinimum: 0, maximum: 36_500 },
        },
      },
      status: 201,
      answer: object({
        id: text,
        user: text,
        name: text,
        token: text,
        created_at: time,
        expires_at: { type: ["string", "null"] },
      }),
      refusals: { 404: "There is no such user" },
      handle({ body: { user, name, expires_in_days } }) {
        const { token, info } = accounts.createToken(user, name, expires_in_days);
        return {
          id: info.id,
          user,
          name,
          token,
          created_at: info.createdAt,
          expires_at: info.expiresAt ?? null,
        };
      },
    }),
    route({
      method: "delete",
      path: "/api/tokens/{id}",
      tag: "accounts",
      summary: "Revoke a token: it, and what was signed in with it, is void at once",
      audience: "operator",
      status: 204,
      refusals: { 404: "There is no such token, or it was revoked already" },
      handle({ params }) {
        if (!accounts.revokeToken(params["id"] ?? ""))
          throw new Fault(
            "missing",
            "token_not_found",
            "There is no such token, or it was revoked already.",
            {
              param: "id",
            },
          );
        onRevoked();
      },
    }),
  ];
}
