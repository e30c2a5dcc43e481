/** A component at an address, with its capabilities in it or beside it. */
import { Fault } from "../../kernel/plugin.ts";
import { digestOf } from "../catalog/catalog.ts";
import {
  MAX_CAPABILITIES_BYTES,
  MAX_COMPONENT_BYTES,
  readCapabilitiesSection,
} from "../compile/capabilities-section.ts";
import { type Evidence, MAX_SIGNATURE_BYTES } from "../trust/evidence.ts";
import { type Downloads, progressOf } from "./download.ts";
import type { ReferenceOf } from "./reference.ts";
import type { FetchOptions, Source } from "./source.ts";

type OnBytes = (count: number) => void;

const ABSENT = [404, 410];
/** Stores of objects answer 403 about what is not there; a signature that is withheld is none. */
const ABSENT_BESIDE = [...ABSENT, 403];

function createGet(downloads: Downloads, signal: AbortSignal | undefined) {
  return async (from: URL, maxBytes: number, absent: readonly number[], onBytes?: OnBytes) => {
    const { status, body } = await downloads.send(from, { maxBytes, signal, onBytes });
    if (absent.includes(status)) return undefined;
    if (status !== 200) {
      const message = `${from.host} answered ${status} for ${from.href}.`;
      throw new Fault("unavailable", "tool_download", message);
    }
    return body;
  };
}

/** What is at an address, and the signature beside it. */
export async function fetchSigned(
  downloads: Downloads,
  url: URL,
  maxBytes: number,
  { progress, signal }: Pick<FetchOptions, "progress" | "signal">,
): Promise<{ readonly data: Uint8Array; readonly evidence: Evidence }> {
  const get = createGet(downloads, signal);
  progress(`downloading ${url.href}`);
  const data = await get(url, maxBytes, ABSENT, progressOf(url.href, undefined, progress));
  if (data === undefined) throw new Fault("missing", "no_such_tool", `There is nothing at ${url.href}.`);
  const signature = new URL(url);
  signature.pathname += ".sigstore.json";
  const bundle = await get(signature, MAX_SIGNATURE_BYTES, ABSENT_BESIDE);
  return { data, evidence: { subject: data, bundles: bundle === undefined ? [] : [bundle], simple: [] } };
}

export function createHttpsSource(downloads: Downloads): Source<ReferenceOf<"https">> {
  return {
    async fetch({ url: text }, { progress, signal, capabilitiesText: given }) {
      const url = new URL(text);
      const get = createGet(downloads, signal);
      const beside = (ending: string) => {
        const other = new URL(url);
        other.pathname = `${url.pathname.replace(/\.wasm$/, "")}${ending}`;
        return other;
      };
      const { data: component, evidence } = await fetchSigned(downloads, url, MAX_COMPONENT_BYTES, {
        progress,
        signal,
      });
      const inside = given ?? readCapabilitiesSection(component);
      const file = beside(".capabilities.json");
      const fetched =
        inside === undefined ? await get(file, MAX_CAPABILITIES_BYTES, ABSENT_BESIDE) : undefined;
      const capabilitiesText = inside ?? (fetched && Buffer.from(fetched).toString("utf8"));
      if (capabilitiesText === undefined) {
        const message = `Nothing says what ${url.href} may do: there is no ${file.href}, and there is none inside the component.`;
        throw new Fault("invalid", "no_capabilities", message, { param: "capabilities", usage: true });
      }
      return {
        component,
        capabilitiesText,
        name: (url.pathname.split("/").at(-1) ?? "").replace(/\.wasm$/, ""),
        origin: { kind: "https", reference: url.href, digest: `sha256:${digestOfAll(component, fetched)}` },
        evidence: { ...evidence, ...(fetched !== undefined && { uncovered: file.href }) },
      };
    },
  };
}

/** The component's digest; where the capabilities are beside it, a digest of both, so that neither can be exchanged unseen. */
function digestOfAll(component: Uint8Array, capabilities: Uint8Array | undefined): string {
  const own = digestOf(component);
  return capabilities === undefined ? own : digestOf(Buffer.from(`${own}${digestOf(capabilities)}`));
}
