/** Who built a package, as its registry keeps it, and what a rule makes of it. */
import { expect, onTestFinished, test } from "vitest";
import { createNetwork } from "../../../host/broker/network.ts";
import { admit } from "../../../host/installer.ts";
import { createDownloads } from "../../../host/sources/download.ts";
import { createNpmSource } from "../../../host/sources/npm/npm.ts";
import { parseReference, type ReferenceOf } from "../../../host/sources/reference.ts";
import { createJudge } from "../../../host/trust/judge.ts";
import { startNpmPackages } from "../../support/servers/npm-packages.ts";
import { hash } from "../../support/signatures/cosign.ts";
import { createSigstore } from "../../support/signatures/sigstore.ts";
import { tarball } from "../../support/tarball.ts";

const PROVENANCE = "https://slsa.dev/provenance/v1";
const RELEASE = {
  subject: "https://github.com/acme/hello/.github/workflows/release.yml@refs/tags/v1.0.0",
  issuer: "https://token.actions.githubusercontent.com",
};

test("provenance that names the workflow of a rule lets a package in; another's, or none, does not", async () => {
  const npm = await startNpmPackages();
  const network = createNetwork({ privateHosts: new Set([npm.host]) });
  const downloads = createDownloads({ network });
  onTestFinished(() => network.close());
  const sigstore = await createSigstore();
  const signer = {
    type: "identity",
    subject: RELEASE.subject.replace("v1.0.0", "*"),
    issuer: RELEASE.issuer,
    trustedRoot: sigstore.trustedRoot,
  } as const;
  const judge = createJudge({
    matching: async () => [{ id: "", pattern: "npm:@acme/*", addedAt: "", signer }],
  });
  const install = async (name: string) =>
    admit(
      judge,
      await createNpmSource(downloads, npm.url).fetch(parseReference(`npm:${name}`) as ReferenceOf<"npm">, {
        progress: () => {},
      }),
      { unsigned: () => true },
    );
  /** As `npm publish --provenance` leaves it there. */
  const publish = async (name: string, identity: typeof RELEASE | undefined, about?: Buffer) => {
    const bytes = tarball([
      { path: "package/package.json", data: JSON.stringify({ name, postern: {} }) },
      { path: "package/hello.wasm", data: `the component of ${name}` },
      { path: "package/capabilities.json", data: "{}" },
    ]);
    npm.publish(name, "1.0.0", bytes);
    if (identity === undefined) return bytes;
    const release = npm.document(name).versions["1.0.0"];
    if (release !== undefined) release.dist["attestations"] = { url: "https://elsewhere.example/" };
    const bundle = await sigstore.bundle(bytes, identity, {
      predicateType: PROVENANCE,
      digest: { sha512: hash("sha512", about ?? bytes).toString("hex") },
    });
    const path = `/-/npm/v1/attestations/${name}@1.0.0`;
    npm.answer(path, (response) =>
      response.end(JSON.stringify({ attestations: [{ predicateType: PROVENANCE, bundle }] })),
    );
    return bytes;
  };

  const genuine = await publish("@acme/hello", RELEASE);
  expect((await install("@acme/hello")).origin?.signer).toBe(`${RELEASE.subject} (issuer ${RELEASE.issuer})`);
  await publish("@acme/fork", { ...RELEASE, subject: RELEASE.subject.replace("acme", "mallory") });
  await expect(install("@acme/fork")).rejects.toThrow("it is signed by https://github.com/mallory/");
  await publish("@acme/swapped", RELEASE, genuine);
  await expect(install("@acme/swapped")).rejects.toThrow("a signature is about other content (sha512:");
  await publish("@acme/plain", undefined);
  await expect(install("@acme/plain")).rejects.toThrow("is not signed, and the trust rule for npm:@acme/*");
  expect(npm.asked.some((path) => path.includes("attestations/@acme/plain"))).toBe(false);
});
