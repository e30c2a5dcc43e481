import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { HttpCapabilities } from "../../../capabilities/capabilities.ts";
import type { ToolRequest } from "../../../host/broker/grant.ts";
import { MAX_REQUEST_BYTES, rule } from "../../../host/broker/policy.ts";
import { parsePrivateHosts } from "../../../kernel/net/address.ts";

const http: HttpCapabilities = {
  allowlist: [
    { host: "api.example.com", pathPrefix: "/v1/", methods: ["GET", "POST"] },
    { host: "*.wild.example", pathPrefix: "/", methods: ["GET"] },
    { host: "exact.example", pathPrefix: "/a", methods: ["GET"] },
    { host: "exact.example", pathPrefix: "/b/{KEY}/", methods: ["POST"] },
    { host: "none.example", pathPrefix: "/", methods: [] },
    { host: "127.0.0.1", pathPrefix: "/", methods: ["GET"] },
    { host: "dav.example", pathPrefix: "/ann/", methods: ["MOVE", "COPY"] },
    { host: "dav.example", pathPrefix: "/public/", methods: ["COPY"] },
  ],
  rateLimit: { perMinute: 60, perHour: 500 },
  timeoutSecs: 30,
  credentials: [],
  redirects: false,
  pdfAsText: false,
  privateHosts: [],
};

function decide(url: string, request: Partial<ToolRequest> = {}, privateHosts: readonly string[] = []) {
  return rule(
    http,
    { method: "GET", headersJson: "{}", body: undefined, timeoutMs: undefined, ...request, url },
    new Set(privateHosts),
  );
}

const isAllowed = (url: string, request?: Partial<ToolRequest>, hosts?: readonly string[]) =>
  decide(url, request, hosts).ok;

function refusal(url: string, request?: Partial<ToolRequest>): string {
  const ruling = decide(url, request);
  return ruling.ok ? `allowed as ${ruling.request.url.href}` : ruling.error;
}

describe("hosts", () => {
  test("§4.4 a host that is not listed is blocked, and the refusal names what is listed", () => {
    expect(refusal("https://evil.example/")).toBe(
      "The host evil.example is not in the tool's allowlist (api.example.com, *.wild.example, exact.example, 127.0.0.1, dav.example).",
    );
    expect(
      rule(
        undefined,
        { method: "GET", url: "https://a.com/", headersJson: "", body: undefined, timeoutMs: undefined },
        new Set(),
      ),
    ).toEqual({
      ok: false,
      error: "The host a.com is not in the tool's allowlist (which is empty).",
    });
  });

  test("an exact host covers neither the names below it nor look-alikes", () => {
    for (const host of [
      "x.api.example.com",
      "api.example.com.evil.example",
      "notapi.example.com",
      "api.example.co",
    ]) {
      expect(isAllowed(`https://${host}/v1/x`)).toBe(false);
    }
  });

  test("*.suffix covers names at least one label below the suffix", () => {
    expect(isAllowed("https://a.wild.example/")).toBe(true);
    expect(isAllowed("https://a.b.wild.example/")).toBe(true);
    for (const host of ["wild.example", "awild.example", ".wild.example"]) {
      expect(isAllowed(`https://${host}/`)).toBe(false);
    }
  });

  test("mixed case and a trailing dot are normalised before matching, and sent normalised", () => {
    const ruling = decide("https://API.Example.COM./v1/x");
    expect(ruling.ok && ruling.request.url.href).toBe("https://api.example.com/v1/x");
    expect(isAllowed("https://evil.example./v1/x")).toBe(false);
  });

  test("user information before the host is refused, even when empty", () => {
    for (const url of [
      "https://api.example.com@evil.example/v1/",
      "https://user:pass@api.example.com/v1/",
      "https://@api.example.com/v1/",
    ]) {
      expect(refusal(url)).toContain("user information");
    }
  });

  test("further slashes before the host are refused, and with them what a parser would read there", () => {
    for (const url of [
      "https:///u:p@api.example.com/v1/x",
      "https:////u@api.example.com/v1/x",
      "https:///api.example.com/v1/x",
    ]) {
      expect(refusal(url)).toContain("names no host");
    }
  });

  test("only https is allowed", () => {
    expect(refusal("http://api.example.com/v1/x")).toContain("Plain http");
    for (const scheme of ["ftp", "file", "ws", "gopher", "data"]) {
      expect(isAllowed(`${scheme}://api.example.com/v1/x`)).toBe(false);
    }
    for (const url of [
      "//api.example.com/v1/",
      "/v1/",
      "api.example.com/v1/",
      "https:api.example.com/v1/",
      "https:/api.example.com/v1/",
      "",
    ]) {
      expect(isAllowed(url)).toBe(false);
    }
  });

  test("only the port of https is allowed, written out or not", () => {
    expect(isAllowed("https://api.example.com:443/v1/x")).toBe(true);
    expect(refusal("https://api.example.com:8443/v1/x")).toContain("Port 8443");
  });

  test("TOOLS_PRIVATE_HOSTS excepts a host and port from https and from the port rule, not from the allowlist", () => {
    expect(isAllowed("http://127.0.0.1:8080/x", {}, ["127.0.0.1:8080"])).toBe(true);
    expect(isAllowed("http://2130706433:8080/x", {}, ["127.0.0.1:8080"])).toBe(true);
    expect(isAllowed("http://127.0.0.1:8081/x", {}, ["127.0.0.1:8080"])).toBe(false);
    expect(isAllowed("http://10.0.0.1:8080/x", {}, ["10.0.0.1:8080"])).toBe(false);
  });

  test("TOOLS_PRIVATE_HOSTS takes host:port and nothing else", () => {
    expect(parsePrivateHosts(["LocalHost:80", "[::1]:8080", "10.0.0.1:443"])).toEqual(
      new Set(["localhost:80", "[::1]:8080", "10.0.0.1:443"]),
    );
    for (const entry of ["localhost", "http://localhost:80", "a:b", "a:99999", "u@a:80", "a:80/x"]) {
      expect(parsePrivateHosts([entry])).toBeUndefined();
    }
  });
});

describe("paths", () => {
  test("§4.4 a path prefix holds on whole segments", () => {
    expect(isAllowed("https://exact.example/a")).toBe(true);
    expect(isAllowed("https://exact.example/a/b?c=d")).toBe(true);
    expect(isAllowed("https://exact.example/ab")).toBe(false);
    expect(isAllowed("https://api.example.com/v1")).toBe(false);
    expect(isAllowed("https://api.example.com/v10/x")).toBe(false);
    expect(isAllowed("https://api.example.com?/v1/x")).toBe(false);
    expect(refusal("https://api.example.com/v2/x")).toBe(
      'The path "/v2/x" of api.example.com is not allowed; allowed: /v1/.',
    );
  });

  test("a prefix is matched after decoding", () => {
    expect(isAllowed("https://api.example.com/%76%31/x")).toBe(true);
    expect(isAllowed("https://exact.example/b/%7BKEY%7D/x", { method: "POST" })).toBe(true);
    expect(isAllowed("https://exact.example/b/{KEY}/x", { method: "POST" })).toBe(true);
  });

  test.each([
    "/v1/../admin",
    "/v1/./x",
    "/v1/%2e%2e/admin",
    "/v1/.%2E/admin",
    "/v1/%252e%252e/admin",
    "/v1/%25252e./admin",
    "/v1/%252%65%252%65/admin",
    "/v1/%25%32%65%25%32%65/admin",
    "/v1/%25%32%66..%252%66admin",
    "/v1/%252%35%32e%252e/admin",
    "/v1/x%25%30%30",
    "/v1/%252525252525252e",
    "/v1/..;/admin",
    "/v1/..;a=b/admin",
    "/v1/%2e%2e%3b/admin",
    "/v1/..",
    "/v1/..?x",
    "/v1/..#x",
    "/v1/..%2fadmin",
    "/v1/%2fadmin",
    "/v1/%5c..%5cadmin",
    "/v1/%252fadmin",
    "/v1/\\..\\admin",
    "/v1/x%00",
    "/v1/x%0d%0aHost:%20evil",
    "/v1/\t../admin",
    "/v1/.\n./admin",
    "/v1/%zz",
    "/v1/%c0%ae%c0%ae/admin",
    "/v1/%25c0%25ae%25c0%25ae/admin",
    "/v1/%2525c0%2525ae%2525c0%2525ae/admin",
    "/v1/%25c0%25afadmin",
    "/v1/%25e0%2580%25ae./admin",
    "/v1/x%25ff",
    "/v1/%25c2%2525a9",
    "/v1/\uff0e\uff0e/admin",
    "/v1/.\uff0e/admin",
    "/v1/%ef%bc%8e%ef%bc%8e/admin",
    "/v1/%25ef%25bc%258e./admin",
    "/v1/\u2025/admin",
    "/v1/\u2024\u2024/admin",
    "/v1/\u3002\uff61/admin",
    "/v1/x\uff0f..\uff0fadmin",
    "/v1/..\uff0fadmin",
    "/v1/x\uff3cadmin",
    "/v1/x\u2215admin",
    "/v1/x\u2044admin",
    "/v1/x\u2216admin",
    "/v1/\uff05\uff12\uff45\uff05\uff12\uff45/admin",
    "/v1/%ef%bc%852e%ef%bc%852e/admin",
    "/v1/\u2100",
  ])("the path %j is refused", (path) => {
    expect(isAllowed(`https://api.example.com${path}`)).toBe(false);
  });

  test("bytes that are not UTF-8 are refused however often they are encoded, with the reason", () => {
    for (const bytes of ["%c0%ae", "%25c0%25ae", "%2525c0%2525ae"]) {
      expect(refusal(`https://api.example.com/v1/${bytes}`)).toBe(
        "The path holds bytes that are not UTF-8 once it is decoded. Some servers read them as dots or slashes, so no path_prefix holds for them; percent-encode the path's UTF-8.",
      );
    }
  });

  test("dots and percent signs that lead nowhere are left alone", () => {
    for (const path of [
      "/v1/...",
      "/v1/a..b",
      "/v1/.well-known",
      "/v1/100%25",
      "/v1/100%2525%20of%2520it",
      "/v1/a;b",
      "/v1/%20",
      "/v1/a%3Ab",
      "/v1/caf%C3%A9",
      "/v1/caf%25C3%25A9",
      "/v1/café/\u{1f6aa}",
      "/v1/cafe\u0301",
      "/v1/\uff56\uff11",
      "/v1/\u65e5\u672c\u3002",
    ]) {
      expect(isAllowed(`https://api.example.com${path}`)).toBe(true);
    }
  });

  test("whatever segments are tried, no server that decodes and resolves them leaves the prefix", () => {
    const piece = fc.constantFrom(
      "..",
      ".",
      "%2e",
      "%2E",
      "%252e",
      "%2f",
      "%5c",
      "%252F",
      "%c0%ae",
      "%25c0%25ae",
      "%c0%25af",
      "\\",
      "/",
      "a",
      "v1",
      ";",
      "%3b",
      "%",
      "%25",
      "?",
      "#",
      "@",
      "admin",
    );
    const path = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(path, (tail) => {
        const ruling = decide(`https://api.example.com/v1/${tail}`);
        if (!ruling.ok) return;
        for (const reading of readings(ruling.request.url.pathname)) {
          expect(reading === "/v1" || reading.startsWith("/v1/")).toBe(true);
        }
        expect(ruling.request.url.hostname).toBe("api.example.com");
      }),
      { numRuns: 5000 },
    );
  });

  test("whatever text is given as a URL, what passes goes to a listed host over https", () => {
    const host = fc.constantFrom(
      "api.example.com",
      "evil.example",
      "api.example.com.evil.example",
      "@",
      ":",
      "/",
      "\\",
      "%2f",
      "#",
      "?",
      "[::1]",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(host, fc.string({ maxLength: 3 })), { maxLength: 6 }), (pieces) => {
        const ruling = decide(`https://${pieces.join("")}/v1/x`);
        if (!ruling.ok) return;
        expect(ruling.request.url.origin).toMatch(
          /^https:\/\/(api\.example\.com|exact\.example|[^/:@]+\.wild\.example)$/,
        );
      }),
      { numRuns: 3000 },
    );
  });
});

/** The path as servers of different habits would read it: decoded zero to three times, overlong UTF-8 too, then resolved. */
function readings(path: string): string[] {
  const found: string[] = [];
  let decoded = path;
  for (let round = 0; round < 4; round++) {
    const resolved: string[] = [];
    for (const segment of decoded
      .replaceAll("\\", "/")
      .split("/")
      .map((part) => part.split(";")[0] ?? "")) {
      if (segment === "..") resolved.pop();
      else if (segment !== ".") resolved.push(segment);
    }
    found.push(resolved.join("/"));
    decoded = decoded
      .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      .replaceAll("\u00c0\u00ae", ".")
      .replaceAll("\u00c0\u00af", "/");
  }
  return found;
}

describe("methods", () => {
  test("§4.4 a method must be listed for that host and path; no methods means none", () => {
    expect(isAllowed("https://api.example.com/v1/x", { method: "POST" })).toBe(true);
    expect(isAllowed("https://api.example.com/v1/x", { method: "post" })).toBe(true);
    expect(refusal("https://api.example.com/v1/x", { method: "DELETE" })).toBe(
      '"DELETE" is not allowed at api.example.com/v1/x; allowed: GET, POST.',
    );
    expect(isAllowed("https://exact.example/a", { method: "POST" })).toBe(false);
    expect(isAllowed("https://none.example/")).toBe(false);
    expect(isAllowed("https://api.example.com/v1/x", { method: "GET / HTTP/1.1\r\nX: y" })).toBe(false);
    expect(isAllowed("https://api.example.com/v1/x", { method: "" })).toBe(false);
  });
});

describe("headers and body", () => {
  const withHeaders = (headersJson: string) => refusal("https://api.example.com/v1/x", { headersJson });

  test("names come out in lower case, values untouched", () => {
    const ruling = decide("https://api.example.com/v1/x", {
      headersJson: '{"Accept":"text/plain","X-A":" b "}',
    });
    expect(ruling.ok && ruling.request.headers).toEqual({ accept: "text/plain", "x-a": " b " });
  });

  test("§4.4 headers are a JSON object of strings", () => {
    for (const json of ["[]", "null", '"a"', "1", "{", '{"a":1}', '{"a":null}', '{"a":["b"]}', '{"a":{}}']) {
      expect(withHeaders(json)).not.toContain("allowed as");
    }
    expect(withHeaders("")).toContain("allowed as");
  });

  test.each([
    { "X-A": "b\r\nHost: evil" },
    { "X-A": "b\nc" },
    { "X-A": "b\u0000c" },
    { "X-A": "b\u2028c" },
    { "X-A\r\nHost": "b" },
    { "X A": "b" },
    { "": "b" },
    { "X-A:": "b" },
    { "X-A": "1", "x-a": "2" },
  ])("a header that would inject another is refused (%j)", (headers) => {
    expect(withHeaders(JSON.stringify(headers))).not.toContain("allowed as");
  });

  test.each([
    "Host",
    "content-length",
    "Transfer-Encoding",
    "CONNECTION",
    "Upgrade",
    "TE",
    "Trailer",
    "Expect",
    "Proxy-Authorization",
    "Accept-Encoding",
    "X-HTTP-Method-Override",
    "X-Original-URL",
  ])("the header %s is not a tool's to set", (name) => {
    expect(withHeaders(JSON.stringify({ [name]: "x" }))).toContain("set by Postern");
  });

  test("a __proto__ header pollutes nothing", () => {
    const ruling = decide("https://api.example.com/v1/x", { headersJson: '{"__proto__":"x"}' });
    expect(ruling.ok && Object.getPrototypeOf(ruling.request.headers)).toBe(Object.prototype);
  });

  test("a body of over 1 MiB is refused, an empty one is none", () => {
    const body = (size: number) => ({ method: "POST", body: new Uint8Array(size) });
    expect(isAllowed("https://api.example.com/v1/x", body(MAX_REQUEST_BYTES))).toBe(true);
    expect(isAllowed("https://api.example.com/v1/x", body(MAX_REQUEST_BYTES + 1))).toBe(false);
    const empty = decide("https://api.example.com/v1/x", body(0));
    expect(empty.ok && empty.request.body).toBeUndefined();
  });
});

describe("destinations", () => {
  const move = (destination: string | undefined, method = "MOVE") =>
    decide("https://dav.example/ann/a.ics", {
      method,
      headersJson: JSON.stringify(destination === undefined ? {} : { Destination: destination }),
    });

  test("what is moved or copied ends up where the method is allowed, on the same server", () => {
    const ruling = move("https://DAV.example./ann/b.ics#x");
    expect(ruling).toMatchObject({
      ok: true,
      request: { headers: { destination: "https://dav.example/ann/b.ics" } },
    });
    expect(move("https://dav.example/public/b.ics", "COPY").ok).toBe(true);
  });

  test.each([
    [undefined, "A MOVE needs the header Destination."],
    ["/ann/b.ics", '"/ann/b.ics" is not an absolute URL.'],
    ["https://dav.example/public/b.ics", '"MOVE" is not allowed at dav.example/public/b.ics; allowed: COPY.'],
    [
      "https://dav.example/bob/b.ics",
      'The path "/bob/b.ics" of dav.example is not allowed; allowed: /ann/, /public/.',
    ],
    [
      "https://dav.example/ann/%2e%2e/bob/b.ics",
      'The path holds a "." or ".." segment, which is not allowed.',
    ],
    [
      "https://api.example.com/v1/b",
      "A MOVE must stay on dav.example; its Destination is on api.example.com.",
    ],
  ])("a destination of %s is refused", (destination, error) => {
    expect(move(destination)).toEqual({ ok: false, error });
  });
});
