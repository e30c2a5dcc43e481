/** Findings from a component's bytes: how large it is, what made it, and where its time and randomness come from. */
import { Fault } from "../../../kernel/plugin.ts";
import type { ComponentInfo } from "../../compile/component.ts";
import type { Finding } from "./report.ts";

const QUICKJS = "init";
const OURSELVES = "postern";

export function describeShape(bytes: Uint8Array, info: ComponentInfo): readonly Finding[] {
  const { makers, languages } = readOrigin(info);
  const host = info.imports.filter((name) => name.startsWith("postern:"));
  const usesFetch = info.imports.some((name) => /^wasi:http\/(?:outgoing-handler|client)@/.test(name));
  const wasi = info.imports.filter((name) => name.startsWith("wasi:") && !name.startsWith("wasi:http/"));
  const denied = info.denied.map((what) => `; it asks for ${what} and gets none`);
  // Only a script engine has run before it came here, and keeps the time and the chance of the build.
  const isScript = languages.includes("JavaScript") || info.exports.includes(QUICKJS);
  return [
    {
      subject: "size",
      verdict: bytes.length > 32e6 ? "warn" : "ok",
      detail: `${(bytes.length / 1e6).toFixed(1)} MB${makers.length === 0 ? "" : `, made by ${makers.join(", ")}`}`,
    },
    { subject: "exports", verdict: "ok", detail: info.exports.join(", ") },
    {
      subject: "imports",
      verdict: "ok",
      detail: `${host.join(", ") || "nothing of postern:tool/host"}, ${usesFetch ? "wasi:http for fetch, " : ""}and ${wasi.length} of WASI that ${wasi.length === 1 ? "grants" : "grant"} nothing${denied.join("")}`,
    },
    { subject: "WIT version", verdict: "ok", detail: info.witVersion },
    clock(info, isScript),
    chance(info, makers, isScript),
  ];
}

function clock({ imports }: ComponentInfo, isScript: boolean): Finding {
  const subject = "clock";
  if (imports.some((name) => /^wasi:clocks\/(?:wall|system)-clock@/.test(name)))
    return { subject, verdict: "ok", detail: "it can read the time" };
  if (!isScript) return { subject, verdict: "ok", detail: "it does not read the time" };
  return {
    subject,
    verdict: "warn",
    detail: "it imports no wall clock: code that reads the time always sees the time of the build",
  };
}

function chance({ imports, exports }: ComponentInfo, makers: readonly string[], isScript: boolean): Finding {
  const subject = "randomness";
  const repeats = "every call sees the same numbers";
  if (exports.includes(QUICKJS) && !makers.some((maker) => maker.startsWith(`${OURSELVES} `))) {
    return {
      subject,
      verdict: "warn",
      detail: `QuickJS takes its seed at build time: with Math.random() ${repeats}. Build with "postern tool build --engine quickjs" to fix it`,
    };
  }
  if (imports.some((name) => name.startsWith("wasi:random/")))
    return { subject, verdict: "ok", detail: "it can get random numbers" };
  if (!isScript) return { subject, verdict: "ok", detail: "it does not use random numbers" };
  return {
    subject,
    verdict: "warn",
    detail: `it imports no source of randomness: if it uses any, ${repeats}`,
  };
}

/** We come first among the makers. */
function readOrigin({ producers }: ComponentInfo): {
  readonly makers: readonly string[];
  readonly languages: readonly string[];
} {
  if (producers === undefined)
    throw new Fault("invalid", "not_a_component", "Its producers section cannot be read.");
  const valuesOf = (name: string) => producers.flatMap(([field, values]) => (field === name ? values : []));
  const makers = valuesOf("processed-by").map(([name, version]) => `${name} ${version}`);
  return {
    makers: makers.sort((a, b) => Number(b.startsWith(OURSELVES)) - Number(a.startsWith(OURSELVES))),
    languages: valuesOf("language").map(([name]) => name),
  };
}
