/** The OpenAPI document, made from the routes themselves. */
import { STATUS_CODES } from "node:http";
import type { TSchema } from "typebox";
import { ErrorEnvelope, type RouteDescription } from "../../../kernel/kit/http.ts";
import { type Rendering, wireSchema } from "../../../kernel/kit/schema.ts";
import type { JsonSchema } from "../../../kernel/plugin.ts";

export interface ApiDescription {
  readonly version: string;
  readonly routes: readonly RouteDescription[];
  /** Declarations that no route returns. */
  readonly others: readonly TSchema[];
}

export function describeApi({ version, routes, others }: ApiDescription): JsonSchema {
  const schemas: Record<string, JsonSchema> = {};
  const asked: Rendering = {
    refer(name, render) {
      if (!Object.hasOwn(schemas, name)) {
        // Set before it is rendered, since it may refer to itself.
        schemas[name] = {};
        schemas[name] = render();
      }
      return { $ref: `#/components/schemas/${name}` };
    },
    reword,
  };
  const given: Rendering = { ...asked, closed: true };
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const route of routes)
    paths[route.path] = { ...paths[route.path], [route.method]: describe(route, asked, given) };
  for (const declared of others) wireSchema(declared, given);
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
      schemas,
    },
  };
}

const BYTES: JsonSchema = { type: "string", format: "binary" };

/** Drops the keywords that only our checker reads. Its message on a wrong value serves as a description. */
function reword({ refusal, maxBytes: _, ...keywords }: JsonSchema): JsonSchema {
  if (typeof refusal !== "string") return keywords;
  return { description: refusal.charAt(0).toUpperCase() + refusal.slice(1), ...keywords };
}

function describe(route: RouteDescription, asked: Rendering, given: Rendering): JsonSchema {
  const { summary, tag, audience, body, form, upload, status = 200, answer, events, refusals = {} } = route;
  const bodyOf = (declared: TSchema | string) =>
    typeof declared === "string"
      ? { [declared]: { schema: { type: "string" } } }
      : { "application/json": { schema: wireSchema(declared, given) } };
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const inQuery = route.query ? parametersOf(wireSchema(route.query, asked)) : [];
  const hasBody = body !== undefined || form !== undefined || upload !== undefined;
  const usual: typeof refusals = {
    ...(hasBody || inQuery.length > 0 ? { 400: "The request is wrong; `param` says where" } : {}),
    ...(hasBody ? { 413: "The body is too large", 415: "The body is of another type" } : {}),
    ...(audience === "anyone"
      ? {}
      : { 401: "The token is missing or wrong", 429: "Too many requests, or too much at once" }),
    ...(audience === "operator" ? { 403: "Only an operator can do this" } : {}),
    ...refusals,
  };
  const refused = Object.entries(usual).flatMap(([code, refusal]) => {
    if (refusal === undefined) return [];
    const { means, answer: body } =
      typeof refusal === "string"
        ? { means: refusal, answer: code === "401" ? "text/plain" : ErrorEnvelope }
        : refusal;
    return [[code, { description: means, content: bodyOf(body) }]];
  });
  const content = answer !== undefined && {
    ...bodyOf(answer),
    ...(events && { "text/event-stream": { schema: wireSchema(events, given) } }),
  };
  return {
    summary,
    tags: [tag],
    parameters: [...inPath, ...inQuery],
    ...(audience === "anyone" && { security: [] }),
    ...(body && { requestBody: requestOf("application/json", body, asked) }),
    ...(form && { requestBody: requestOf("multipart/form-data", form, asked) }),
    ...(upload && { requestBody: { required: true, content: { [upload]: { schema: BYTES } } } }),
    responses: {
      [status]: { description: STATUS_CODES[status], ...(content && { content }) },
      ...Object.fromEntries(refused),
    },
  };
}

const requestOf = (type: string, declared: TSchema, asked: Rendering) => ({
  required: true,
  content: { [type]: { schema: wireSchema(declared, asked) } },
});

function parametersOf({ properties = {}, required = [] }: JsonSchema): readonly object[] {
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, schema]) => ({
    name,
    in: "query",
    required: (required as readonly string[]).includes(name),
    schema,
  }));
}
