import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { describeCapabilities } from "../../capabilities/describe.ts";
import { CapabilitiesError } from "../../capabilities/parse.ts";
import schema from "../../capabilities/schema.json" with { type: "json" };
import { refuseVariable } from "../../capabilities/variables.ts";
import { parseCapabilities } from "../../host/catalog/catalog.ts";
import host from "../../host/plugin.ts";
import type { AnyPlugin } from "../../kernel/plugin.ts";
import { Settings } from "../../kernel/settings/env.ts";
import gateway from "../../plugins/gateway/plugin.ts";
import responses from "../../plugins/responses/plugin.ts";
import store from "../../plugins/store/plugin.ts";
import telemetry from "../../plugins/telemetry/plugin.ts";
import tui from "../../plugins/tui/plugin.ts";
import webhook from "../../plugins/webhook/plugin.ts";
import { agentPlugins } from "../support/services/agent-plugins.ts";

const full = {
  $schema: "./schema.json",
  version: "1.2.0",
  wit_version: "0.1.0",
  http: {
    allowlist: [{ host: "API.Example.com", path_prefix: "/v1/", methods: ["GET", "POST"] }],
    rate_limit: { requests_per_minute: 10, requests_per_hour: 100 },
    timeout_secs: 5,
    redirects: true,
    pdf_as_text: true,
    credentials: {
      a: {
        secret_name: "t",
        optional: true,
        location: { type: "bearer" },
        host_patterns: ["API.example.com"],
      },
      b: { secret_name: "t", location: { type: "basic", username: "me" }, host_patterns: ["*.example.com"] },
      c: {
        secret_name: "t",
        location: { type: "header", name: "X-Key" },
        host_patterns: ["api.example.com"],
      },
      d: {
        secret_name: "t",
        location: { type: "query_param", name: "key" },
        host_patterns: ["api.example.com"],
      },
      e: {
        secret_name: "t",
        location: { type: "url_path", placeholder: "KEY" },
        host_patterns: ["api.example.com"],
      },
    },
  },
  limits: { memory_mb: 32, timeout_secs: 20 },
  secrets: { allowed_names: ["t"] },
  auth: {
    secret_name: "t",
    display_name: "Example",
    instructions: "Sign in.",
    setup_url: "https://example.com/setup",
    token_hint: "ex_…",
    env_var: "EXAMPLE_TOKEN",
    oauth: {
      authorization_url: "https://id.example.com/authorize",
      token_url: "https://id.example.com/token",
      client_id_secret: "client_id",
      client_secret_secret: "client_secret",
      scopes: ["read", "write"],
    },
  },
  setup: { required_secrets: [{ name: "client_id", prompt: "Client id" }, { name: "client_secret" }] },
  params: { to: "destination" },
  settings: [
    {
      name: "base_url",
      description: "The server to ask.",
      format: "url",
      default: "https://API.example.com/base/",
      required: true,
    },
  ],
  state: { max_mb: 2 },
  files: [{ path: "/reports", access: "write" }],
  agent_tools: ["weather", "memory_search"],
};

function problemsOf(source: unknown) {
  try {
    parseCapabilities(source);
  } catch (error) {
    if (error instanceof CapabilitiesError) return error.problems;
    throw error;
  }
  return [];
}

test("§4.4 every key of a capabilities file is parsed", () => {
  expect(parseCapabilities(JSON.stringify(full))).toEqual({
    version: "1.2.0",
    witVersion: "0.1.0",
    http: {
      allowlist: [{ host: "api.example.com", pathPrefix: "/v1/", methods: ["GET", "POST"] }],
      rateLimit: { perMinute: 10, perHour: 100 },
      timeoutSecs: 5,
      credentials: [
        {
          name: "a",
          isOptional: true,
          secretName: "t",
          location: { type: "bearer" },
          hostPatterns: ["api.example.com"],
        },
        {
          name: "b",
          isOptional: false,
          secretName: "t",
          location: { type: "basic", username: "me" },
          hostPatterns: ["*.example.com"],
        },
        {
          name: "c",
          isOptional: false,
          secretName: "t",
          location: { type: "header", name: "X-Key", prefix: "" },
          hostPatterns: ["api.example.com"],
        },
        {
          name: "d",
          isOptional: false,
          secretName: "t",
          location: { type: "query_param", name: "key" },
          hostPatterns: ["api.example.com"],
        },
        {
          name: "e",
          isOptional: false,
          secretName: "t",
          location: { type: "url_path", placeholder: "{KEY}" },
          hostPatterns: ["api.example.com"],
        },
      ],
      redirects: true,
      pdfAsText: true,
      privateHosts: [],
    },
    limits: { memoryMb: 32, timeoutSecs: 20 },
    secretNames: ["t"],
    auth: {
      secretName: "t",
      displayName: "Example",
      instructions: "Sign in.",
      setupUrl: "https://example.com/setup",
      tokenHint: "ex_…",
      envVar: "EXAMPLE_TOKEN",
      oauth: {
        authorizationUrl: "https://id.example.com/authorize",
        tokenUrl: "https://id.example.com/token",
        clientId: undefined,
        clientIdSecret: "client_id",
        clientSecretSecret: "client_secret",
        scopes: ["read", "write"],
      },
    },
    requiredSecrets: [
      { name: "client_id", prompt: "Client id" },
      { name: "client_secret", prompt: "client_secret" },
    ],
    params: { to: "destination" },
    settings: [
      {
        name: "base_url",
        description: "The server to ask.",
        format: "url",
        isRequired: true,
        default: "https://api.example.com/base",
        value: "https://api.example.com/base",
      },
    ],
    state: { maxMb: 2 },
    files: [{ path: "/reports", access: "write" }],
    agentTools: ["weather", "memory_search"],
  });
});

test("§4.4 a file with only its versions grants no network and the default limits", () => {
  const capabilities = parseCapabilities({ version: "1.0.0", wit_version: "0.1.0" });
  expect(capabilities.http).toBeUndefined();
  expect(capabilities.limits).toEqual({ memoryMb: 64, timeoutSecs: 60 });
  expect(capabilities.secretNames).toEqual([]);
});

test("all problems are reported at once, each with its path, what must be there and what is given", () => {
  const problems = problemsOf({
    version: 1,
    http: {
      allowlist: [
        { host: "https://api.example.com", path_prefix: "v1", methods: ["get"] },
        { host: "*.*", path_prefix: "/a/../b", methods: ["TRACE"], ports: [1] },
        { path_prefix: "/", methods: [] },
      ],
      rate_limit: { requests_per_minute: 0 },
      credentials: { a: { secret_name: "t", location: { type: "cookie" }, host_patterns: [] } },
    },
    limits: { memory_mb: 1e9 },
  });
  expect(problems.map(({ path }) => path).sort()).toEqual(
    [
      "version",
      "wit_version",
      "http.allowlist[0].host",
      "http.allowlist[0].path_prefix",
      "http.allowlist[0].methods[0]",
      "http.allowlist[1].host",
      "http.allowlist[1].path_prefix",
      "http.allowlist[1].methods[0]",
      "http.allowlist[1].ports",
      "http.allowlist[2].host",
      "http.rate_limit.requests_per_minute",
      "http.credentials.a.location.type",
      "http.credentials.a.host_patterns",
      "limits.memory_mb",
    ].sort(),
  );
  const at = (path: string) => problems.find((problem) => problem.path === path);
  expect(at("version")?.problem).toBe('must be a version such as "1.2.0", given 1');
  expect(at("wit_version")?.problem).toBe('is missing: it must be a version such as "1.2.0"');
  expect(at("http.allowlist[0].methods[0]")?.problem).toBe(
    'must be an HTTP method in capitals: one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, PROPFIND, REPORT, PROPPATCH, MKCALENDAR, MOVE, COPY, given "get"',
  );
  expect(at("http.allowlist[1].ports")?.problem).toBe("is not known; known are host, path_prefix, methods");
  expect(at("http.credentials.a.location.type")?.problem).toBe(
    'must be one of "bearer", "basic", "header", "query_param", "url_path", given "cookie"',
  );
  expect(at("http.rate_limit.requests_per_minute")?.problem).toBe("must be between 1 and 100000, given 0");
});

test.each([
  ["", ""],
  ["{", ""],
  ["[]", ""],
  ["null", ""],
])("text that is not a JSON object (%s) is rejected as a whole", (text, path) => {
  expect(problemsOf(text).map((problem) => problem.path)).toEqual([path]);
});

test.each([
  "**",
  "*.com",
  "a..b",
  ".a.com",
  "a.com.",
  "a.com:443",
  "a.com/",
  "user@a.com",
  "a b.com",
  "*.*.a.com",
  "",
])("%j is not a valid host", (host) => {
  const http = { allowlist: [{ host, path_prefix: "/", methods: ["GET"] }] };
  expect(problemsOf({ version: "1.0.0", wit_version: "0.1.0", http }).map(({ path }) => path)).toEqual([
    "http.allowlist[0].host",
  ]);
});

test.each(["", "v1", "//", "/a//b", "/.", "/a/..", "/a/./b", "/%61", "/a?b", "/a#b", "/a\\b", "/a b"])(
  "%j is not a valid path prefix",
  (path_prefix) => {
    const http = { allowlist: [{ host: "a.com", path_prefix, methods: ["GET"] }] };
    expect(problemsOf({ version: "1.0.0", wit_version: "0.1.0", http }).map(({ path }) => path)).toEqual([
      "http.allowlist[0].path_prefix",
    ]);
  },
);

test("a credential cannot go into a header that controls the connection", () => {
  const credentials = {
    a: { secret_name: "t", location: { type: "header", name: "hOst" }, host_patterns: ["a.com"] },
  };
  expect(problemsOf({ version: "1.0.0", wit_version: "0.1.0", http: { credentials } })[0]?.path).toBe(
    "http.credentials.a.location.name",
  );
});

test.each([
  "POSTERN_SECRETS_KEY",
  "SERVICE_REBORN_WEBUI_TOKEN",
  "GATEWAY_AUTH_TOKEN",
  "MODEL_API_KEY",
  "ANTHROPIC_API_KEY",
  "OpenAI_API_Key",
  "AWS_SECRET_ACCESS_KEY",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "AZURE_CLIENT_SECRET",
  "NPM_TOKEN",
  "PATH",
  "A B",
])("a tool cannot be given %s as its credential", (env_var) => {
  const auth = { secret_name: "t", env_var };
  expect(problemsOf({ version: "1.0.0", wit_version: "0.1.0", auth })[0]?.path).toBe("auth.env_var");
});

test("a tool cannot be given any setting of ours", () => {
  const settings = new Settings({});
  for (const plugin of [
    store,
    host,
    ...agentPlugins,
    telemetry,
    tui,
    gateway,
    responses,
    webhook,
  ] as readonly AnyPlugin[])
    plugin.configure(settings.for(plugin.name));
  const names = settings.declared.map(({ name }) => name);
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter((name) => refuseVariable(name) === undefined)).toEqual([]);
});

test("the environment variable of a tool of its own kind is a sentence in the grants", () => {
  const auth = { secret_name: "t", env_var: "GITHUB_TOKEN" };
  const capabilities = parseCapabilities({ version: "1.0.0", wit_version: "0.1.0", auth });
  expect(describeCapabilities(capabilities)).toContain(
    "gets `t` from the environment variable GITHUB_TOKEN if it is set",
  );
});

test("OAuth needs a client ID", () => {
  const oauth = { authorization_url: "https://a.com/x", token_url: "https://a.com/y" };
  expect(
    problemsOf({ version: "1.0.0", wit_version: "0.1.0", auth: { secret_name: "t", oauth } })[0]?.path,
  ).toBe("auth.oauth.client_id");
});

test("the README's example parses, and its description matches the README", () => {
  const readme = readFileSync(new URL("../../capabilities/README.md", import.meta.url), "utf8");
  const block = (language: string) => readme.split(`\`\`\`${language}\n`)[1]?.split("\n```")[0] ?? "";
  expect(describeCapabilities(parseCapabilities(block("json")))).toEqual(block("text").split("\n"));
});

test("the schema of capabilities files is valid, since it is not checked when used", () => {
  expect(() => new Ajv2020({ discriminator: true }).compile(schema)).not.toThrow();
});

test("§4.4 any two rate limits are accepted, and secrets to set up may be plain names", () => {
  const parsed = parseCapabilities({
    version: "1.0.0",
    wit_version: "0.1.0",
    http: { rate_limit: { requests_per_minute: 60, requests_per_hour: 10 } },
    setup: { required_secrets: ["client_id", { name: "client_secret", prompt: "Client secret" }] },
  });
  expect(parsed.http?.rateLimit).toEqual({ perMinute: 60, perHour: 10 });
  expect(parsed.requiredSecrets).toEqual([
    { name: "client_id", prompt: "client_id" },
    { name: "client_secret", prompt: "Client secret" },
  ]);
  for (const [secret, problem] of [
    ["a b", "must be the name of a secret: "],
    [7, "must be the name of a secret, or an object with its name and the prompt to ask for it, given 7"],
  ])
    expect(() =>
      parseCapabilities({ version: "1.0.0", wit_version: "0.1.0", setup: { required_secrets: [secret] } }),
    ).toThrow(`setup.required_secrets[0]: ${problem}`);
});

test("a file may say what params are for; another word, or no name, is refused", () => {
  const file = { version: "1.0.0", wit_version: "0.1.0" };
  expect(parseCapabilities(file).params).toEqual({});
  const params = { to: "destination", "message.text": "content", id: "selector" };
  expect(parseCapabilities({ ...file, params }).params).toEqual(params);
  expect(problemsOf({ ...file, params: { to: "harmless" } })).toEqual([
    {
      path: "params.to",
      problem: 'must be one of "destination", "content", "selector", given "harmless"',
    },
  ]);
  expect(problemsOf({ ...file, params: { "a b": "content" } })).toHaveLength(1);
  expect(problemsOf({ ...file, params: "content" }).map(({ path }) => path)).toEqual(["params"]);
});

test("__proto__ is an unknown key like any other: refused, and nothing in it is granted", () => {
  const http = '{"allowlist":[{"host":"example.com","path_prefix":"/","methods":["GET"]}]}';
  const known = '"version":"1.0.0","wit_version":"0.1.0"';
  for (const [text, path] of [
    [`{${known},"__proto__":{"http":${http}}}`, "__proto__"],
    [`{${known},"http":{"__proto__":${http}}}`, "http.__proto__"],
  ] as const)
    expect(() => parseCapabilities(text)).toThrow(`${path}: is not known`);
});

test.each(["\u001b[2K", "\n", "\u009b", "\u202e", "\u2066", "\u200b", "\ufeff", "\u2028"])(
  "no name or value holds %j, wherever it stands; the message spells it out",
  (character) => {
    const file = { version: "1.0.0", wit_version: "0.1.0" };
    const auth = { secret_name: "t", instructions: `a${character}b` };
    const [value] = problemsOf({ ...file, auth });
    expect(value?.path).toBe("auth.instructions");
    expect(value?.problem).toMatch(
      /^must not hold control, direction-changing or invisible characters, given "a\\/,
    );
    const [name] = problemsOf({ ...file, [`x${character}`]: 1 });
    expect(name?.path).toMatch(/^x\\/);
    expect(JSON.stringify([value, name])).not.toContain(character);
  },
);

test("a file that nests without end is refused like any other", () => {
  const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
  expect(() => parseCapabilities(deep)).toThrow(CapabilitiesError);
});

test.each([
  ...[
    "reports",
    "",
    "//reports",
    "/reports//a",
    "/reports/../secret",
    "/./reports",
    "/..",
    "/reports\\..",
    "garden:/plan",
  ],
])("%j is no folder of the workspace", (path) => {
  const [problem] = problemsOf({ version: "1.0.0", wit_version: "0.1.0", files: [{ path, access: "read" }] });
  expect(problem).toMatchObject({
    path: "files[0].path",
    problem: expect.stringContaining("a folder such as"),
  });
});

test("a folder is named once, with what the tool may do there, and not beside every web page", () => {
  const file = { version: "1.0.0", wit_version: "0.1.0" };
  const folder = (path: string, access = "read") => ({ path, access });
  expect(parseCapabilities({ ...file, files: [folder("/reports/", "write"), folder("/")] }).files).toEqual([
    folder("/reports", "write"),
    folder("/"),
  ]);
  expect(parseCapabilities(file).files).toEqual([]);
  expect(problemsOf({ ...file, files: [folder("/a"), folder("/a/", "write")] })).toEqual([
    { path: "files[1].path", problem: 'must be given once, given "/a/" again' },
  ]);
  expect(problemsOf({ ...file, files: [folder("/a", "execute")] })[0]?.path).toBe("files[0].access");
  const http = {
    allowlist: [{ host: "*", path_prefix: "/", methods: ["GET"] }],
    rate_limit: { requests_per_minute: 1, requests_per_hour: 1 },
  };
  expect(problemsOf({ ...file, http, files: [folder("/a")] })).toMatchObject([{ path: "files" }]);
});

test("a file that calls tools names them, or all, and not beside any page of the web", () => {
  const base = { version: "1.0.0", wit_version: "0.1.0" };
  expect(parseCapabilities({ ...base, agent_tools: ["*"] }).agentTools).toEqual(["*"]);
  for (const agent_tools of [[], ["a b"], ["a", "a"], ["*", "a"], "weather"])
    expect(JSON.stringify(problemsOf({ ...base, agent_tools }))).toContain("agent_tools");
  const http = {
    allowlist: [{ host: "*", path_prefix: "/", methods: ["GET"] }],
    rate_limit: { requests_per_minute: 1, requests_per_hour: 1 },
  };
  expect(JSON.stringify(problemsOf({ ...base, http, agent_tools: ["weather"] }))).toContain("agent_tools");
});
