/** Sums as people type them into a chat: + - * / ^ %, brackets and the words for them. */

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/(?<=\d)\s*(?:%|percent) of\s+/g, " / 100 * "],
  [/\bplus\b/g, "+"],
  [/\bminus\b|−/g, "-"],
  [/\b(?:times|multiplied by)\b|×|(?<=\d)\s*x(?=\s*[\d(])/g, "*"],
  [/\b(?:divided by|over)\b|÷/g, "/"],
  [/\bto the power of\b/g, "^"],
  [/(?<=\d),(?=\d{3}\b)/g, ""],
];
const MAX_LENGTH = 200;

/** The answer to a text that is a sum and nothing else: "12 * 12 = 144". */
export function answerSum(text: string): string | undefined {
  if (text.length > MAX_LENGTH || /^\d{4}-\d\d-\d\d$/.test(text)) return undefined;
  const asked = text
    .replace(/^\s*(?:what(?:['’]?s| is)|how much is|calculate|compute|solve|work out|evaluate)\s+/iu, "")
    .replace(/[\s=?!.]{0,9}$/u, "")
    .trim();
  const sum = WORDS.reduce((said, [words, sign]) => said.replace(words, sign), asked.toLowerCase());
  const value = calculate(sum);
  if (value === undefined) return undefined;
  if (!Number.isFinite(value)) return `${asked} has no value: it divides by zero.`;
  return `${asked} = ${Number(value.toPrecision(12))}`;
}

/** The value of an expression; undefined for any other text, and for a single number. */
function calculate(text: string): number | undefined {
  const tokens = text.match(/\d+(?:\.\d+)?|\S/g) ?? [];
  if (tokens.length < 3 || !tokens.some((token) => /\d/.test(token))) return undefined;
  let at = 0;
  const accept = (signs: string) => (signs.includes(tokens[at] ?? " ") ? tokens[at++] : undefined);
  const sum = (): number => {
    let value = product();
    for (let sign = accept("+-"); sign; sign = accept("+-")) value += sign === "+" ? product() : -product();
    return value;
  };
  const product = (): number => {
    let value = signed();
    for (let sign = accept("*/%"); sign; sign = accept("*/%")) {
      const right = signed();
      value = sign === "*" ? value * right : sign === "/" ? value / right : value % right;
    }
    return value;
  };
  const signed = (): number => {
    if (accept("-")) return -signed();
    const isGroup = accept("(") !== undefined;
    const value = isGroup ? sum() : /^\d/.test(tokens[at] ?? "") ? Number(tokens[at++]) : Number.NaN;
    const base = isGroup && !accept(")") ? Number.NaN : value;
    return accept("^") ? base ** signed() : base;
  };
  const value = sum();
  return at === tokens.length && !Number.isNaN(value) ? value : undefined;
}
