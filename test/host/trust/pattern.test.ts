/** Which tools a rule is for, by whole segments, and what nobody should have to guess about a rule. */
import { describe, expect, test } from "vitest";
import {
  checkIssuer,
  checkSubject,
  formatPattern,
  isFor,
  isSubject,
  parsePattern,
  placeOf,
} from "../../../host/trust/pattern.ts";

function matches(pattern: string, reference: string): boolean {
  const kind = reference.startsWith("oci:") ? "oci" : reference.startsWith("npm:") ? "npm" : "https";
  const place = placeOf({ kind, reference });
  return place !== undefined && isFor(parsePattern(pattern), place);
}

test.each([
  ["oci://registry.example/acme/*", "oci://registry.example/acme/tool:1"],
  ["oci://registry.example/acme/*", "oci://registry.example/acme/deep/tool@sha256:00"],
  ["oci://registry.example/*", "oci://registry.example/tool:latest"],
  ["oci://*", "oci://registry.example/tool:latest"],
  ["oci://registry.example/acme/tool", "oci://registry.example/acme/tool:2"],
  ["oci://Registry.Example/acme/*", "oci://registry.example:443/acme/tool:1"],
  ["oci://localhost:5000/*", "oci://localhost:5000/tool:1"],
  ["oci://docker.io/acme/*", "oci://registry-1.docker.io/acme/tool:1"],
  ["https://downloads.example/tools/*", "https://downloads.example/tools/x.wasm"],
  // A server may read each of these as the same path.
  ["https://downloads.example/tools/*", "https://downloads.example//tools/x.wasm"],
  ["https://downloads.example/tools/*", "https://downloads.example/%74ools/x.wasm"],
  ["https://downloads.example/tools/*", "https://downloads.example/tools%2fx.wasm"],
  ["https://downloads.example/tools/*", "https://downloads.example/a/../tools/x.wasm"],
  ["https://downloads.example/tools/*", "https://downloads.example:443/tools/x.wasm?v=1"],
  ["https://downloads.example/tools/*", "https://downloads.example/%74ools/100%.wasm"],
  ["oci://registry.example:0443/acme/*", "oci://registry.example/acme/tool:1"],
  ["oci://0x7f.1:05000/*", "oci://127.0.0.1:5000/tool:1"],
  ["https://127.0.0.1:8080/*", "http://127.0.0.1:8080/x.wasm"],
  ["npm:@acme/*", "npm:@acme/tool@^1.0.0"],
  ["npm:@acme/tool", "npm:@acme/tool@latest"],
  ["npm:tool", "npm:tool@latest"],
  ["npm:*", "npm:@acme/tool@1"],
])("%s is for %s", (pattern, reference) => {
  expect(matches(pattern, reference)).toBe(true);
});

test.each([
  ["oci://registry.example/acme/*", "oci://registry.example/acme2/tool:1"],
  ["oci://registry.example/acme/*", "oci://registry.example/acme:1"],
  ["oci://registry.example/acme/*", "oci://evil.example/registry.example/acme/tool:1"],
  ["oci://registry.example/acme/*", "oci://registry.example:5000/acme/tool:1"],
  ["oci://registry.example/acme/tool", "oci://registry.example/acme/tools:1"],
  ["https://downloads.example/tools/*", "https://downloads.example/toolsx/x.wasm"],
  ["https://downloads.example/tools/*", "https://downloads.example.evil.example/tools/x.wasm"],
  ["npm:@acme/*", "npm:@acme2/tool@1"],
  ["npm:tool", "npm:tools@1"],
  ["https://*", "oci://registry.example/tool:1"],
])("%s is not for %s", (pattern, reference) => {
  expect(matches(pattern, reference)).toBe(false);
});

test("what is on this machine's disk is for no rule", () => {
  expect(placeOf({ kind: "file", reference: "/srv/oci://registry.example/acme/tool.wasm" })).toBeUndefined();
  expect(placeOf({ kind: "folder", reference: "https://downloads.example/" })).toBeUndefined();
});

test.each([
  "registry.example/acme/*",
  "http://downloads.example/*",
  "oci://",
  "oci://registry.example",
  "oci://registry.example/",
  "oci://registry.example/ac*",
  "oci://registry.example/*/tool",
  "oci://registry.example/acme/**",
  "oci://*.example/acme/*",
  "oci://registry.example/acme/tool:1",
  "oci://registry.example/acme/tool@sha256:00",
  "oci://registry.example/Acme/*",
  "oci://registry.example/../*",
  "oci://registry.example//acme/*",
  "oci://user@registry.example/acme/*",
  "https://downloads.example/tools/*?x",
  "https://downloads.example/tools%2f*",
  "https://downloads.example/to ols/*",
  "https://downloads.example\\tools/*",
  "npm:@acme",
  "npm:acme/*",
  "npm:@acme/tool@1",
  "npm:",
  `oci://registry.example/${"a".repeat(2000)}`,
])("%s is refused as a pattern", (pattern) => {
  expect(() => parsePattern(pattern)).toThrow(/is not a valid pattern: .+ Write it like oci:/);
});

test("a pattern is kept in one way of writing it", () => {
  for (const pattern of [
    "oci://registry.example/acme/*",
    "https://downloads.example/x.wasm",
    "npm:@acme/*",
    "npm:*",
  ])
    expect(formatPattern(parsePattern(pattern))).toBe(pattern);
  expect(formatPattern(parsePattern("oci://REGISTRY.example:443/*"))).toBe("oci://registry.example/*");
});

describe("identities", () => {
  test("are compared as they are written, with a wildcard only at the end", () => {
    const workflow = "https://github.com/acme/tool/.github/workflows/release.yml@refs/tags/";
    expect(isSubject(checkSubject(`${workflow}*`), `${workflow}v1`)).toBe(true);
    expect(isSubject(`${workflow}*`, workflow)).toBe(false);
    expect(isSubject(checkSubject("release@acme.example"), "release@acmeXexample")).toBe(false);
    expect(isSubject(checkSubject("https://github.com/acme/*"), "https://github.com/acme-evil/x")).toBe(
      false,
    );
  });

  test.each([
    "*",
    "",
    "*@acme.example",
    "release@*",
    "https://*",
    "https://github.com/*",
    "https://github.com/acme*",
    "https://github.com//*",
    "https://github.com/*/tool/x",
    "a b",
  ])("%j would trust strangers or mean nothing, and is refused", (subject) => {
    expect(() => checkSubject(subject)).toThrow("--identity");
  });

  test("an issuer is a URL", () => {
    expect(checkIssuer("https://accounts.example")).toBe("https://accounts.example");
    for (const issuer of ["accounts.example", "http://accounts.example", "", "https://a b"])
      expect(() => checkIssuer(issuer)).toThrow("--issuer must be the https URL");
  });
});
