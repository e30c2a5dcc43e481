/** Chooses the model of a provider if nobody did: the first of the table's list that the key may use and that does not retire soon. The choice is kept. */
import type { Prices } from "../spending/prices.ts";
import { dayIn, retiresBy } from "../table/lookup.ts";

export interface DefaultModels {
  /** The choice as far as it is known without asking the server. */
  first(provider: string): string | undefined;
  /** `offered`: what the key may use; none if the server did not say. */
  choose(provider: string, offered: readonly string[]): Promise<string | undefined>;
}

/** The choices of earlier starts, by provider. */
interface KeptChoices {
  get(provider: string): Promise<string | undefined>;
  set(provider: string, name: string): Promise<unknown>;
}

/** Where a default is kept, for `postern doctor` too. */
export const KEPT_DEFAULTS = "default-model";
export const WARN_DAYS = 60;

/** Families whose newest model is taken if none of the list is offered. */
const FAMILIES: Readonly<Record<string, RegExp>> = {
  anthropic: /^claude-sonnet-(\d+)(?:-(\d{1,2}))?$/,
  google: /^gemini-(\d+)(?:\.(\d+))?-flash$/,
  openai: /^gpt-(\d+)(?:\.(\d+))?-(?:terra|luna|sol)$/,
};

/** `kept` is absent if the choice is only tried. `say` tells the operator. */
export function createDefaults(
  prices: Pick<Prices, "find" | "defaults">,
  kept: KeptChoices | undefined,
  say: (line: string) => void,
): DefaultModels {
  const retires = (provider: string, name: string, day: string) =>
    retiresBy(prices.find({ provider, name }), day);
  const lasting = (provider: string) =>
    prices.defaults(provider).filter((name) => !retires(provider, name, dayIn(WARN_DAYS)));

  return {
    first: (provider) => lasting(provider)[0],
    async choose(provider, offered) {
      const before = await kept?.get(provider);
      const isOffered = (name: string) => offered.length === 0 || offered.includes(name);
      if (before !== undefined && isOffered(before) && !retires(provider, before, dayIn(0))) return before;
      const name = lasting(provider).find(isOffered) ?? newest(provider, offered);
      if (name === undefined) {
        say(`${provider} offers none of the models that Postern would choose by itself: set MODEL_NAME.`);
        return before;
      }
      if (before !== undefined)
        say(
          `${before} (${provider}) is not available any more: ${name} answers from now on. MODEL_NAME sets another.`,
        );
      // An answer that did not come is no reason to keep a guess.
      if (offered.length > 0) await kept?.set(provider, name);
      return name;
    },
  };
}

function newest(provider: string, offered: readonly string[]): string | undefined {
  const found = offered.flatMap((name) => {
    const match = FAMILIES[provider]?.exec(name);
    return match ? [{ name, version: Number(match[1]) * 100 + Number(match[2] ?? 0) }] : [];
  });
  return found.toSorted((one, other) => other.version - one.version)[0]?.name;
}
