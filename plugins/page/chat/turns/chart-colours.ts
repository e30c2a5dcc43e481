/** The colours of a chart that code drew: the theme's, light or dark as the page around it is. */

/** What the tool draws with, and the token in its place. */
export const TOKENS: Readonly<Record<string, string>> = {
  "#fff": "--card",
  "#1f2937": "--ink",
  "#d1d5db": "--line",
  "#2563eb": "--chart-1",
  "#f97316": "--chart-2",
  "#16a34a": "--chart-3",
  "#dc2626": "--chart-4",
  "#7c3aed": "--chart-5",
  "#0891b2": "--chart-6",
  "#ca8a04": "--chart-7",
  "#db2777": "--chart-8",
  "#4d7c0f": "--chart-9",
  "#475569": "--chart-10",
  "#9333ea": "--chart-11",
  "#0f766e": "--chart-12",
};

/** The first tag of every chart that the tool draws. Others keep their colours, which may stand on a ground of their own. */
const OURS = /^<svg xmlns[^>]* font-size="12" fill="#1f2937">/;
const MAX_LENGTH = 2 ** 20;
// A picture asks the element that shows it which of them it is.
const SCHEMES = ["light", "dark"].join(" ");

/** Returns the address of the chart as a picture with the theme's colours; undefined if it is not one that the tool drew. */
export function themedChart(svg: string): string | undefined {
  const [start] = OURS.exec(svg) ?? [];
  if (start === undefined || svg.length > MAX_LENGTH) return undefined;
  const theme = getComputedStyle(document.documentElement);
  const rules = Object.entries(TOKENS).flatMap(([drawn, token]) => {
    const colour = theme.getPropertyValue(token);
    return [`[fill="${drawn}"]{fill:${colour}}`, `[stroke="${drawn}"]{stroke:${colour}}`];
  });
  const style = `<style>svg{color-scheme:${SCHEMES}}${rules.join("")}</style>`;
  return `data:image/svg+xml,${encodeURIComponent(start + style + svg.slice(start.length))}`;
}
