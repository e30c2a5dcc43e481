/** Signed, published and installed against a real registry, and refused where the signature is not the one a rule needs. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { createNetwork } from "../../../host/broker/network.ts";
import { createDownloads } from "../../../host/sources/download.ts";
import { createRegistryAccess } from "../../../host/sources/oci/access.ts";
import { createOciSource } from "../../../host/sources/oci/oci.ts";
import { publish } from "../../../host/sources/oci/publish.ts";
import { blobOf, describe, pushBlob, pushManifest } from "../../../host/sources/oci/push.ts";
import { pushSignatures } from "../../../host/sources/oci/sign.ts";
import { type OciReference, parseReference } from "../../../host/sources/reference.ts";
import { createJudge } from "../../../host/trust/judge.ts";
import { readSigningKey } from "../../../host/trust/signing-key.ts";
import { temporaryFolder } from "../../support/home.ts";
import {
  type DockerRegistry,
  describeWithRegistry,
  startDockerRegistry,
} from "../../support/processes/docker-registry.ts";
import { postern } from "../../support/processes/postern.ts";
import { createKey, simpleSignature, type TestKey } from "../../support/signatures/cosign.ts";
import { createSigstore } from "../../support/signatures/sigstore.ts";
import { copyCode, fixture } from "../../support/tools/components.ts";
import { allowing } from "../../support/tools/tool-host.ts";
import { afterThisFile, afterThisTest } from "../../support/undo.ts";

const NOBODY = "release@acme.example";
const pemOf = ({ privateKey }: TestKey) => privateKey.export({ type: "pkcs8", format: "pem" }).toString();

function oci(text: string): OciReference {
  const reference = parseReference(text);
  if (reference.kind !== "oci") throw new Error(text);
  return reference;
}

describeWithRegistry("a signed tool in a real registry", () => {
  const later = afterThisFile();
  let registry: DockerRegistry;

  beforeAll(async () => {
    registry = await startDockerRegistry(later, { open: true });
  });

  async function published(name: string) {
    const privateHosts = new Set([registry.plain]);
    const network = createNetwork({ privateHosts });
    const downloads = createDownloads({ network });
    afterThisTest(network.close);
    const open = createRegistryAccess({
      downloads,
      privateHosts,
      logins: { find: async () => undefined },
      dockerFolder: temporaryFolder(),
    });
    const reference = oci(`oci://${registry.plain}/acme/${name}`);
    const client = open(reference, "pull,push");
    const tool = { component: Buffer.from(name), capabilitiesText: "{}" };
    const quiet = { registry: client, reference, progress: () => {} };
    const { manifest, digest } = await publish({ ...quiet, version: "1.0.0", tool });
    return {
      client,
      reference,
      manifest,
      digest,
      sign: async (key: TestKey) =>
        pushSignatures({ ...quiet, manifest, key: await readSigningKey(pemOf(key), async () => undefined) }),
      fetch: () => createOciSource(open).fetch(reference, { progress: () => {} }),
    };
  }

  test("signing puts both of cosign's forms there, keeps what others signed, and adds nothing the second time", async () => {
    const { sign, fetch } = await published("twice");
    const [key, other] = [createKey(), createKey("ed25519")];
    expect(await sign(key)).toBe(true);
    expect(await sign(key)).toBe(false);
    expect(await sign(other)).toBe(true);
    const { origin, evidence } = await fetch();
    expect(evidence?.bundles).toHaveLength(2);
    expect(evidence?.simple).toHaveLength(2);
    if (evidence === undefined) return;
    for (const { pem, fingerprint } of [key, other]) {
      const judge = createJudge({
        matching: async () => [
          { id: "", pattern: "oci://*", addedAt: "", signer: { type: "key", pem, fingerprint } },
        ],
      });
      for (const form of [{ bundles: [] }, { simple: [] }])
        expect(await judge(origin, { ...evidence, ...form })).toMatchObject({ status: "signed" });
    }
  });

  test("a .sig tag as version 2 of cosign pushes it, with a key and with a certificate, is found and holds", async () => {
    const { client, reference, manifest, digest, fetch } = await published("second");
    const key = createKey();
    const sigstore = await createSigstore();
    const identity = { subject: "https://github.com/acme/x", issuer: "https://accounts.example" };
    const signatures = [simpleSignature(manifest, key), await sigstore.simple(manifest, identity)];
    const layers = signatures.map(({ payload, annotations }) =>
      blobOf("application/vnd.dev.cosign.simplesigning.v1+json", payload, annotations),
    );
    const config = blobOf("application/vnd.oci.image.config.v1+json", Buffer.from("{}"));
    for (const blob of [config, ...layers]) await pushBlob(client, reference, blob, () => {});
    const list = {
      schemaVersion: 2,
      mediaType: "application/vnd.oci.image.manifest.v1+json",
      config: describe(config),
      layers: layers.map(describe),
    };
    const tag = `${digest.replace(":", "-")}.sig`;
    await pushManifest(client, { ...reference, tag }, new Uint8Array(Buffer.from(JSON.stringify(list))));
    const { origin, evidence } = await fetch();
    for (const signer of [
      { type: "key", pem: key.pem, fingerprint: key.fingerprint } as const,
      { type: "identity", ...identity, trustedRoot: sigstore.trustedRoot } as const,
    ]) {
      const judge = createJudge({
        matching: async () => [{ id: "", pattern: "oci://*", addedAt: "", signer }],
      });
      expect(await judge(origin, evidence)).toMatchObject({ status: "signed" });
    }
  });

  test("as typed: signed and published, it installs where a rule names its key, and nowhere else", async () => {
    const cwd = temporaryFolder();
    const bytes = await fixture("prober.js");
    mkdirSync(join(cwd, "prober", "dist"), { recursive: true });
    writeFileSync(join(cwd, "prober", "dist", "prober.wasm"), bytes);
    writeFileSync(join(cwd, "prober", "capabilities.json"), allowing("127.0.0.1"));
    const home = join(cwd, "home");
    mkdirSync(home, { mode: 0o700 });
    await copyCode(bytes, home);
    const env = {
      POSTERN_HOME: home,
      TOOLS_PRIVATE_HOSTS: registry.plain,
      MODEL_PROVIDER: "builtin",
      COSIGN_PASSWORD: "p",
    };
    const type = (line: string, ...more: string[]) => postern([...line.split(" "), ...more], { env, cwd });
    const place = `oci://${registry.plain}/acme/prober`;
    const pattern = `oci://${registry.plain}/acme/*`;
    const installed = () => {
      const tools = join(home, "tools");
      return existsSync(tools) ? readdirSync(tools).filter((name) => !name.startsWith(".")) : [];
    };

    await type("trust keygen acme");
    await type("trust keygen mallory");
    const unopened = await postern(["tool", "publish", "prober", place, "--key", "acme.key"], {
      env: { ...env, COSIGN_PASSWORD: "wrong" },
      cwd,
    });
    expect(unopened.stderr).toContain("does not open with this password");
    const made = await type(`tool publish prober ${place} --key acme.key`);
    expect(made.stdout).toMatch(/^Signed by the key SHA256:[0-9a-f]{64}$/m);
    expect((await type(`tool publish prober ${place} --key acme.key`)).stdout).toContain("Already signed by");
    const [, fingerprint = ""] = /SHA256:([0-9a-f]{64})/.exec(made.stdout) ?? [];

    // No option overrides a rule, and what it refuses leaves nothing behind.
    await type(`trust add ${pattern} --key mallory.pub`);
    const foreign = await type(`tool install ${place} --allow-unsigned --yes --force`);
    expect(foreign.code).toBe(1);
    expect(foreign.stderr).toContain(`${place}:latest is refused: a signature was made with another key`);
    expect(foreign.stderr).toContain("No option overrides a trust rule.");
    expect(installed()).toEqual([]);
    await type(`trust remove ${pattern}`);
    await type(`trust add ${pattern} --identity ${NOBODY} --issuer https://accounts.example`);
    expect((await type(`tool install ${place} --allow-unsigned`)).stderr).toContain(
      "was made with a key and has no certificate that names a signer",
    );
    await type(`trust remove ${pattern}`);

    // Without a rule a signature proves nothing, and --yes does not answer that.
    const asked = await type(`tool install ${place} --yes`);
    expect(asked.code).toBe(1);
    expect(asked.stderr).toContain("signed with a key that no trust rule names");
    expect(asked.stderr).toContain("Pass --allow-unsigned to install it anyway.");
    expect(installed()).toEqual([]);

    await type(`trust add ${pattern} --key acme.pub`);
    const own = await type(`tool install ${place}`);
    expect(own).toMatchObject({ code: 0 });
    expect(own.stdout).toContain(
      `- signed by the key SHA256:${fingerprint}, as the trust rule for ${pattern} needs`,
    );
    const info = JSON.parse((await type("tool info prober --json")).stdout);
    expect(info.origin.signer).toBe(`the key SHA256:${fingerprint}`);

    // The same rule for what nobody signed.
    writeFileSync(join(cwd, "prober", "capabilities.json"), allowing("localhost"));
    await type(`tool publish prober oci://${registry.plain}/acme/unsigned`);
    const unsigned = await type(`tool install oci://${registry.plain}/acme/unsigned --allow-unsigned --yes`);
    expect(unsigned.code).toBe(1);
    expect(unsigned.stderr).toContain(
      `/acme/unsigned:latest is not signed, and the trust rule for ${pattern}`,
    );
    expect(installed()).toEqual(["prober"]);
  });
});
