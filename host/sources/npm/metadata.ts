/** Reads a registry's metadata of a package: which version a range means, where its tarball is and its digest. */
import { createRequire } from "node:module";
import type * as Semver from "semver";
import { isRecord, visibleLine } from "../../../kernel/kit/text.ts";
import { Fault, reason } from "../../../kernel/plugin.ts";

export interface Release {
  readonly version: string;
  readonly tarball: string;
  readonly sha512: string;
  readonly isAttested: boolean;
}

const MAX_SHOWN = 8;
const MAX_VERSIONS = 20_000;

/** `wanted`: a version, a range or a tag such as `latest`. */
export function chooseRelease(text: string, name: string, wanted: string): Release {
  const wrong = (why: string, cause?: unknown) =>
    new Fault(
      "unavailable",
      "bad_registry_answer",
      `The registry's answer about ${name} cannot be used: ${why}.`,
      { cause },
    );
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    throw wrong(`it is not JSON (${visibleLine(reason(error))})`, error);
  }
  const { "dist-tags": tags, versions, name: said } = asObject(document);
  // A mirror that mixes packages up is as wrong as one that lies.
  if (said !== name)
    throw wrong(`it is about ${visibleLine(JSON.stringify(said) ?? "nothing").slice(0, 100)}`);
  const known = asObject(versions);
  if (Object.keys(known).length > MAX_VERSIONS) throw wrong(`it lists more than ${MAX_VERSIONS} versions`);
  const version = chooseVersion(Object.keys(known), asObject(tags), name, wanted);
  const { version: own, dist } = asObject(known[version]);
  if (own !== version) throw wrong(`under ${version} it describes another version`);
  const { tarball, integrity, attestations } = asObject(dist);
  if (typeof tarball !== "string") throw wrong(`it does not say where version ${version} is`);
  const sha512 = typeof integrity === "string" ? findSha512(integrity) : undefined;
  if (sha512 === undefined)
    throw wrong(`it gives no SHA-512 for version ${version}, without which the content cannot be checked`);
  return { version, tarball, sha512, isAttested: attestations !== undefined };
}

function chooseVersion(
  versions: readonly string[],
  tags: Readonly<Record<string, unknown>>,
  name: string,
  wanted: string,
): string {
  // Loaded when a version is chosen: it is fifty files, which no start needs.
  const { maxSatisfying, valid, validRange } = createRequire(import.meta.url)("semver") as typeof Semver;
  const tagged = Object.hasOwn(tags, wanted) ? tags[wanted] : undefined;
  const exact = valid(wanted);
  const range = validRange(wanted);
  // In npm's own order: what reads as a version or a range is none of the tags.
  const found =
    exact ??
    (range === null
      ? tagged
      : maxSatisfying(
          [...versions].filter((one) => valid(one) === one),
          range,
        ));
  if (typeof found === "string" && versions.includes(found)) return found;
  const newest = versions.filter((one) => valid(one) === one).slice(-MAX_SHOWN);
  const there = [
    ...newest,
    ...Object.keys(tags)
      .slice(0, MAX_SHOWN)
      .map((tag) => visibleLine(tag).slice(0, 64)),
  ];
  const message = `${name} has no version ${wanted}. There are: ${there.join(", ") || "none"}.`;
  throw new Fault("missing", "no_such_version", message);
}

function findSha512(integrity: string): string | undefined {
  const digests = integrity.slice(0, 2048).split(" ");
  return digests
    .map((digest) => /^sha512-([A-Za-z0-9+/]{86}==)$/.exec(digest)?.[1])
    .find((one) => one !== undefined);
}

const asObject = (value: unknown) => (isRecord(value) ? value : {});
