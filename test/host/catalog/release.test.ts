/** What is said of a newer version before anybody agrees to it. */
import { expect, test } from "vitest";
import type { InstalledTool } from "../../../host/catalog/catalog.ts";
import { parseCapabilities } from "../../../host/catalog/catalog.ts";
import { compareRelease } from "../../../host/catalog/release.ts";
import { NO_CHOICES } from "../../../host/catalog/settings.ts";
import type { ToolOrigin } from "../../../kernel/vocabulary/tools.ts";

const capabilities = (version: string) =>
  parseCapabilities(JSON.stringify({ version, wit_version: "0.1.0" }));
const origin = (digest: string, more: Partial<ToolOrigin> = {}): ToolOrigin => ({
  kind: "oci",
  reference: "oci://r.example/echo:stable",
  digest,
  ...more,
});
const tool = (more: Partial<InstalledTool> = {}): InstalledTool => ({
  name: "echo",
  digest: "bb",
  installedAt: "2026-11-16T00:00:00.000Z",
  description: "Echoes",
  schema: { type: "object" },
  capabilities: capabilities("2.0.0"),
  capabilitiesText: "",
  choices: NO_CHOICES,
  origin: origin("sha256:b", { signer: "Ada" }),
  seen: [
    { digest: "sha256:a", version: "1.0.0" },
    { digest: "sha256:b", version: "2.0.0" },
  ],
  ...more,
});
const offer = (digest: string, version: string, more: Partial<ToolOrigin> = { signer: "Ada" }) => ({
  origin: origin(`sha256:${digest}`, more),
  capabilities: capabilities(version),
  digest: digest + digest,
});

test("a newer version of the same signer has nothing to warn of; the same is no change", () => {
  expect(compareRelease(tool(), offer("b", "2.0.0"))).toBeUndefined();
  expect(compareRelease(tool(), offer("c", "2.1.0"))).toEqual({
    version: { before: "2.0.0", after: "2.1.0" },
    added: [],
    removed: [],
  });
});

test.each([
  ["a digest that was seen before", offer("a", "1.0.0"), "went back to content that it had before"],
  ["an older version", offer("z", "1.9.0"), "went back from version 2.0.0 to 1.9.0"],
  [
    "other content of the same version",
    offer("z", "2.0.0"),
    "has other content under the same version, 2.0.0",
  ],
])("%s is a step back", (_what, offered, why) => {
  expect(compareRelease(tool(), offered)?.older).toContain(why);
});

test("another signer, or none, is told; a first one is not", () => {
  const signerOf = (installed: InstalledTool, more: Partial<ToolOrigin>) =>
    compareRelease(installed, offer("c", "2.1.0", more))?.signer;
  expect(signerOf(tool(), { signer: "Eve" })).toBe(
    "the installed version was signed by Ada; this one is signed by Eve",
  );
  expect(signerOf(tool(), {})).toBe(
    "the installed version was signed by Ada; no signature of this one could be verified",
  );
  expect(signerOf(tool({ origin: origin("sha256:b") }), { signer: "Ada" })).toBeUndefined();
});

test("after a rollback what was rolled back is still offered, which is no step back", () => {
  const rolledBack = tool({ digest: "aa", capabilities: capabilities("1.0.0"), origin: origin("sha256:a") });
  expect(compareRelease(rolledBack, offer("b", "2.0.0"))?.older).toBeUndefined();
});
