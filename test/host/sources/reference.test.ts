import { describe, expect, test } from "vitest";
import { canonicalReference, parseReference, type Reference } from "../../../host/sources/reference.ts";

const DIGEST = `sha256:${"0a".repeat(32)}`;

describe("parseReference", () => {
  test.each<[string, Reference]>([
    ["https://example.org/x.wasm", { kind: "https", url: "https://example.org/x.wasm" }],
    ["HTTPS://Example.org/x.wasm#a", { kind: "https", url: "https://example.org/x.wasm" }],
    [
      "oci://ghcr.io/acme/hello",
      { kind: "oci", registry: "ghcr.io", repository: "acme/hello", tag: "latest" },
    ],
    ["oci://localhost:5000/a:1.0", { kind: "oci", registry: "localhost:5000", repository: "a", tag: "1.0" }],
    ["oci://[::1]:5000/a:1.0", { kind: "oci", registry: "[::1]:5000", repository: "a", tag: "1.0" }],
    [`oci://ghcr.io/a/b@${DIGEST}`, { kind: "oci", registry: "ghcr.io", repository: "a/b", digest: DIGEST }],
    ["npm:hello", { kind: "npm", name: "hello", range: "latest" }],
    ["npm:@acme/hello@^1.2.0", { kind: "npm", name: "@acme/hello", range: "^1.2.0" }],
    ["weather", { kind: "named", name: "weather" }],
    ["./weather.wasm", { kind: "file", path: "./weather.wasm" }],
    ["weather.wasm", { kind: "file", path: "weather.wasm" }],
  ])("%s", (text, reference) => {
    expect(parseReference(text)).toEqual(reference);
    expect(parseReference(canonicalReference(reference))).toEqual(reference);
  });

  test.each([
    ["oci://GHCR.io:443/a:1", "oci://ghcr.io/a:1"],
    ["oci://ghcr.io:00443/a:1", "oci://ghcr.io/a:1"],
    ["oci://0x7f.1:5000/a:1", "oci://127.0.0.1:5000/a:1"],
    ["oci://2130706433:5000/a:1", "oci://127.0.0.1:5000/a:1"],
    ["oci://[0:0::1]:5000/a:1", "oci://[::1]:5000/a:1"],
  ])("%s is %s", (text, canonical) => {
    expect(canonicalReference(parseReference(text))).toBe(canonical);
  });

  test("what exists on disk wins over a bare name, and an address is never a path", () => {
    const onDisk = () => "folder" as const;
    expect(parseReference("weather", onDisk)).toEqual({ kind: "folder", path: "weather" });
    expect(parseReference("https://example.org/x.wasm", onDisk).kind).toBe("https");
    expect(parseReference("oci://ghcr.io/a/b", onDisk).kind).toBe("oci");
    expect(parseReference("npm:hello", onDisk).kind).toBe("npm");
  });

  test.each([
    ["nothing", ""],
    ["an escape sequence", "wea\u001b[31mther"],
    ["a character that turns the direction", "weather\u202egpj.wasm"],
    ["a line break", "weather\n"],
    ["another scheme", "ftp://example.org/x.wasm"],
    ["a repository that leads elsewhere", "oci://ghcr.io/../../etc"],
    ["a repository with a query", "oci://ghcr.io/a?b=c"],
    ["a registry with a user", "oci://me:secret@ghcr.io/a"],
    ["no repository", "oci://ghcr.io"],
    ["a tag and a digest", `oci://ghcr.io/a:1@${DIGEST}`],
    ["a short digest", "oci://ghcr.io/a@sha256:0a"],
    ["a password in a URL", "https://me:secret@example.org/x.wasm"],
    ["a package that leads elsewhere", "npm:../x"],
    ["a scope alone", "npm:@acme"],
    ["words", "hello world"],
    ["very much", "a".repeat(3000)],
  ])("refuses %s with a sentence that shows it", (_what, text) => {
    expect(() => parseReference(text)).toThrow(/^".*" cannot be installed: [^\n]+\.$/);
  });
});
