/** Parses what a person names when they install a tool. It looks at the words alone; the source looks at the rest. */
import { visibleLine } from "../../kernel/kit/text.ts";
import { Fault } from "../../kernel/plugin.ts";

export type Reference =
  | { readonly kind: "folder"; readonly path: string }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "https"; readonly url: string }
  | OciReference
  | { readonly kind: "npm"; readonly name: string; readonly range: string }
  | { readonly kind: "named"; readonly name: string };

export type ReferenceOf<Kind extends Reference["kind"]> = Extract<Reference, { readonly kind: Kind }>;

/** A tag, or a digest that pins it. */
export interface OciReference {
  readonly kind: "oci";
  readonly registry: string;
  readonly repository: string;
  readonly tag?: string;
  /** `sha256:…` of the manifest. */
  readonly digest?: string;
}

export type KindOnDisk = (path: string) => "folder" | "file" | undefined;

const MAX_CHARS = 2048;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/;
const REGISTRY =
  /^(?:[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,20}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?$/;
const REPOSITORY_PART = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const NPM_PART = /^[a-z0-9~-][a-z0-9._~-]{0,213}$/;
const NPM_RANGE = /^[0-9A-Za-z.^~<>=|*+ -]{1,128}$/;
const MAX_REPOSITORY = 255;
const MAX_NPM_NAME = 214;

/** A path that exists on disk wins over a bare name; an address is never a path. */
export function parseReference(text: string, onDisk: KindOnDisk = () => undefined): Reference {
  if (text.length > MAX_CHARS) throw refusal(text, `it has more than ${MAX_CHARS} characters`);
  if (text.trim() !== text || text === "") throw refusal(text, "it is empty or has spaces around it");
  if (visibleLine(text) !== text) throw refusal(text, "it has characters that cannot be seen");
  const scheme = SCHEME.exec(text)?.[0].toLowerCase();
  if (scheme === "oci:") return parseOci(text);
  if (scheme === "npm:") return parseNpm(text);
  if (scheme === "https:" || scheme === "http:") return parseUrl(text);
  if (scheme !== undefined && text.startsWith("//", scheme.length))
    throw refusal(text, `${scheme}// is not supported`);
  const kind = onDisk(text);
  if (kind !== undefined) return { kind, path: text };
  if (NAME.test(text)) return { kind: "named", name: text };
  if (text.includes("/") || text.endsWith(".wasm")) return { kind: "file", path: text };
  throw refusal(text, "there is no such file or folder, and it is not a tool's name");
}

/** The same words for the same thing: what is kept, matched with rules and asked again. */
export function canonicalReference(reference: Reference): string {
  switch (reference.kind) {
    case "folder":
    case "file":
      return reference.path;
    case "https":
      return reference.url;
    case "npm":
      return `npm:${reference.name}@${reference.range}`;
    case "named":
      return reference.name;
    case "oci": {
      const { registry, repository, tag, digest } = reference;
      return `oci://${registry}/${repository}${digest === undefined ? `:${tag}` : `@${digest}`}`;
    }
  }
}

function parseOci(text: string): OciReference {
  const refuse = (why: string) => refusal(text, `${why}; write oci://registry/repository:tag or …@sha256:…`);
  if (!text.startsWith("oci://")) throw refuse("it does not start with oci://");
  const rest = text.slice("oci://".length);
  const slash = rest.indexOf("/");
  const named = slash === -1 ? rest : rest.slice(0, slash);
  // As it is dialled: a number or a port in another notation is the same host to rules and sign-ins.
  const registry = REGISTRY.test(named) ? URL.parse(`https://${named}/`)?.host : undefined;
  if (registry === undefined) throw refuse("the registry has to be a host, with a port where it needs one");
  const path = slash === -1 ? "" : rest.slice(slash + 1);
  const [place = "", digest, ...more] = path.split("@");
  if (more.length > 0) throw refuse("it has more than one @");
  const [repository = "", tag, ...others] = place.split(":");
  if (others.length > 0) throw refuse("it has more than one tag");
  if (
    repository.length > MAX_REPOSITORY ||
    !repository.split("/").every((part) => REPOSITORY_PART.test(part))
  )
    throw refuse("the repository has to be lowercase letters, digits and single . _ - between them");
  if (digest !== undefined) {
    if (tag !== undefined) throw refuse("it has both a tag and a digest, and only one is used");
    if (!DIGEST.test(digest)) throw refuse("the digest has to be sha256: and 64 lowercase hex digits");
    return { kind: "oci", registry, repository, digest };
  }
  if (tag !== undefined && !TAG.test(tag))
    throw refuse("the tag has to be up to 128 letters, digits and . _ -");
  return { kind: "oci", registry, repository, tag: tag ?? "latest" };
}

function parseNpm(text: string): Reference {
  const rest = text.slice("npm:".length);
  const at = rest.indexOf("@", 1);
  const name = at === -1 ? rest : rest.slice(0, at);
  const range = at === -1 ? "latest" : rest.slice(at + 1);
  const [scope, ...parts] = name.startsWith("@") ? name.slice(1).split("/") : ["npm", name];
  if (
    name.length > MAX_NPM_NAME ||
    parts.length !== 1 ||
    ![scope, ...parts].every((part) => NPM_PART.test(part ?? ""))
  )
    throw refusal(text, "the package's name is not valid; write npm:package or npm:package@version");
  if (!NPM_RANGE.test(range)) throw refusal(text, "the version is not valid; write npm:package@1.2.3");
  return { kind: "npm", name, range };
}

function parseUrl(text: string): Reference {
  const url = URL.parse(text);
  if (url === null || !/^https?:\/\//i.test(text)) throw refusal(text, "it is not a valid URL");
  if (url.username !== "" || url.password !== "")
    throw refusal(text, "it has a user name or password in it, which would be kept and shown");
  url.hash = "";
  return { kind: "https", url: url.href };
}

function refusal(text: string, why: string): Fault {
  const shown = visibleLine(text.length > 200 ? `${text.slice(0, 200)}…` : text);
  return new Fault("invalid", "tool_reference", `"${shown}" cannot be installed: ${why}.`, {
    param: "what",
    usage: true,
  });
}
