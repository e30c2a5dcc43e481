/** `trust add`, `trust list` and `trust remove`. */
import { type JsonOption, table } from "../../../kernel/kit/terminal.ts";
import { type CommandContext, Fault } from "../../../kernel/plugin.ts";
import { describeSigner } from "../../trust/evidence.ts";
import { checkIssuer, checkSubject, formatPattern, parsePattern } from "../../trust/pattern.ts";
import { fingerprintOf, readPublicKey } from "../../trust/public-key.ts";
import type { NamedSigner, TrustRule } from "../../trust/rules.ts";
import { withHost } from "../host-access.ts";
import { print, readInput } from "../terminal/terminal.ts";

export interface AddOptions extends JsonOption {
  readonly key?: string;
  readonly identity?: string;
  readonly issuer?: string;
  readonly trustedRoot?: string;
}

export async function add(context: CommandContext, text: string, options: AddOptions): Promise<void> {
  const parsed = parsePattern(text);
  const pattern = formatPattern(parsed);
  const signer = await readSigner(context, options);
  // The registry keeps attestations by identity; there is no place where a signature with a key would be found.
  if (parsed.scheme === "npm" && signer.type === "key")
    throw usage(
      "packages of npm are signed by identity (npm publish --provenance): pass --identity and --issuer in place of --key",
    );
  await withHost(context, async ({ trust }) => {
    const added = await trust.add(pattern, signer);
    const rules = (await trust.list()).filter((rule) => rule.pattern === pattern);
    const rule = added ?? rules.find((other) => describeSigner(other.signer) === describeSigner(signer));
    const others =
      rules.length === 1 ? "" : ` ${rules.length} rules have this pattern; any of them is enough.`;
    print(options, { added: added !== undefined, rule: rule === undefined ? null : toJson(rule) }, () =>
      added === undefined
        ? `There is such a rule already: ${pattern} needs a signature by ${describeSigner(signer)}.`
        : `Added ${added.id}: ${pattern} needs a signature by ${describeSigner(signer)}.${others}`,
    );
  });
}

export async function list(context: CommandContext, options: JsonOption): Promise<void> {
  await withHost(context, async ({ trust }) => {
    const rules = await trust.list();
    print(options, { rules: rules.map(toJson) }, () =>
      rules.length === 0
        ? 'No trust rules: every tool from a registry or a download asks for --allow-unsigned. See "postern trust add --help".'
        : table(
            ["ID", "PATTERN", "SIGNED BY"],
            rules.map(({ id, pattern, signer }) => [id, pattern, shown(signer)]),
          ).trimEnd(),
    );
  });
}

export async function remove(context: CommandContext, what: string, options: JsonOption): Promise<void> {
  await withHost(context, async ({ trust }) => {
    const removed = await trust.remove(what.includes(":") ? formatPattern(parsePattern(what)) : what);
    if (removed.length === 0) {
      const message = `there is no trust rule "${what}"; "postern trust list" shows them`;
      throw new Fault("missing", "no_such_rule", message, { param: "rule" });
    }
    print(options, { removed: removed.map(toJson) }, () =>
      removed
        .map(
          ({ pattern, signer }) =>
            `Removed: ${pattern} no longer needs a signature by ${describeSigner(signer)}.`,
        )
        .join("\n"),
    );
  });
}

async function readSigner(
  context: CommandContext,
  { key, identity, issuer, trustedRoot }: AddOptions,
): Promise<NamedSigner> {
  if (key !== undefined) {
    if (identity !== undefined || issuer !== undefined || trustedRoot !== undefined)
      throw usage("pass either --key, or --identity and --issuer: a rule names one signer");
    const read = readPublicKey((await readInput(context, key)).toString("utf8"));
    return {
      type: "key",
      pem: read.export({ type: "spki", format: "pem" }).toString(),
      fingerprint: fingerprintOf(read),
    };
  }
  if (identity === undefined || issuer === undefined)
    throw usage("name the signer: --key <file>, or --identity <subject> with --issuer <url>");
  const subject = checkSubject(identity);
  const signer = { type: "identity", subject, issuer: checkIssuer(issuer) } as const;
  if (trustedRoot === undefined) return signer;
  const text = (await readInput(context, trustedRoot)).toString("utf8");
  const { readTrustedRoot } = await import("../../trust/certificate.ts");
  readTrustedRoot(text);
  // Written anew: the same root is the same rule, with or without line breaks.
  return { ...signer, trustedRoot: JSON.stringify(JSON.parse(text)) };
}

function shown(signer: NamedSigner): string {
  const root =
    signer.type === "identity" && signer.trustedRoot !== undefined ? ", by a root of your own" : "";
  return `${describeSigner(signer)}${root}`;
}

function toJson({ id, pattern, signer, addedAt }: TrustRule): object {
  return {
    id,
    pattern,
    ...(signer.type === "key"
      ? { key: signer.fingerprint }
      : {
          identity: signer.subject,
          issuer: signer.issuer,
          trusted_root: signer.trustedRoot === undefined ? "public" : "own",
        }),
    added_at: addedAt,
  };
}

function usage(message: string): Fault {
  return new Fault("invalid", "trust_signer", message, { usage: true });
}
