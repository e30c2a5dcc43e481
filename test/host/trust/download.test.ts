/** The signature of a component that is downloaded: beside it, and about all that the tool needs. */
import { expect, test } from "vitest";
import { createNetwork } from "../../../host/broker/network.ts";
import { withCapabilitiesSection } from "../../../host/compile/capabilities-section.ts";
import { admit } from "../../../host/installer.ts";
import { createDownloads } from "../../../host/sources/download.ts";
import { createHttpsSource } from "../../../host/sources/https.ts";
import { createJudge } from "../../../host/trust/judge.ts";
import { openUpstream } from "../../support/servers/upstream.ts";
import { blobBundle, createKey } from "../../support/signatures/cosign.ts";
import { afterThisTest } from "../../support/undo.ts";

const BARE = Buffer.from([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]);
const WITH_CAPABILITIES = withCapabilitiesSection(BARE, '{"version":"1.0.0"}');

test("the bundle beside a download is taken for its signature, where the capabilities are inside the component", async () => {
  const key = createKey();
  const files: Record<string, Uint8Array> = {
    "/hello.wasm": WITH_CAPABILITIES,
    "/hello.wasm.sigstore.json": blobBundle(WITH_CAPABILITIES, key),
    "/get?tool=hello": WITH_CAPABILITIES,
    "/get.sigstore.json?tool=hello": blobBundle(WITH_CAPABILITIES, key),
    "/swapped.wasm": withCapabilitiesSection(BARE, '{"version":"2.0.0"}'),
    "/swapped.wasm.sigstore.json": blobBundle(WITH_CAPABILITIES, key),
    "/bare.wasm": BARE,
    "/bare.wasm.sigstore.json": blobBundle(BARE, key),
    "/bare.capabilities.json": Buffer.from('{"version":"1.0.0"}'),
    "/unsigned.wasm": WITH_CAPABILITIES,
    "/huge.wasm": WITH_CAPABILITIES,
    "/huge.wasm.sigstore.json": Buffer.alloc(300 * 1024),
  };
  const upstream = await openUpstream(({ path }, response) => {
    const file = files[path];
    // As stores of objects do.
    if (file === undefined) response.writeHead(403);
    response.end(file);
  });
  const host = `127.0.0.1:${upstream.port}`;
  const network = createNetwork({ privateHosts: new Set([host]) });
  const downloads = createDownloads({ network });
  afterThisTest(async () => {
    await network.close();
    await upstream.close();
  });
  const { pem, fingerprint } = key;
  const rule = {
    id: "",
    pattern: `https://${host}/*`,
    addedAt: "",
    signer: { type: "key", pem, fingerprint },
  } as const;
  const install = async (path: string, capabilitiesText?: string) => {
    const fetched = await createHttpsSource(downloads).fetch(
      { kind: "https", url: `http://${host}${path}` },
      { progress: () => {}, ...(capabilitiesText !== undefined && { capabilitiesText }) },
    );
    return admit(createJudge({ matching: async () => [rule] }), fetched, { unsigned: () => true });
  };

  for (const path of ["/hello.wasm", "/get?tool=hello"])
    expect((await install(path)).origin?.signer).toBe(`the key SHA256:${fingerprint}`);
  await expect(install("/swapped.wasm")).rejects.toThrow("a signature is about other content");
  await expect(install("/unsigned.wasm")).rejects.toThrow("is not signed, and the trust rule for");
  await expect(install("/bare.wasm")).rejects.toThrow(
    /its signature does not cover .*bare\.capabilities\.json; "postern tool build" puts/,
  );
  // What the operator gives is the operator's.
  expect((await install("/bare.wasm", "{}")).origin?.signer).toBe(`the key SHA256:${fingerprint}`);
  await expect(install("/huge.wasm")).rejects.toThrow("answered with more than 262144 bytes");
});
