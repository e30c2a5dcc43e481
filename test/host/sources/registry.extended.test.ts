/** Publishing and installing against a real registry. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { beforeAll, expect, test } from "vitest";
import { createNetwork } from "../../../host/broker/network.ts";
import { createDownloads } from "../../../host/sources/download.ts";
import { createRegistryAccess } from "../../../host/sources/oci/access.ts";
import type { Login } from "../../../host/sources/oci/logins.ts";
import { readManifest } from "../../../host/sources/oci/manifest.ts";
import { createOciSource, fetchManifest } from "../../../host/sources/oci/oci.ts";
import { publish } from "../../../host/sources/oci/publish.ts";
import { type OciReference, parseReference } from "../../../host/sources/reference.ts";
import { temporaryFolder } from "../../support/home.ts";
import {
  type DockerRegistry,
  describeWithRegistry,
  startDockerRegistry,
  USER,
} from "../../support/processes/docker-registry.ts";
import { postern } from "../../support/processes/postern.ts";
import { copyCode, fixture } from "../../support/tools/components.ts";
import { allowing } from "../../support/tools/tool-host.ts";
import { afterThisFile, afterThisTest } from "../../support/undo.ts";

const COMPONENT = Buffer.from("stands for a component");

function oci(text: string): OciReference {
  const reference = parseReference(text);
  if (reference.kind !== "oci") throw new Error(text);
  return reference;
}

describeWithRegistry("a real registry", () => {
  const later = afterThisFile();
  let registry: DockerRegistry;

  beforeAll(async () => {
    registry = await startDockerRegistry(later);
    const usual = getCACertificates("default");
    setDefaultCACertificates([...usual, readFileSync(registry.certificate, "utf8")]);
    later(() => setDefaultCACertificates(usual));
  });

  function client(login: Login | "nobody" = USER) {
    const privateHosts = new Set([registry.plain, registry.secure]);
    const network = createNetwork({ privateHosts });
    afterThisTest(network.close);
    const downloads = createDownloads({ network });
    const openRegistry = createRegistryAccess({
      downloads,
      privateHosts,
      logins: { find: async () => (login === "nobody" ? undefined : login) },
      dockerFolder: temporaryFolder(),
    });
    const source = createOciSource(openRegistry);
    return {
      openRegistry,
      fetch: (text: string) => source.fetch(oci(text), { progress: () => {} }),
      publish: (text: string, version: string, component: Uint8Array = COMPONENT) =>
        publish({
          registry: openRegistry(oci(text), "pull,push"),
          reference: oci(text),
          version,
          tool: {
            component,
            capabilitiesText: `{"version":"${version}"}`,
            readme: "# Hello",
            recordings: [{ name: "one.json", text: "{}" }],
          },
          progress: () => {},
        }),
    };
  }

  test("over plain http and over TLS what is fetched is what was published, with its README and recordings", async () => {
    const { publish, fetch } = client();
    const made = await publish(`oci://${registry.secure}/acme/hello`, "1.0.0");
    expect(made).toMatchObject({ isNew: true, tags: ["1.0.0", "latest"] });
    for (const host of [registry.plain, registry.secure]) {
      expect(await fetch(`oci://${host}/acme/hello`)).toEqual({
        component: COMPONENT,
        capabilitiesText: '{"version":"1.0.0"}',
        name: "hello",
        readme: "# Hello",
        recordings: [{ name: "one.json", text: "{}" }],
        origin: {
          kind: "oci",
          reference: `oci://${host}/acme/hello:latest`,
          digest: made.digest,
          tag: "latest",
        },
        evidence: { subject: expect.any(Uint8Array), bundles: [], simple: [] },
      });
    }
  });

  test("the same version is published once: the same content again is nothing new, other content is refused", async () => {
    const { publish } = client();
    const first = await publish(`oci://${registry.plain}/acme/once`, "1.0.0");
    expect(await publish(`oci://${registry.plain}/acme/once`, "1.0.0")).toEqual({ ...first, isNew: false });
    await expect(publish(`oci://${registry.plain}/acme/once`, "1.0.0", Buffer.from("other"))).rejects.toThrow(
      /Version 1\.0\.0 is already published .* with other content/,
    );
  });

  test("a digest pins what a tag that moved no longer names", async () => {
    const { publish, fetch } = client();
    const place = `oci://${registry.plain}/acme/moved`;
    const old = await publish(`${place}:stable`, "1.0.0");
    await publish(`${place}:stable`, "1.1.0", Buffer.from("newer"));
    expect((await fetch(`${place}:stable`)).component).toEqual(Buffer.from("newer"));
    expect((await fetch(`${place}@${old.digest}`)).component).toEqual(COMPONENT);
  });

  test("without a sign-in, or with a wrong one, the sentence says how to sign in", async () => {
    for (const login of ["nobody" as const, { ...USER, password: "wrong" }])
      await expect(client(login).fetch(`oci://${registry.plain}/acme/hello`)).rejects.toThrow(
        `postern registry login ${registry.plain}`,
      );
  });

  test("a layer that was swapped at the registry is refused by its digest", async () => {
    const { publish, fetch, openRegistry } = client();
    const reference = oci(`oci://${registry.plain}/acme/swapped`);
    await publish(`oci://${registry.plain}/acme/swapped`, "1.0.0", Buffer.from("what was published"));
    const found = await fetchManifest(openRegistry(reference, "pull"), reference);
    const { component } = readManifest(found?.bytes ?? new Uint8Array(), "it");
    writeFileSync(registry.fileOf(component.digest), "what was swapped..");
    await expect(fetch(`oci://${registry.plain}/acme/swapped`)).rejects.toThrow(
      `expected ${component.digest}`,
    );
  });

  test("on the command line: sign in, publish, install on a second home, and find it there with its origin", async () => {
    const cwd = temporaryFolder();
    const bytes = await fixture("prober.js");
    mkdirSync(join(cwd, "prober", "dist"), { recursive: true });
    writeFileSync(join(cwd, "prober", "dist", "prober.wasm"), bytes);
    writeFileSync(join(cwd, "prober", "capabilities.json"), allowing("127.0.0.1"));
    const place = `oci://${registry.secure}/acme/prober`;
    const at = async (home: string) => {
      mkdirSync(join(cwd, home), { mode: 0o700 });
      await copyCode(bytes, join(cwd, home));
      const env = {
        POSTERN_HOME: join(cwd, home),
        TOOLS_PRIVATE_HOSTS: registry.secure,
        NODE_EXTRA_CA_CERTS: registry.certificate,
        DOCKER_CONFIG: join(cwd, "docker"),
        MODEL_PROVIDER: "builtin",
      };
      return (args: readonly string[], input = "") => postern(args, { env, cwd, input });
    };
    const author = await at("author");
    const wrong = await author(["registry", "login", registry.secure, "--username", "ann"], "wrong\n");
    expect(wrong.stderr).toContain("does not accept your sign-in");
    const signedIn = await author(
      ["registry", "login", registry.secure, "--username", "ann"],
      "wonderland\n",
    );
    expect(signedIn.stdout).toBe(`Signed in to ${registry.secure} as ann.\n`);
    const published = await author(["tool", "publish", "prober", place, "--json"]);
    expect(published).toMatchObject({ code: 0 });
    const { digest, reference } = JSON.parse(published.stdout);
    expect(reference).toBe(`${place}:1.0.0`);

    const user = await at("user");
    mkdirSync(join(cwd, "docker"));
    const auth = Buffer.from("ann:wonderland").toString("base64");
    writeFileSync(
      join(cwd, "docker", "config.json"),
      JSON.stringify({ auths: { [registry.secure]: { auth } } }),
    );
    const unsigned = await user(["tool", "install", reference, "--yes"]);
    expect(unsigned.stderr).toContain("not signed");
    expect(unsigned.code).toBe(1);
    const installed = await user(["tool", "install", reference, "--allow-unsigned", "--json"]);
    expect(installed).toMatchObject({ code: 0 });
    expect(JSON.parse(installed.stdout)).toMatchObject({ name: "prober", origin: { digest } });
    const info = JSON.parse((await user(["tool", "info", "prober", "--json"])).stdout);
    expect(info.origin).toEqual({ kind: "oci", reference, digest, tag: "1.0.0" });
  });
});
