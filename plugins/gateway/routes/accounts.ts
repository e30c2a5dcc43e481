/** Users, tokens and browser sessions. Most of it is for operators. */
import { Account, NewToken, SessionInfo, TokenInfo, Type, User } from "../../../kernel/kit.ts";
import { type Agent, type ExternalTools, Fault, type Services } from "../../../kernel/plugin.ts";
import { type Route, route } from "../route.ts";

export interface AccountParts {
  readonly accounts: Services["accounts"];
  readonly agent: Pick<Agent, "removeUser" | "model">;
  readonly externalTools: ExternalTools | undefined;
  /** Called when a credential ended, so that its sockets are closed. */
  onRevoked(): Promise<void>;
}

const { id, user, name, tools, models, perDayUsd, createdAt, expiresAt } = TokenInfo.properties;

export function accountRoutes({ accounts, agent, externalTools, onRevoked }: AccountParts): readonly Route[] {
  return [
    route({
      method: "get",
      path: "/api/users",
      tag: "accounts",
      summary: "List users",
      audience: "operator",
      answer: Type.Object({ users: Type.Array(Account) }),
      handle: async () => ({ users: await accounts.listUsers() }),
    }),
    route({
      method: "post",
      path: "/api/users",
      tag: "accounts",
      summary: "Add a user",
      audience: "operator",
      body: Type.Object({
        id: Type.String(),
        role: Type.Optional(User.properties.role),
        takeData: Type.Optional(
          Type.Boolean({ description: "Give the user what was kept of an earlier one with that id" }),
        ),
      }),
      status: 201,
      answer: Account,
      handle: ({ body: { id, role = "user", takeData = false } }) =>
        accounts.addUser(id, role, { takesData: takeData }),
    }),
    route({
      method: "patch",
      path: "/api/users/{id}",
      tag: "accounts",
      summary: "Change a user's role",
      audience: "operator",
      body: Type.Object({ role: User.properties.role }),
      answer: Account,
      refusals: { 404: "There is no such user" },
      async handle({ user, params, body }) {
        refuseOwn(user, params["id"]);
        const account = await accounts.setRole(params["id"] ?? "", body.role);
        await onRevoked();
        return account;
      },
    }),
    route({
      method: "delete",
      path: "/api/users/{id}",
      tag: "accounts",
      summary: "Remove a user with their tokens and sessions; `with_data` deletes what is kept of them too",
      audience: "operator",
      query: Type.Object({ withData: Type.Optional(Type.Boolean()) }),
      status: 204,
      refusals: { 404: "There is no such user" },
      async handle({ user, params, query: { withData = false } }) {
        const id = params["id"] ?? "";
        refuseOwn(user, id);
        await accounts.removeUser(id, { withData }, () => agent.removeUser(id, { withData }));
        await onRevoked();
      },
    }),
    route({
      method: "get",
      path: "/api/sessions",
      tag: "accounts",
      summary: "List the browsers that are signed in: yours, or everybody's if you are an operator",
      answer: Type.Object({ sessions: Type.Array(SessionInfo) }),
      handle: async ({ user }) => ({ sessions: await accounts.listSessions(onlyOwn(user)) }),
    }),
    route({
      method: "delete",
      path: "/api/sessions/{id}",
      tag: "accounts",
      summary: "Sign a browser out: one of yours, or anybody's if you are an operator",
      status: 204,
      refusals: { 404: "There is no such session" },
      async handle({ user, params }) {
        if (!(await accounts.endSession(params["id"] ?? "", onlyOwn(user))))
          throw new Fault("missing", "session_not_found", "There is no such session.", { param: "id" });
        await onRevoked();
      },
    }),
    route({
      method: "get",
      path: "/api/tokens",
      tag: "accounts",
      summary: "List the tokens of all users, newest first, without their secrets",
      audience: "operator",
      answer: Type.Object({ tokens: Type.Array(TokenInfo) }),
      handle: async () => ({ tokens: await accounts.listTokens() }),
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
        ...NewToken.properties,
      }),
      status: 201,
      answer: Type.Object({
        ...{ id, user, name, token: Type.String(), tools, models, perDayUsd, createdAt, expiresAt },
        warnings: Type.Array(Type.String(), { description: "Such as a tool that is not installed" }),
      }),
      refusals: { 404: "There is no such user" },
      async handle({ body }) {
        const here = externalTools && { tools: await externalTools.names(), model: agent.model() };
        const { token, info, warnings } = await accounts.createToken(body.user, body.name, body, here);
        return { ...info, token, warnings };
      },
    }),
    route({
      method: "patch",
      path: "/api/tokens/{id}",
      tag: "accounts",
      summary: "Change when a token expires, in days from now; null for never",
      audience: "operator",
      body: Type.Object({
        expiresInDays: Type.Union([Type.Number({ exclusiveMinimum: 0, maximum: 36_500 }), Type.Null()]),
      }),
      answer: TokenInfo,
      refusals: { 404: "There is no such token, or it is revoked" },
      async handle({ params, body }) {
        const info = await accounts.setExpiry(params["id"] ?? "", body.expiresInDays ?? undefined);
        await onRevoked();
        return info;
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
      async handle({ params }) {
        if (!(await accounts.revokeToken(params["id"] ?? "")))
          throw new Fault("missing", "token_not_found", "There is no such token, or it is already revoked.", {
            param: "id",
          });
        await onRevoked();
      },
    }),
  ];
}

/** Returns undefined for an operator, who sees the sessions of all users. */
function onlyOwn({ id, role }: User): string | undefined {
  return role === "operator" ? undefined : id;
}

/** Keeps people from locking themselves out by mistake. */
function refuseOwn(user: User, id: string | undefined): void {
  if (user.id !== id) return;
  throw new Fault("invalid", "own_account", "You cannot change or remove your own account.", { param: "id" });
}
