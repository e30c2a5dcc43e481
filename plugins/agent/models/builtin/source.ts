/**
 * The user's text while parameters are read out of it. What one parameter took is blanked out, so that
 * no other takes it again; positions stay what they were.
 */

export class Source {
  readonly text: string;
  #rest: string;

  constructor(text: string) {
    this.text = text;
    this.#rest = text;
  }

  /** The text with what was taken blanked out. */
  get rest(): string {
    return this.#rest;
  }

  take(start: number, end: number): void {
    this.#rest = this.#rest.slice(0, start) + TAKEN.repeat(end - start) + this.#rest.slice(end);
  }

  /** Takes the first match; answers its first group, or all of it. */
  takeMatch(pattern: RegExp, accept: (found: string) => boolean = () => true): string | undefined {
    const global = new RegExp(pattern.source, `${pattern.flags.replace(/[dg]/g, "")}dg`);
    for (const match of this.#rest.matchAll(global)) {
      const group = match[1] === undefined ? 0 : 1;
      const found = match[group] ?? "";
      const span = match.indices?.[group];
      if (found === "" || found.includes(TAKEN) || !span || !accept(found)) continue;
      this.take(span[0], span[1]);
      return found;
    }
    return undefined;
  }
}

/** Stands where a parameter's value stood: no letter, no digit, no space, so that no phrase runs across it. */
export const TAKEN = "\uE000";
