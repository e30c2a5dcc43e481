/** A link must not show one address and open another. */
import { expect } from "vitest";
import { showsOtherAddress } from "../../kernel/text/link-address.ts";
import type { TextFormat } from "../../plugins/messaging/services.ts";
import { writeMessages } from "../../plugins/messaging/text/markdown.ts";
import { attack } from "../support/attacks.ts";

const EVIL = "https://evil.example/login";

attack("I", "A link whose words are another address shows both in every chat and mail", () => {
  for (const words of [
    "https://bank.example",
    "bank.example",
    "**https://bank.example**",
    "Sign in at www.bank.example/login",
    "https://bank.example/?at=evil.example",
    "evil.example.bank.example",
    "ｂａｎｋ.example",
    "bank\u3002example",
    "bank.ex\u200bample",
    "https://bank.example@evil.example/login",
  ]) {
    for (const format of ["plain", "telegram", "slack", "mail"] as const satisfies readonly TextFormat[]) {
      const [part] = writeMessages(`See [${words}](${EVIL}) now`, { format, characters: 4000 });
      for (const text of [part?.text, part?.html].filter((one) => one !== undefined))
        expect(text, `${format} ${words}`).toContain(` (${EVIL}) now`);
    }
  }
});

attack("I", "A link to a mail address shows it beside the words of another", () => {
  const [part] = writeMessages("[ann@bank.example](mailto:eve@evil.example)", {
    format: "telegram",
    characters: 4000,
  });
  expect(part?.text).toContain("(mailto:eve@evil.example)");
});

attack("I", "A link that opens what it shows, or shows no address, is left as it is", () => {
  for (const [words, href] of [
    ["https://bank.example", "https://bank.example/"],
    ["bank.example", "https://bank.example/account?tab=1"],
    ["bank.example/account", "https://bank.example/account?tab=1"],
    ["the bank, version 2.0", EVIL],
    ["ann@bank.example", "mailto:ann@bank.example?subject=Hi"],
  ] as const)
    expect(showsOtherAddress(words, href), words).toBe(false);
});
