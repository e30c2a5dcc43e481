/** The OpenAPI document, made from the routes themselves. */
import { STATUS_CODES } from "node:http";
import type { JsonSchema } from "../../../kernel/plugin.ts";
import type { Route } from "../route.ts";
import { ref, SCHEMAS } from "./schemas.ts";

const ERROR = { "application/json": { schema: ref("Error") } };
const PLAIN = { "text/plain": { schema: { type: "string" } } };

export function describeApi(version: string, routes: readonly Route[]): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const definition of routes) {
    paths[definition.path] = { ...paths[definition.path], [definition.method]: describe(definition) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Postern",
      version,
      description:
        "The gateway's JSON API. `GET /api/chat/ws` upgrades to a WebSocket whose frames are `SocketFrame`s.",
    },
    security: [{ bearer: [] }, { session: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "postern_session",
          description: "Followed by an underscore and the port, where the address names one",
        },
      },
      schemas: SCHEMAS,
    },
  };
}

function describe(definition: Route): JsonSchema {
  const { summary, tag, audience, query = {}, body, form, status = 200, answer, refusals = {} } = definition;
  const inPath = [...definition.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const inQuery = Object.entries(query).map(([name, schema]) => ({
    name,
    in: "query",
    required: definition.required?.includes(name) ?? false,
    schema,
  }));
  const type = typeof answer === "string" ? answer : "application/json";
  const schema = typeof answer === "string" ? { type: "string" } : answer;
  const usual: Readonly<Record<number, string>> = {
    ...(body || form || inQuery.length > 0 ? { 400: "The request is wrong; `param` says where" } : {}),
    ...(body || form ? { 413: "The body is too large", 415: "The body is of another type" } : {}),
    ...(audience === "anyone" ? {} : { 401: "The token is missing or wrong" }),
    ...(audience === "operator" ? { 403: "It takes the operator's token" } : {}),
    ...refusals,
  };
  const refused = Object.entries(usual).map(([code, description]) => [
    code,
    { description, content: code === "401" ? PLAIN : ERROR },
  ]);
  return {
    summary,
    tags: [tag],
    parameters: [...inPath, ...inQuery],
    ...(audience === "anyone" && { security: [] }),
    ...(body && { requestBody: { required: true, content: { "application/json": { schema: body } } } }),
    ...(form && {
      requestBody: {
        required: true,
        content: { "multipart/form-data": { schema: { type: "object", properties: form } } },
      },
    }),
    responses: {
      [status]: {
        description: STATUS_CODES[status],
        ...(schema && { content: { [type]: { schema } } }),
      },
      ...Object.fromEntries(refused),
    },
  };
}
