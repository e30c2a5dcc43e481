/** Files, operators, networks and requests near the edges of what `model.ts` and the broker have to judge alike. */
import fc from "fast-check";
import type { Asked, File, PolicyCase, World } from "./case.ts";

const HOSTS = [
  "a.test",
  "b.a.test",
  "c.b.a.test",
  "xa.test",
  "a.test.evil.test",
  "lan.test",
  "127.0.0.1",
  "10.0.0.7",
  "[::1]",
  "93.184.216.34",
  "[2606:4700::1111]",
] as const;
const ADDRESSES = [
  "93.184.216.34",
  "127.0.0.1",
  "10.1.2.3",
  "168.63.129.16",
  "168.63.129.17",
  "192.0.0.1",
  "192.0.1.1",
  "192.0.2.1",
  "192.88.99.1",
  "198.51.100.1",
  "203.0.113.1",
  "240.0.0.1",
  "2001::1",
  "2001:20::1",
  "2001:1ff::1",
  "2001:200::1",
  "3ffe::1",
  "3fff::1",
  "4000::1",
  "5f00::1",
  "100::1",
  "172.15.255.255",
  "172.16.0.1",
  "172.31.9.9",
  "172.32.0.1",
  "192.168.1.1",
  "192.167.1.1",
  "100.64.0.1",
  "100.63.255.255",
  "100.127.255.255",
  "100.128.0.1",
  "169.254.169.254",
  "169.253.1.1",
  "0.0.0.0",
  "1.0.0.1",
  "224.0.0.1",
  "223.255.255.254",
  "255.255.255.255",
  "198.18.0.1",
  "198.20.0.1",
  "2606:4700::1111",
  "::1",
  "::",
  "fe80::1",
  "fc00::1",
  "fd12::3",
  "::ffff:127.0.0.1",
  "::ffff:93.184.216.34",
  "64:ff9b::7f00:1",
  "2002:7f00:1::",
  "2001:db8::1",
  "ff02::1",
] as const;
const SECRETS = ["one", "two"] as const;
const SECRET_VALUES = { one: "sEcReT-0ne-0123456789", two: "t/w o?%&#:Sekret-987654321" } as const;
const METHODS = [
  ...(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const),
  ...(["PROPFIND", "REPORT", "PROPPATCH", "MKCALENDAR", "MOVE", "COPY"] as const),
] as const;
const PREFIXES = [
  "/",
  "/v1",
  "/v1/",
  "/v1/x",
  "/v1/{KEY}/",
  "/b/{TOKEN}",
  "/ü",
  "/v1/a+b",
  "/.well-known/",
] as const;
const SETTINGS = ["base_url", "server"] as const;

const pick = <Value>(values: readonly Value[]) => fc.constantFrom(...values);
const often = <Value>(usual: fc.Arbitrary<Value>, seldom: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 7, arbitrary: usual }, { weight: 1, arbitrary: seldom });

const pattern = fc.oneof(
  { weight: 6, arbitrary: pick<string>(HOSTS) },
  { weight: 2, arbitrary: pick(["*.a.test", "*.b.a.test", "*.test.evil.test", "A.Test"]) },
);
const namedHost = fc.oneof(
  { weight: 6, arbitrary: pattern as fc.Arbitrary<string | { setting: string }> },
  { weight: 1, arbitrary: pick(SETTINGS).map((setting) => ({ setting })) },
);
const methods = often(
  fc.subarray([...METHODS], { minLength: 1 }),
  fc.constant<(typeof METHODS)[number][]>([]),
);
const rule = fc.record({ host: namedHost, path_prefix: pick(PREFIXES), methods });
const pageRule = fc.record({
  host: fc.constant("*"),
  path_prefix: fc.constant("/"),
  methods: fc.subarray(["GET", "HEAD"], { minLength: 1 }),
});

const location = fc.oneof(
  fc.constant({ type: "bearer" }),
  pick(["", "me", "ü"]).map((username) => ({ type: "basic", username })),
  fc.record({
    type: fc.constant("header"),
    name: pick(["X-Key", "x-key", "Authorization", "Cookie"]),
    prefix: pick(["", "Token "]),
  }),
  pick(["key", "k y", "ü"]).map((name) => ({ type: "query_param", name })),
  pick(["KEY", "{TOKEN}"]).map((placeholder) => ({ type: "url_path", placeholder })),
);
const credential = fc.record({
  secret_name: pick(SECRETS),
  location,
  host_patterns: fc.array(namedHost, { minLength: 1, maxLength: 2 }),
});
const rate = fc.record({ requests_per_minute: pick([1, 2, 30]), requests_per_hour: pick([1, 3, 300]) });
const settings = fc.constant([
  { name: "base_url", description: "A server.", format: "url" },
  { name: "server", description: "Another.", format: "host", default: "a.test" },
]);

const plainHttp = fc.record(
  {
    allowlist: fc.array(rule, { minLength: 1, maxLength: 4 }),
    rate_limit: rate,
    redirects: fc.boolean(),
    credentials: fc.dictionary(pick(["m", "n"]), credential, { maxKeys: 2 }),
  },
  { requiredKeys: ["allowlist"] },
);
const pageHttp = fc.record({
  allowlist: fc
    .tuple(
      pageRule,
      fc.array(
        rule.map((given) => ({
          ...given,
          methods: given.methods.filter((method) => method === "GET" || method === "HEAD"),
        })),
        { maxLength: 2 },
      ),
    )
    .map(([page, others]) => [...others, page]),
  rate_limit: rate,
  redirects: fc.boolean(),
});
const file: fc.Arbitrary<File> = fc.record({
  version: fc.constant("1.0.0"),
  wit_version: fc.constant("0.1.0"),
  settings,
  http: often(plainHttp as fc.Arbitrary<object>, pageHttp),
});

const host = fc.oneof(
  { weight: 8, arbitrary: pick<string>(HOSTS) },
  {
    weight: 2,
    arbitrary: pick([
      "A.TEST",
      "a.test.",
      "a.test..",
      ".a.test",
      "a%2etest",
      "a。test",
      "ａ.test",
      "127.1",
      "0x7f.1",
      "2130706433",
      "[::ffff:127.0.0.1]",
      "localhost",
      "*.a.test",
      "a.test%00",
      "user@a.test",
      "a.test@b.a.test",
      ":@a.test",
      "a.test\\@evil.test",
      "",
    ]),
  },
);
const scheme = fc.oneof(
  { weight: 12, arbitrary: fc.constant("https://") },
  {
    weight: 1,
    arbitrary: pick([
      "http://",
      "HTTPS://",
      "https:",
      "https:/",
      "https:\\\\",
      "ftp://",
      "file://",
      "wss://",
      "//",
      " https://",
      "h\tttps://",
      "data:",
      "javascript:",
    ]),
  },
);
const port = fc.oneof(
  { weight: 8, arbitrary: fc.constant("") },
  { weight: 1, arbitrary: pick([":443", ":80", ":8443", ":0443", ":", ":65536", ":22"]) },
);
const segment = fc.oneof(
  {
    weight: 8,
    arbitrary: pick(["v1", "x", "b", "a+b", "{KEY}", "{TOKEN}", "%7BKEY%7D", "ü", "%C3%BC", ".well-known"]),
  },
  {
    weight: 2,
    arbitrary: pick([
      "",
      ".",
      "..",
      "%2e",
      "%2E%2e",
      ".%2e",
      "...",
      "%2f",
      "%5C",
      "\\",
      "v%31",
      "%76%31",
      "V1",
      "v1;a",
      "%00",
      "%ff",
      "%",
      "%zz",
      "%252f",
      "%25252525252525",
      "%2525252525252525",
      "%EF%BC%8F",
      "%EF%BC%8E%EF%BC%8E",
      "..;x",
      "%E3%80%82",
      "‥",
      "…",
      "%E2%88%95",
      "%25",
      "v1%20",
      "v1 ",
      "v10",
      "v1\t",
      "\n",
      "x%0d%0a",
      "{key}",
      "{KEY",
      "%7bKEY%7d",
    ]),
  },
);
const path = fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join("/")}`);
const query = fc.oneof(
  { weight: 6, arbitrary: fc.constant("") },
  {
    weight: 2,
    arbitrary: pick([
      "?",
      "?a=b",
      "?key=1",
      "?k%65y=1",
      "?k+y=1",
      "?key",
      "?x={KEY}",
      "?a=/../b",
      "#f",
      "?a#f/..",
      "?%",
      `?s=${SECRET_VALUES.one}`,
      "?ü=1",
      "?key=%",
    ]),
  },
);
const url = fc.tuple(scheme, host, port, path, query).map((parts) => parts.join(""));

const headerName = fc.oneof(
  { weight: 3, arbitrary: pick(["Accept", "accept-language", "X-Other", "content-type", "User-Agent"]) },
  {
    weight: 2,
    arbitrary: pick([
      "Authorization",
      "X-KEY",
      "cookie",
      "Host",
      "range",
      "If-Range",
      "Forwarded",
      "x-forwarded-for",
      "x-original-url",
      "X-HTTP-Method-Override",
      "x-override-host",
      "content-length",
      "te",
      "Accept-Encoding",
      "transfer-encoding",
      "x y",
      "",
      "ü",
      "a:b",
      "__proto__",
      "constructor",
      "origin",
      "referer",
      "expect",
      "if-none-match",
    ]),
  },
);
const headerValue = often(
  pick<unknown>(["1", "text/plain", "", "ü", "\t"]),
  pick<unknown>(["a\r\nb: c", "\u0000", "ā", 1, null, ["a"], "\u007f", SECRET_VALUES.two, " x "]),
);
const headersJson = fc.oneof(
  { weight: 6, arbitrary: fc.constant("{}") },
  {
    weight: 4,
    arbitrary: fc
      .array(fc.tuple(headerName, headerValue), { maxLength: 3 })
      .map(
        (pairs) =>
          `{${pairs.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`,
      ),
  },
  { weight: 1, arbitrary: url.map((destination) => JSON.stringify({ Destination: destination })) },
  { weight: 1, arbitrary: pick(["", "[]", "null", "{", "1", '"a"', " {} ", '{"a":"1","A":"2"}']) },
);
const body = fc.oneof(
  { weight: 750, arbitrary: fc.constant(undefined) },
  { weight: 250, arbitrary: pick(["", "x", SECRET_VALUES.one]) },
  { weight: 1, arbitrary: pick(["x".repeat(1024 * 1024), "x".repeat(1024 * 1024 + 1)]) },
);
const method = fc.oneof(
  { weight: 6, arbitrary: pick<string>(METHODS) },
  {
    weight: 1,
    arbitrary: pick(["get", "Post", "", "TRACE", "CONNECT", "GET ", "G\nET", "Propfind", "LOCK", "ſ"]),
  },
);
const free: fc.Arbitrary<Asked> = fc.record({ user: pick(["ada", "bob"]), method, url, headersJson, body });

/** A request that the file allows, so that one change away from it is an edge. */
function aimed(http: NonNullable<File["http"]>): fc.Arbitrary<Asked> {
  const rules = http.allowlist?.filter(({ methods: allowed }) => allowed.length > 0) ?? [];
  if (rules.length === 0) return free;
  return fc
    .tuple(pick(rules), free, host, fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }), fc.nat())
    .map(([chosen, other, anyHost, keeps, at]) => {
      const named = typeof chosen.host === "string" ? chosen.host : "a.test";
      const fits = named === "*" ? anyHost : named.replace("*", "q");
      const below = chosen.path_prefix.replace(/\/$/, "");
      const verb = chosen.methods[at % chosen.methods.length] ?? "GET";
      return {
        ...other,
        method: keeps[0] || keeps[1] ? verb : other.method,
        url: keeps[2]
          ? `https://${fits}${below}${keeps[3] ? "/x" : other.url.replace(/^[^/]*\/\/[^/]*/, "")}`
          : other.url,
        headersJson: keeps[4]
          ? JSON.stringify(/MOVE|COPY/.test(verb) ? { destination: `https://${fits}${below}/y` } : {})
          : other.headersJson,
        body: keeps[5] ? undefined : other.body,
      };
    });
}

const world: fc.Arbitrary<World> = fc.record({
  settings: fc.record(
    {
      base_url: pick([
        "https://a.test",
        "https://B.a.test/v1/",
        "http://lan.test:8443/x",
        "https://10.0.0.7",
      ]),
      server: pick(["b.a.test", "A.test"]),
    },
    { requiredKeys: [] },
  ),
  agreed: fc.subarray(["lan.test:8443", "10.0.0.7:443"]),
  privateHosts: fc.subarray(["lan.test:80", "lan.test:443", "a.test:8443", "127.0.0.1:80", "[::1]:443"]),
  addresses: fc.record(
    Object.fromEntries(
      [
        "a.test",
        "b.a.test",
        "c.b.a.test",
        "xa.test",
        "a.test.evil.test",
        "q.a.test",
        "q.b.a.test",
        "lan.test",
      ].map((name) => [
        name,
        often(fc.constant(["93.184.216.34"]), fc.array(pick(ADDRESSES), { maxLength: 2 })),
      ]),
    ),
    { requiredKeys: ["a.test"] },
  ) as fc.Arbitrary<Record<string, string[]>>,
  secrets: pick<World["secrets"]>([SECRET_VALUES, SECRET_VALUES, { one: SECRET_VALUES.one }, {}]),
  redirects: fc.dictionary(
    pick([
      "https://a.test/",
      "https://a.test/x",
      "https://a.test/v1/x",
      "https://b.a.test/",
      "http://lan.test/",
      "https://xa.test/",
      "https://xa.test/x",
    ]),
    fc.record({
      status: pick([301, 302, 303, 307, 308]),
      location: pick([
        "https://a.test/x",
        "/v1/x",
        "x",
        "https://b.a.test/",
        "http://lan.test/",
        "https://lan.test/",
        "http://a.test/x",
        "https://xa.test/",
        "//xa.test/x",
        "https://10.0.0.7/",
        "https://u@a.test/",
        "http://[",
        "../..",
        "https://a.test/%2e%2e/x",
        "#f",
        "",
      ]),
    }),
    { maxKeys: 4 },
  ),
});

export const policyCases: fc.Arbitrary<PolicyCase> = file.chain((made) =>
  fc.record({
    file: fc.constant(made),
    world,
    asked: fc.array(often(aimed(made.http ?? {}), free), { minLength: 1, maxLength: 4 }),
  }),
);
