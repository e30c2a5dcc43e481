/** What a page keeps from people who cannot see it or use a mouse, as axe finds it. */
import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

interface Findings {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

// Another theme fades in, and a colour halfway is nobody's. What repeats for ever, such as a spinner, has no end to wait for.
const SETTLED =
  "Promise.allSettled(document.getAnimations().filter((one) => Number.isFinite(one.effect.getComputedTiming().endTime)).map((one) => one.finished))";

/** The rule and the first element of each finding. */
export async function findBarriers(page: Page): Promise<readonly (readonly [string, string | undefined])[]> {
  await page.evaluate(axe.source);
  await page.evaluate(SETTLED);
  const { violations } = (await page.evaluate("axe.run()")) as Findings;
  return violations.map(({ id, nodes }) => [id, nodes[0]?.html]);
}

/** What axe finds on a page as it is, and whether it is wider than the screen. */
export async function findFaults(page: Page): Promise<readonly unknown[]> {
  const barriers = await findBarriers(page);
  const isTooWide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
  return isTooWide ? [...barriers, "too wide"] : barriers;
}

/** On a phone in the dark, and on a desktop. */
export async function expectNoFaults(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 390, height: 800 });
  expect(["phone", await findFaults(page)]).toEqual(["phone", []]);
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1200, height: 800 });
  expect(["desktop", await findFaults(page)]).toEqual(["desktop", []]);
}
