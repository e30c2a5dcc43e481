/** An attack on the running service, as a test: it passes when the attack was contained. */
import { test } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Which of the known weaknesses is attacked. */
    attack?: Weakness;
  }
}

/** Its number, or the letter of a part that has no numbers. */
export type Weakness = number | "D" | "F" | "I" | "J" | "K" | "W";

/** Stands in for `test`; the run says at its end how many attacks were tried and contained. */
export function attack(weakness: Weakness, title: string, run: () => Promise<void> | void): void {
  test(`${weakness}. ${title}`, { meta: { attack: weakness } }, run);
}
