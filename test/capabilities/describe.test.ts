import { expect, test } from "vitest";
import { compareCapabilities, describeCapabilities } from "../../capabilities/describe.ts";
import { METHODS } from "../../capabilities/methods.ts";
import schema from "../../capabilities/schema.json" with { type: "json" };
import { parseCapabilities } from "../../host/catalog/catalog.ts";
import { describeTool } from "../../host/catalog/tool-info.ts";

function capabilities(http: unknown, rest: object = {}) {
  return parseCapabilities({ version: "1.0.0", wit_version: "0.1.0", http, ...rest });
}

const rule = (host: string, path_prefix: string, ...methods: string[]) => ({ host, path_prefix, methods });
const bearer = (secret_name: string, ...host_patterns: string[]) => ({
  secret_name,
  location: { type: "bearer" },
  host_patterns,
});

test("a tool with no rules, or only rules without methods, may not use the network", () => {
  expect(describeCapabilities(parseCapabilities({ version: "1.0.0", wit_version: "0.1.0" }))[0]).toBe(
    "may not use the network",
  );
  expect(describeCapabilities(capabilities({ allowlist: [rule("a.com", "/")] }))[0]).toBe(
    "may not use the network",
  );
});

test("a credential is listed with each rule it applies to, and with its hosts if it applies to only some", () => {
  const sentences = describeCapabilities(
    capabilities({
      allowlist: [rule("*.example.com", "/", "GET"), rule("other.com", "/v1", "POST", "PUT")],
      credentials: { a: bearer("t", "api.example.com") },
    }),
  );
  expect(sentences.slice(0, 2)).toEqual([
    "may GET https://*.example.com/*, up to 60 requests per minute and 500 per hour, with `t` as the bearer token (only to api.example.com)",
    "may POST, PUT https://other.com/v1 and /v1/*, up to 60 requests per minute and 500 per hour",
  ]);
});

test("a method that few people know is explained, and is new where it was not allowed", () => {
  const names = Object.keys(METHODS);
  expect(names).toEqual(schema.$defs.method.enum);
  expect(names).not.toEqual(expect.arrayContaining(["CONNECT"]));
  expect(names).not.toEqual(expect.arrayContaining(["TRACE"]));
  const before = capabilities({ allowlist: [rule("a.com", "/", "GET", "PROPFIND")] });
  const after = capabilities({ allowlist: [rule("a.com", "/", "GET", "PROPFIND", "MOVE", "MKCALENDAR")] });
  expect(describeCapabilities(before)[0]).toBe(
    "may GET, PROPFIND (list what is there) https://a.com/*, up to 60 requests per minute and 500 per hour",
  );
  expect(compareCapabilities(before, after).added).toEqual([
    "may MOVE (move or rename, also over what is there), MKCALENDAR (create a calendar) https://a.com/*",
  ]);
});

test.each([
  [["GET", "PROPFIND", "REPORT"], { writes: false, destructive: false }],
  [["GET", "MKCALENDAR"], { writes: true, destructive: false }],
  [["PROPFIND", "PROPPATCH"], { writes: true, destructive: true }],
  [["COPY"], { writes: true, destructive: true }],
])("a tool that may send %s is one that %o", (methods, { writes, destructive }) => {
  const may = capabilities({ allowlist: [rule("a.com", "/", ...methods)] });
  const told = describeTool({ description: "", schema: {}, capabilities: may, grants: [] });
  expect(told).toMatchObject({ writes, hints: { readOnly: !writes, destructive } });
});

test("each of the five credential locations is described", () => {
  const at = (location: object) =>
    describeCapabilities(
      capabilities({
        allowlist: [rule("a.com", "/", "GET")],
        credentials: { c: { secret_name: "t", location, host_patterns: ["a.com"] } },
      }),
    )[0]?.split("per hour, ")[1];
  expect(at({ type: "bearer" })).toBe("with `t` as the bearer token");
  expect(at({ type: "basic", username: "me" })).toBe('with `t` as the password for "me"');
  expect(at({ type: "header", name: "X-Key" })).toBe("with `t` in the header X-Key");
  expect(at({ type: "query_param", name: "key" })).toBe("with `t` in the query parameter key");
  expect(at({ type: "url_path", placeholder: "K" })).toBe("with `t` replacing {K} in the path");
});

test("the text of PDF documents is named, and is more than a tool without it may have", () => {
  const http = { allowlist: [rule("a.com", "/", "GET")] };
  const text = capabilities({ ...http, pdf_as_text: true });
  const sentence = "gets the text of PDF documents, which Postern reads, instead of the documents";
  expect(describeCapabilities(text)).toContain(sentence);
  expect(compareCapabilities(capabilities(http), text)).toEqual({ added: [sentence], removed: [] });
  expect(compareCapabilities(text, capabilities(http))).toEqual({ added: [], removed: [sentence] });
  expect(compareCapabilities(text, text)).toEqual({ added: [], removed: [] });
});

test("reordering a file changes nothing", () => {
  const one = capabilities({ allowlist: [rule("a.com", "/", "GET"), rule("b.com", "/", "GET")] });
  const two = capabilities({ allowlist: [rule("b.com", "/", "GET"), rule("a.com", "/", "GET")] });
  expect(compareCapabilities(one, two)).toEqual({ added: [], removed: [] });
});

test("what an earlier rule already covers is not new", () => {
  const before = capabilities({ allowlist: [rule("*.example.com", "/", "GET", "POST")] });
  const after = capabilities({ allowlist: [rule("api.example.com", "/v1/", "GET")] });
  const { added, removed } = compareCapabilities(before, after);
  expect(added).toEqual([]);
  expect(removed).toEqual(["may GET, POST https://*.example.com/*"]);
});

test("only the new host, path, method, wildcard or credential is listed", () => {
  const before = capabilities({ allowlist: [rule("a.example.com", "/v1/", "GET")] });
  const widened = (http: object) => compareCapabilities(before, capabilities(http)).added;
  expect(widened({ allowlist: [rule("a.example.com", "/v1/", "GET", "POST")] })).toEqual([
    "may POST https://a.example.com/v1/*",
  ]);
  expect(widened({ allowlist: [rule("a.example.com", "/", "GET")] })).toEqual([
    "may GET https://a.example.com/*",
  ]);
  expect(widened({ allowlist: [rule("*.example.com", "/v1/", "GET")] })).toEqual([
    "may GET https://*.example.com/v1/*",
  ]);
  expect(
    widened({
      allowlist: [rule("a.example.com", "/v1/", "GET")],
      credentials: { a: bearer("t", "*.example.com") },
    }),
  ).toEqual(["may send requests to https://a.example.com/v1/* with `t` as the bearer token"]);
});

test("an exact host does not cover its subdomains", () => {
  const before = capabilities({ allowlist: [rule("example.com", "/", "GET")] });
  const after = capabilities({ allowlist: [rule("*.example.com", "/", "GET")] });
  expect(compareCapabilities(before, after).added).toEqual(["may GET https://*.example.com/*"]);
});

test("raised limits and new secrets and scopes are added; lowered limits are removed", () => {
  const oauth = (scopes: string[]) => ({
    secret_name: "t",
    oauth: {
      authorization_url: "https://id.example.com/a",
      token_url: "https://id.example.com/t",
      client_id: "c",
      scopes,
    },
  });
  const before = capabilities(
    { rate_limit: { requests_per_minute: 10, requests_per_hour: 100 } },
    { limits: { memory_mb: 64 }, auth: oauth(["read"]) },
  );
  const after = capabilities(
    { rate_limit: { requests_per_minute: 20, requests_per_hour: 50 } },
    { limits: { memory_mb: 128 }, auth: oauth(["read", "write"]), secrets: { allowed_names: ["t"] } },
  );
  expect(compareCapabilities(before, after)).toEqual({
    added: [
      "may check whether `t` is set",
      "requests the scope write when signing you in",
      "may send up to 20 requests per minute (was 10)",
      "may use up to 128 MiB of memory (was 64)",
    ],
    removed: ["may send up to 100 requests per hour (now 50)"],
  });
});

test("what a file says of its params is among the grants, and a change of it is new", () => {
  const say = (params: object) => capabilities({}, { params });
  const before = say({ to: "destination", text: "content" });
  expect(describeCapabilities(before)).toEqual(
    expect.arrayContaining([
      "says that `to` is where a call goes",
      "says that `text` is what a call carries",
    ]),
  );
  const after = say({ to: "selector", text: "content" });
  expect(compareCapabilities(before, after).added).toEqual(["says that `to` is which thing a call is about"]);
  expect(compareCapabilities(after, after).added).toEqual([]);
});

test("grants name the ports, and plain http, that the operator lets tools use at a host", () => {
  const file = {
    version: "1.0.0",
    wit_version: "0.1.0",
    http: {
      allowlist: [
        { host: "*.corp.test", path_prefix: "/v1", methods: ["GET"] },
        { host: "api.test", path_prefix: "/", methods: ["GET"] },
      ],
    },
  };
  const [wild, plain] = describeCapabilities(parseCapabilities(file), ["a.corp.test:8080", "other.test:81"]);
  expect(wild).toMatch(
    /^may GET https:\/\/\*\.corp\.test\/v1 and \/v1\/\* or http\(s\):\/\/a\.corp\.test:8080\/v1 and \/v1\/\*, up to/,
  );
  expect(plain).toMatch(/^may GET https:\/\/api\.test\/\*, up to/);
});

test("folders of the workspace are agreed to in words, and a wider grant is asked about", () => {
  const file = (...files: (readonly [path: string, access: string])[]) =>
    capabilities(undefined, { files: files.map(([path, access]) => ({ path, access })) });
  const wide = file(["/", "read"], ["/output", "write"], ["/a b/ü/", "write"]);
  expect(describeCapabilities(wide)).toEqual(
    expect.arrayContaining([
      "may read every file of the workspace",
      "may read and write the folder output of the workspace",
      "may read and write the folder a b/ü of the workspace",
    ]),
  );
  expect(describeCapabilities(file(["/", "write"]))).toContain(
    "may read and write every file of the workspace",
  );
  const added = (before: typeof wide, after: typeof wide) => compareCapabilities(before, after).added;
  expect(added(file(["/reports", "read"]), file(["/reports", "write"]))).toEqual([
    "may read and write the folder reports of the workspace",
  ]);
  expect(added(file(["/reports", "write"]), file(["/reports/2026", "read"]))).toEqual([]);
  expect(added(file(["/reports", "write"]), file(["/reports2", "read"]))).toEqual([
    "may read the folder reports2 of the workspace",
  ]);
  expect(added(file(["/", "read"]), wide)).toHaveLength(2);
  expect(added(wide, file(["/", "read"]))).toEqual([]);
});
