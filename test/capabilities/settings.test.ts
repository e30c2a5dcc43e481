import { expect, test } from "vitest";
import { compareCapabilities, describeCapabilities } from "../../capabilities/describe.ts";
import { CapabilitiesError } from "../../capabilities/parse.ts";
import { readSetting } from "../../capabilities/settings.ts";
import { parseCapabilities } from "../../host/catalog/catalog.ts";

const versions = { version: "1.0.0", wit_version: "0.1.0" };
const rate_limit = { requests_per_minute: 30, requests_per_hour: 300 };
const anyPage = { host: "*", path_prefix: "/", methods: ["GET", "HEAD"] };
const server = { name: "base_url", description: "Your search server.", format: "url", required: true };
const search = {
  ...versions,
  settings: [server],
  http: {
    allowlist: [{ host: { setting: "base_url" }, path_prefix: "/search", methods: ["GET"] }],
    credentials: {
      key: { secret_name: "t", location: { type: "bearer" }, host_patterns: [{ setting: "base_url" }] },
    },
  },
};

function problemsOf(file: unknown): readonly string[] {
  try {
    parseCapabilities(file);
    return [];
  } catch (error) {
    if (error instanceof CapabilitiesError) return error.problems.map(({ path }) => path);
    throw error;
  }
}

test("the host * is said in words, and is wider than any other", () => {
  const web = parseCapabilities({ ...versions, http: { allowlist: [anyPage], rate_limit, redirects: true } });
  expect(describeCapabilities(web).slice(0, 2)).toEqual([
    "may read any public web page, without credentials, up to 30 requests per minute and 300 per hour",
    "follows redirects, up to 5, to where it may send requests",
  ]);
  expect(describeCapabilities(web, ["lan.test:8080"])[0]).toContain(
    "credentials, and http(s)://lan.test:8080,",
  );
  const one = parseCapabilities({
    ...versions,
    http: { allowlist: [{ ...anyPage, host: "*.example.com" }], rate_limit },
  });
  expect(compareCapabilities(one, web).added).toEqual([
    "may read any public web page, without credentials",
    "follows redirects, up to 5, to where it may send requests",
  ]);
  expect(compareCapabilities(web, one).added).toEqual([]);
});

test("* stands beside no credential, no method that writes, no path, and only with both rate limits", () => {
  const credentials = { a: { secret_name: "t", location: { type: "bearer" }, host_patterns: ["a.test"] } };
  const other = { host: "a.test", path_prefix: "/", methods: ["POST"] };
  expect(problemsOf({ ...versions, http: { allowlist: [anyPage], rate_limit } })).toEqual([]);
  expect(
    problemsOf({
      ...versions,
      http: { allowlist: [{ ...anyPage, path_prefix: "/a", methods: ["PUT"] }, other], credentials },
      auth: { secret_name: "t" },
    }),
  ).toEqual([
    "http.allowlist[0].methods",
    "http.allowlist[0].path_prefix",
    "http.allowlist[1].methods",
    "http.credentials",
    "auth",
    "http.rate_limit",
  ]);
  expect(
    problemsOf({ ...versions, http: { allowlist: [anyPage], rate_limit: { requests_per_minute: 1 } } }),
  ).toEqual(["http.rate_limit"]);
  expect(
    problemsOf({ ...versions, http: { credentials: { a: { ...credentials.a, host_patterns: ["*"] } } } }),
  ).toEqual(["http.credentials.a.host_patterns[0]"]);
});

test("a setting may stand for a host; without a value it allows nothing, with one it is in the words", () => {
  const unset = parseCapabilities(search);
  expect(unset.http?.allowlist[0]?.host).toBe("");
  expect(describeCapabilities(unset).slice(0, 2)).toEqual([
    "may GET https://<base_url>/search and /search/* (the setting `base_url`, which has no value yet)",
    "reads the setting `base_url`, which has no value yet: Your search server.",
  ]);
  const chosen = parseCapabilities(search, {
    settings: { base_url: "https://Search.Example.com/base/", other: "x" },
    privateHosts: ["elsewhere.test:81"],
  });
  expect(chosen.http).toMatchObject({
    allowlist: [{ host: "search.example.com", pathPrefix: "/base/search" }],
    credentials: [{ hostPatterns: ["search.example.com"] }],
    privateHosts: [],
  });
  expect(describeCapabilities(chosen).slice(0, 2)).toEqual([
    "may GET https://search.example.com/base/search and /base/search/* (the setting `base_url`), up to 60 requests per minute and 500 per hour, with `t` as the bearer token",
    'reads the setting `base_url`, which is "https://search.example.com/base": Your search server.',
  ]);
  const moved = parseCapabilities(search, {
    settings: { base_url: "http://lan.test:8888" },
    privateHosts: ["lan.test:8888"],
  });
  expect(compareCapabilities(chosen, moved).added).toEqual([
    "may GET https://lan.test/search and /search/* or http(s)://lan.test:8888/search and /search/* (the setting `base_url`)",
    "may send requests to https://lan.test/search and /search/* with `t` as the bearer token",
    "may reach lan.test:8888, also if it is private, because you allowed it",
  ]);
});

test("what cannot be a declaration is refused, each with its place", () => {
  const declare = (...settings: object[]) => ({ ...versions, settings });
  const text = { name: "a", description: "x", format: "text" };
  expect(problemsOf(declare(text))).toEqual([]);
  expect(problemsOf(declare(text, text))).toEqual(["settings[1].name"]);
  expect(problemsOf(declare({ ...text, name: "A b" }))).toEqual(["settings[0].name"]);
  expect(problemsOf(declare({ ...text, format: "secret" }))).toEqual(["settings[0].format"]);
  expect(problemsOf(declare({ ...text, format: "number", default: "many" }))).toEqual([
    "settings[0].default",
  ]);
  expect(problemsOf(declare({ ...text, format: "url", default: "http://10.0.0.1:81" }))).toEqual([
    "settings[0].default",
  ]);
  const allowlist = [{ host: { setting: "a" }, path_prefix: "/", methods: ["GET"] }];
  expect(problemsOf({ ...declare(text), http: { allowlist } })).toEqual(["http.allowlist[0].host.setting"]);
  expect(problemsOf({ ...versions, http: { allowlist } })).toEqual(["http.allowlist[0].host.setting"]);
});

test.each([
  ["url", "https://a.test", "https://a.test"],
  ["url", " HTTPS://A.test:443/b/ ", "https://a.test/b"],
  ["url", "http://10.0.0.1:8888/", "http://10.0.0.1:8888"],
  ["url", "http://[fd00::1]:80", "http://[fd00::1]"],
  ["host", "A.Test", "a.test"],
  ["number", "-1.5", "-1.5"],
  ["boolean", "true", "true"],
  ["text", "{any} words", "{any} words"],
] as const)("the %s %j is a value", (format, given, value) => {
  expect(readSetting(format, given)).toEqual({ ok: true, value });
});

test.each([
  ...["javascript:alert(1)", "file:///etc/passwd", "ftp://a.test", "//a.test", "a.test", "https:a.test"],
  ...["https:///a.test", "https://a.test\\@b.test", "https://b.test@a.test", "https://a.test/?q={x}"],
  ...[
    "https://{host}/",
    "https://$HOST/",
    "https://*.test/",
    "https://a.test/{path}",
    "https://a.test/%2e%2e",
  ],
  ...["https://a.test/../b", "https://a.test//b", "https://a.test#b", "https://a b.test", "https://127.1/"],
  ...["https://0x7f.0.0.1/", "https://2130706433/", "https://0177.0.0.1/", "https://[::ffff:7f00:1%25eth0]/"],
  ...["https://a.test:99999", "https://a.test:", "https://\u0430.test", "https://a.test\u200b/", "", " "],
])("%j is no address for a setting", (given) => {
  expect(readSetting("url", given)).toMatchObject({ ok: false });
});

test.each([
  "a.test:80",
  "https://a.test",
  "a.test/b",
  "*.a.test",
  "*",
  "{x}",
  "127.1",
  "a.test.",
  "u@a.test",
])("%j is no host for a setting", (given) => {
  expect(readSetting("host", given)).toMatchObject({ ok: false });
});

test("a value with what nobody sees, or that is too long, is refused in every format", () => {
  expect(readSetting("text", "a\u202eb")).toMatchObject({ ok: false });
  expect(readSetting("text", "a\nb")).toMatchObject({ ok: false });
  expect(readSetting("text", "a".repeat(2001))).toMatchObject({ ok: false });
});
