/** `postern trust …` as it is typed. */
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSignatures } from "../../../host/trust/signatures.ts";
import { temporaryFolder } from "../../support/home.ts";
import { postern } from "../../support/processes/postern.ts";
import { createKey } from "../../support/signatures/cosign.ts";
import { createSigstore } from "../../support/signatures/sigstore.ts";

const ISSUER = "https://token.actions.githubusercontent.com";
const RELEASE = "https://github.com/acme/tools/.github/workflows/release.yml@refs/tags/*";

function desk() {
  const cwd = temporaryFolder();
  const env = { POSTERN_HOME: join(cwd, "home"), COSIGN_PASSWORD: "p" };
  const trust = (...args: string[]) => postern(["trust", ...args], { cwd, env });
  const key = createKey();
  writeFileSync(join(cwd, "acme.pub"), key.pem);
  return { cwd, trust, key };
}

test("a rule is added, listed, added once and removed", async () => {
  const { trust, key, cwd } = desk();
  expect((await trust("list")).stdout).toContain("No trust rules");
  const added = await trust("add", "oci://Registry.example/acme/*", "--key", "acme.pub");
  expect(added.stdout).toMatch(
    new RegExp(
      `^Added [0-9a-f]{12}: oci://registry\\.example/acme/\\* needs a signature by the key SHA256:${key.fingerprint}\\.\\n$`,
    ),
  );
  const again = await trust("add", "oci://registry.example/acme/*", "--key", "acme.pub");
  expect(again.stdout).toContain("There is such a rule already");
  const { trustedRoot } = await createSigstore();
  writeFileSync(join(cwd, "root.json"), trustedRoot);
  const second = await trust(
    ...["add", "oci://registry.example/acme/*", "--identity", RELEASE, "--issuer", ISSUER],
    ...["--trusted-root", "root.json"],
  );
  expect(second.stdout).toContain("2 rules have this pattern; any of them is enough.");

  const { rules } = JSON.parse((await trust("list", "--json")).stdout) as { rules: { id: string }[] };
  expect(rules).toMatchObject([
    { pattern: "oci://registry.example/acme/*", key: key.fingerprint },
    { identity: RELEASE, issuer: ISSUER, trusted_root: "own" },
  ]);
  expect((await trust("list")).stdout).toContain("by a root of your own");
  expect((await trust("remove", rules[1]?.id ?? "", "--json")).stdout).toContain(RELEASE);
  expect((await trust("remove", "oci://registry.example/acme/*")).stdout).toContain(
    "no longer needs a signature",
  );
  const gone = await trust("remove", "oci://registry.example/acme/*");
  expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining("there is no trust rule")]);
});

test("a rule that names nobody, two, or no usable file is refused, and nothing is kept", async () => {
  const { trust, cwd } = desk();
  writeFileSync(join(cwd, "root.json"), "{}");
  const identity = ["--identity", RELEASE, "--issuer", ISSUER];
  const cases: [string[], string][] = [
    [["npm:@acme/*"], "name the signer: --key <file>, or --identity"],
    [["npm:@acme/*", "--identity", RELEASE], "name the signer"],
    [["oci://r.example/*", "--key", "acme.pub", ...identity], "a rule names one signer"],
    [["npm:@acme/*", "--key", "acme.pub"], "packages of npm are signed by identity"],
    [["oci://r.example/*", "--key", "none.pub"], "none.pub cannot be read"],
    [["oci://r.example/*", "--key", "root.json"], 'has no "BEGIN PUBLIC KEY" block'],
    [["oci://r.example/a*", "--key", "acme.pub"], "* can only be the whole last segment"],
    [["oci://r.example/*", "--identity", "*", "--issuer", ISSUER], "can have one *, at its end"],
    [["oci://r.example/*", "--identity", RELEASE, "--issuer", "sso"], "--issuer must be the https URL"],
    [["oci://r.example/*", ...identity, "--trusted-root", "root.json"], "names no certificate authority"],
  ];
  for (const [args, sentence] of cases) {
    const { code, stderr } = await trust("add", ...args);
    expect(stderr).toContain(sentence);
    expect(code).not.toBe(0);
  }
  expect(JSON.parse((await trust("list", "--json")).stdout)).toEqual({ rules: [] });
});

test("keygen writes a pair for its owner alone, and never over another; sign writes the bundle beside a file", async () => {
  const { trust, cwd } = desk();
  const made = JSON.parse((await trust("keygen", "own", "--json")).stdout) as { fingerprint: string };
  expect(statSync(join(cwd, "own.key")).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(cwd, "own.pub"), "utf8")).toContain("BEGIN PUBLIC KEY");
  const before = readFileSync(join(cwd, "own.key"), "utf8");
  expect((await trust("keygen", "own")).stderr).toContain("own.key cannot be written");
  expect(readFileSync(join(cwd, "own.key"), "utf8")).toBe(before);
  expect((await trust("keygen", "../x")).stderr).toContain("has to be 1 to 64 letters");

  writeFileSync(join(cwd, "hello.wasm"), "component");
  const signed = await trust("sign", "hello.wasm", "--key", "own.key");
  expect(signed.stdout).toContain(`signed by the key SHA256:${made.fingerprint}`);
  const bundle = readFileSync(join(cwd, "hello.wasm.sigstore.json"));
  const evidence = { subject: Buffer.from("component"), bundles: [bundle], simple: [] };
  expect(readSignatures(evidence)).toMatchObject({ signatures: [{}], problems: [] });
  expect((await trust("sign", "hello.wasm", "--key", "own.pub")).stderr).toContain("is a public key");
  expect(existsSync(join(cwd, "home", "own.key"))).toBe(false);
});
