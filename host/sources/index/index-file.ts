/**
 * An index of tools: a JSON file in which somebody lists what can be installed by name. It is a stranger's text, so it is bounded,
 * and an entry that is not what it should be is left out with a sentence that says why.
 *
 *     { "tools": [{ "name": "weather", "about": "Current weather and forecasts.", "from": "oci://ghcr.io/acme/weather:1",
 *       "digest": "sha256:…", "signer": "releases@acme.example" }] }
 */
import { isRecord, visibleLine } from "../../../kernel/kit/text.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { checkName } from "../../catalog/install.ts";
import type { ListedTool } from "../../wire.ts";
import { parseReference } from "../reference.ts";
import { type Listing, parseListing, sentence } from "./listing.ts";

/** Its digest is `sha256:…` in hex or `sha512-…` in base64, and absent only if `from` is a file beside the index. */
export interface IndexEntry extends ListedTool {
  /** The capabilities file of a component beside the index, where they are not inside it. */
  readonly capabilities?: string;
}

const MAX_ABOUT = 240;
const MAX_SIGNER = 320;

const DIGEST = /^(?:sha256:[0-9a-f]{64}|sha512-[A-Za-z0-9+/]{86}==)$/;

/** `index`: where the text is from. `resolve` makes a place beside the index a reference; undefined where there can be none. */
export function parseIndex(
  text: string,
  index: string,
  resolve: (path: string) => string | undefined,
): Listing<IndexEntry> {
  return parseListing(text, index, "tool", (tool) => readEntry(tool, index, resolve));
}

function readEntry(tool: unknown, index: string, resolve: (path: string) => string | undefined): IndexEntry {
  const wrong = (why: string) => new Fault("invalid", "bad_index", why);
  if (!isRecord(tool)) throw wrong("it is not an object");
  const field = (key: string) => {
    const value = tool[key];
    if (value !== undefined && typeof value !== "string") throw wrong(`its "${key}" is not a text`);
    return value;
  };
  const name = field("name") ?? "";
  // The name is what people type and models call: not even a hidden character is taken out of it.
  checkName(name);
  const about = sentence(field("about") ?? "", MAX_ABOUT);
  if (about === "") throw wrong(`${name} has no "about" that says what it does`);
  const digest = field("digest");
  if (digest !== undefined && !DIGEST.test(digest))
    throw wrong(`the digest of ${name} is neither sha256:<64 hex digits> nor sha512-<base64>`);
  const signer = sentence(field("signer") ?? "", MAX_SIGNER);
  const from = readFrom(name, field("from") ?? "", digest, resolve);
  const capabilities = field("capabilities");
  const beside = capabilities === undefined ? undefined : resolve(capabilities);
  if (beside === undefined && capabilities !== undefined)
    throw wrong(`${name} names a capabilities file, which only a file beside the index can have`);
  return { name, about, from, index, digest, capabilities: beside, ...(signer !== "" && { signer }) };
}

function readFrom(
  name: string,
  from: string,
  digest: string | undefined,
  resolve: (path: string) => string | undefined,
): string {
  const wrong = (why: string) => new Fault("invalid", "bad_index", `${name} ${why}`);
  if (from === "") throw wrong('has no "from" that says where it is');
  const { kind } = parseReference(from);
  if (kind === "https" || kind === "oci" || kind === "npm") {
    if (digest === undefined) throw wrong("has no digest, without which its content could be exchanged");
    return from;
  }
  const beside = kind === "named" ? undefined : resolve(from);
  if (beside === undefined)
    throw wrong(`is said to be at ${visibleLine(from)}, which is neither https, oci nor npm`);
  return beside;
}
