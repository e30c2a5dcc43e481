/** What a page keeps from people who cannot see it or use a mouse, as axe finds it. */
import axe from "axe-core";
import type { Page } from "playwright-core";

interface Findings {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/** The rule and the first element of each finding. */
export async function findBarriers(page: Page): Promise<readonly (readonly [string, string | undefined])[]> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate("axe.run()")) as Findings;
  return violations.map(({ id, nodes }) => [id, nodes[0]?.html]);
}
