/** `postern trust …`: whose signature a tool needs before it can be installed, and keys to sign with. */
import type { Command } from "commander";
import type { CommandContext } from "../../../kernel/plugin.ts";
import { verbsOf } from "../terminal/terminal.ts";
import { keygen, sign } from "./keys.ts";
import { add, list, remove } from "./rules.ts";

export function register(group: Command, context: CommandContext): void {
  group.addHelpText(
    "after",
    `
A rule says whose signature tools need. What is not signed by a signer of the rule is refused, whatever options an
install is given. The most precise pattern that matches decides; several rules with one pattern: any of them is enough.

Examples:
  $ postern trust add 'oci://registry.example/acme/*' --key cosign.pub
  $ postern trust list
  $ postern trust remove 'oci://registry.example/acme/*'`,
  );
  const verb = verbsOf(group);

  verb(
    "add <pattern>",
    "require a signature for the tools that match: by a key, or by the identity in a certificate",
    "add 'oci://registry.example/acme/*' --key cosign.pub",
    "add 'https://downloads.example/tools/*' --key cosign.pub",
    "add 'oci://ghcr.io/acme/*' --identity release@acme.example --issuer https://accounts.google.com",
    "add 'npm:@acme/*' --identity 'https://github.com/acme/tools/.github/workflows/release.yml@refs/tags/*' --issuer https://token.actions.githubusercontent.com",
    "add 'oci://registry.example/*' --identity ci@acme.example --issuer https://sso.acme.example --trusted-root root.json",
  )
    .option("--key <file>", "the signer's public key (cosign.pub)")
    .option(
      "--identity <subject>",
      "who a certificate has to name; a * at the end, after / or @, stands for the rest",
    )
    .option("--issuer <url>", "the service that the signer signed in with")
    .option(
      "--trusted-root <file>",
      "the authorities and logs of another Sigstore than the public one (trusted_root.json)",
    )
    .action((pattern, options) => add(context, pattern, options));

  verb("list", "list the rules", "list", "list --json").action((options) => list(context, options));

  verb(
    "remove <rule>",
    "remove a rule by its id, or all rules of a pattern",
    "remove 4f2a90c1d3e7",
    "remove 'oci://registry.example/acme/*'",
  ).action((rule, options) => remove(context, rule, options));

  verb(
    "keygen [name]",
    "make a key to sign tools with, as cosign does: <name>.key, encrypted under COSIGN_PASSWORD, and <name>.pub",
    "keygen",
    "keygen acme",
  ).action((name, options) => keygen(context, name, options));

  verb(
    "sign <file>",
    "sign a component that is downloaded by https; writes <file>.sigstore.json, which belongs beside it",
    "sign hello.wasm --key cosign.key",
  )
    .requiredOption("--key <file>", "the private key; its password is in COSIGN_PASSWORD, or is asked for")
    .action((file, options) => sign(context, file, options));
}
