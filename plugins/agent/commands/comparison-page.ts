/** A comparison as a page of its own: no script, nothing loaded from elsewhere, and every text escaped. */
import { table } from "../../../kernel/kit/terminal.ts";
import { escapeHtml, visible } from "../../../kernel/kit/text.ts";
import { countedUsd } from "../../../kernel/kit/turns.ts";
import { dollars } from "../../../kernel/kit/words.ts";
import type { ModelName, Usage } from "../../../kernel/plugin.ts";
import type { ComparedSide, ComparedTurn } from "../services.ts";

export const VERDICTS: Readonly<Record<ComparedTurn["calls"], string>> = {
  same: "same calls",
  different: "other calls",
  differs_here: "differs here (a call has no recorded result)",
  failed: "failed",
};

export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

export const secondsOf = (millis: number): string => `${(millis / 1000).toFixed(1)} s`;

export function costOf(usage: Usage): string {
  const cost = dollars(countedUsd(usage));
  return usage.estimatedCost === undefined ? cost : `${cost} (price unknown; estimated for the cap)`;
}

/** Only turns that were replayed to the end are added up: of others the replay is a part. */
export function summaryOf(model: ModelName, turns: readonly ComparedTurn[]): string {
  const verdicts = Map.groupBy(turns, ({ calls }) => calls).entries();
  const counts = verdicts.map(([verdict, { length }]) => `${length} ${VERDICTS[verdict]}`).toArray();
  return `${counted(turns.length, "turn")}: ${counts.join(", ")}.\n${table(["", ...HEADS], totalsOf(model, turns))}`;
}

const HEADS = ["TOKENS IN", "TOKENS OUT", "COST", "TIME", "QUESTIONS"];

function totalsOf(model: ModelName, turns: readonly ComparedTurn[]): readonly (readonly string[])[] {
  const whole = turns.filter(({ calls }) => calls === "same" || calls === "different");
  const row = (name: string, sides: readonly ComparedSide[]) => {
    const sum = (of: (side: ComparedSide) => number) => sides.reduce((total, side) => total + of(side), 0);
    return [
      name,
      String(sum(({ usage }) => usage.inputTokens)),
      String(sum(({ usage }) => usage.outputTokens)),
      dollars(sum(({ usage }) => countedUsd(usage))),
      secondsOf(sum(({ millis }) => millis)),
      String(sum(({ questions }) => questions)),
    ];
  };
  return [
    row(
      `${counted(whole.length, "turn")} as run`,
      whole.map(({ before }) => before),
    ),
    row(
      model.name,
      whole.map(({ after }) => after),
    ),
  ];
}

export async function* inPage(model: ModelName, turns: readonly ComparedTurn[]): AsyncGenerator<string> {
  const title = `${counted(turns.length, "turn")} replayed with ${shown(model.name)}`;
  yield `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${STYLE}</style>
<h1>${title}</h1>
<table>
${rowOf("th", ["", ...HEADS.map((head) => head.toLowerCase())])}
${totalsOf(model, turns)
  .map((row) => rowOf("td", row))
  .join("\n")}
</table>
<p>Only turns that were replayed to the end are added up. In a replay tools answer from their recorded results and take no time.</p>
`;
  for (const { text, title: thread, createdAt, calls, before, after } of turns)
    yield `<article class="${calls}">
<h2>${shown(text)}</h2>
<p>${shown(thread)}, <time>${shown(createdAt)}</time>: <strong>${VERDICTS[calls]}</strong></p>
<div>${sideOf(before)}${sideOf(after)}</div>
</article>
`;
}

function sideOf({ model, answer, calls, usage, millis, questions, error }: ComparedSide): string {
  const figures = `${usage.inputTokens} + ${usage.outputTokens} tokens, ${costOf(usage)}, ${secondsOf(millis)}, ${counted(questions, "question")}`;
  const called = calls.map(({ name, params }) => `<code>${shown(`${name} ${params}`)}</code>`).join("");
  const failed = error === undefined ? "" : `<p class="error">${shown(error.message)}</p>`;
  return `<section><h3>${shown(model.name)}</h3><p>${figures}</p>${called}${failed}<pre>${shown(answer)}</pre></section>`;
}

const shown = (text: string): string => escapeHtml(visible(text));

const rowOf = (cell: "th" | "td", texts: readonly string[]): string =>
  `<tr>${texts.map((text) => `<${cell}>${shown(text)}</${cell}>`).join("")}</tr>`;

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 75rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin: 0; white-space: pre-wrap; } h3 { font-size: 1rem; margin: 0; }
h2, code, pre { overflow-wrap: anywhere; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { padding: .25rem .75rem .25rem 0; text-align: left; }
p { margin: .25rem 0; color: color-mix(in srgb, CanvasText 75%, Canvas); }
strong { color: CanvasText; }
article { border-top: 1px solid color-mix(in srgb, CanvasText 25%, Canvas); padding: 1rem 0; }
article > div { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); gap: 1.5rem; }
code { display: block; } pre { font: inherit; white-space: pre-wrap; margin: .5rem 0 0; }
.differs_here strong, .failed strong, .error { color: light-dark(#a11, #f88); }
`;
