/** Users and their tokens: the operator's to give and to take. */
import { Fault } from "../../../kernel/plugin.ts";
import { User } from "../../../kernel/vocabulary/user.ts";
import { Type } from "../../../kernel/vocabulary/wire/type.ts";
import { Account, type Accounts, TokenInfo } from "../auth/accounts.ts";
import { type Route, route } from "../route.ts";

export interface AccountParts {
  readonly accounts: Accounts;
  /** Told when a credential ended, so that what hangs on it ends too. */
  onRevoked(): void;
}

const { id, user, name, createdAt, expiresAt } = TokenInfo.properties;

export function accountRoutes({ accounts, onRevoked }: AccountParts): readonly Route[] {
  return [
    route({
      method: "get",
      path: "/api/users",
      tag: "accounts",
      summary: "List users",
      audience: "operator",
      answer: Type.Object({ users: Type.Array(Account) }),
      handle: () => ({ users: accounts.listUsers() }),
    }),
    route({
      method: "post",
      path: "/api/users",
      tag: "accounts",
      summary: "Add a user",
      audience: "operator",
      body: Type.Object({ id: Type.String(), role: Type.Optional(User.properties.role) }),
      status: 201,
      answer: Account,
      handle: ({ body: { id, role = "user" } }) => accounts.addUser(id, role),
    }),
    route({
      method: "get",
      path: "/api/tokens",
      tag: "accounts",
      summary: "List the tokens of all users, newest first, without their secrets",
      audience: "operator",
      answer: Type.Object({ tokens: Type.Array(TokenInfo) }),
      handle: () => ({ tokens: accounts.listTokens() }),
    }),
    route({
      method: "post",
      path: "/api/tokens",
      tag: "accounts",
      summary: "Create a token for a user; its secret is shown only once",
      audience: "operator",
      body: Type.Object({
        user: Type.String(),
        name: Type.String({ minLength: 1, maxLength: 100 }),
        expiresInDays: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 36_500 })),
      }),
      status: 201,
      answer: Type.Object({ id, user, name, token: Type.String(), createdAt, expiresAt }),
      refusals: { 404: "There is no such user" },
      handle({ body }) {
        const { token, info } = accounts.createToken(body.user, body.name, body.expiresInDays);
        return { ...info, token };
      },
    }),
    route({
      method: "delete",
      path: "/api/tokens/{id}",
      tag: "accounts",
      summary: "Revoke a token and end its sessions",
      audience: "operator",
      status: 204,
      refusals: { 404: "There is no such token, or it is already revoked" },
      handle({ params }) {
        if (!accounts.revokeToken(params["id"] ?? ""))
          throw new Fault("missing", "token_not_found", "There is no such token, or it is already revoked.", {
            param: "id",
          });
        onRevoked();
      },
    }),
  ];
}
