/** Users, invitations, tokens and browser sessions. Most of it is for operators. */
import { invalidFault, missingFault, type Route, routesOf } from "../../../kernel/kit/http.ts";
import {
  Account,
  InvitationInfo,
  NewToken,
  SessionInfo,
  TokenInfo,
  User,
} from "../../../kernel/kit/people.ts";
import { Type } from "../../../kernel/kit/schema.ts";
import type { ModelName, Services } from "../../../kernel/plugin.ts";

const route = routesOf("accounts");
const operatorRoute = routesOf("accounts", "operator");

const { id, user, name, tools, models, perDayUsd, createdAt, expiresAt } = TokenInfo.properties;

export interface AccountParts extends Pick<Services, "accounts"> {
  /** Called when a credential ended, so that its sockets are closed. */
  readonly web: { endRevoked(): Promise<void> };
  /** With both a new token is compared with what is here, for its warnings. */
  readonly agent?: { model(): ModelName } | undefined;
  readonly toolCalls?: { names(): Promise<readonly string[]> } | undefined;
}

export function accountRoutes({ accounts, agent, toolCalls, web }: AccountParts): readonly Route[] {
  return [
    operatorRoute("GET /api/users", {
      summary: "List users",
      answer: Type.Object({ users: Type.Array(Account) }),
      handle: async () => ({ users: await accounts.listUsers() }),
    }),
    operatorRoute("POST /api/users", {
      summary: "Add a user",
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
    operatorRoute("PATCH /api/users/{id}", {
      summary: "Change a user's role",
      body: Type.Object({ role: User.properties.role }),
      answer: Account,
      refusals: { 404: "There is no such user" },
      async handle({ user, params, body }) {
        refuseOwn(user, params.id);
        const account = await accounts.setRole(params.id, body.role);
        await web.endRevoked();
        return account;
      },
    }),
    operatorRoute("DELETE /api/users/{id}", {
      summary: "Remove a user with their tokens and sessions; `with_data` deletes what is kept of them too",
      query: Type.Object({ withData: Type.Optional(Type.Boolean()) }),
      status: 204,
      refusals: { 404: "There is no such user" },
      async handle({ user, params: { id }, query: { withData = false } }) {
        refuseOwn(user, id);
        await accounts.removeUser(id, { withData });
        await web.endRevoked();
      },
    }),
    route("GET /api/sessions", {
      summary: "List the browsers that are signed in: yours, or everybody's if you are an operator",
      answer: Type.Object({ sessions: Type.Array(SessionInfo) }),
      scoped: true,
      handle: async ({ user }) => ({ sessions: await accounts.listSessions(onlyOwn(user)) }),
    }),
    route("DELETE /api/sessions/{id}", {
      summary: "Sign a browser out: one of yours, or anybody's if you are an operator",
      status: 204,
      refusals: { 404: "There is no such session" },
      async handle({ user, params }) {
        if (!(await accounts.endSession(params.id, onlyOwn(user))))
          throw missingFault("session_not_found", "There is no such session.", "id");
        await web.endRevoked();
      },
    }),
    operatorRoute("GET /api/invitations", {
      summary: "List the invitations that nobody has used yet",
      answer: Type.Object({ invitations: Type.Array(InvitationInfo) }),
      handle: async () => ({ invitations: await accounts.listInvitations() }),
    }),
    operatorRoute("POST /api/invitations", {
      summary: "Make a link by which a user signs in once; its secret is shown only here",
      body: Type.Object({
        user: Type.String(),
        role: Type.Optional(
          Type.Enum(["operator", "user"], { description: "Adds the user first, who must be new" }),
        ),
        expiresInDays: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 30, default: 7 })),
      }),
      status: 201,
      answer: Type.Object({
        ...InvitationInfo.properties,
        token: Type.String({ description: "For the link: `/?token=…`" }),
      }),
      refusals: { 404: "There is no such user" },
      async handle({ body: { user, role, expiresInDays } }) {
        if (role !== undefined) await accounts.addUser(user, role);
        const { secret, info } = await accounts.invite(user, expiresInDays);
        return { ...info, token: secret };
      },
    }),
    operatorRoute("DELETE /api/invitations/{id}", {
      summary: "Withdraw an invitation",
      status: 204,
      refusals: { 404: "There is no such invitation, or it was used" },
      async handle({ params }) {
        if (!(await accounts.withdrawInvitation(params.id)))
          throw missingFault(
            "invitation_not_found",
            "There is no such invitation, or it was used already.",
            "id",
          );
      },
    }),
    operatorRoute("GET /api/tokens", {
      summary: "List the tokens of all users, newest first, without their secrets",
      answer: Type.Object({ tokens: Type.Array(TokenInfo) }),
      handle: async () => ({ tokens: await accounts.listTokens() }),
    }),
    operatorRoute("POST /api/tokens", {
      summary: "Create a token for a user; its secret is shown only once",
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
        const here = toolCalls && agent && { tools: await toolCalls.names(), model: agent.model() };
        const { token, info, warnings } = await accounts.createToken(body.user, body.name, body, here);
        return { ...info, token, warnings };
      },
    }),
    operatorRoute("PATCH /api/tokens/{id}", {
      summary: "Change when a token expires, in days from now; null for never",
      body: Type.Object({
        expiresInDays: Type.Union([Type.Number({ exclusiveMinimum: 0, maximum: 36_500 }), Type.Null()]),
      }),
      answer: TokenInfo,
      refusals: { 404: "There is no such token, or it is revoked" },
      async handle({ params, body }) {
        const info = await accounts.setExpiry(params.id, body.expiresInDays ?? undefined);
        await web.endRevoked();
        return info;
      },
    }),
    operatorRoute("DELETE /api/tokens/{id}", {
      summary: "Revoke a token and end its sessions",
      status: 204,
      refusals: { 404: "There is no such token, or it is already revoked" },
      async handle({ params }) {
        if (!(await accounts.revokeToken(params.id)))
          throw missingFault("token_not_found", "There is no such token, or it is already revoked.", "id");
        await web.endRevoked();
      },
    }),
  ];
}

/** Returns undefined for an operator, who sees the sessions of all users. */
function onlyOwn({ id, role }: User): string | undefined {
  return role === "operator" ? undefined : id;
}

/** Keeps people from locking themselves out by mistake. */
function refuseOwn(user: User, id: string): void {
  if (user.id !== id) return;
  throw invalidFault("own_account", "You cannot change or remove your own account.", "id");
}
