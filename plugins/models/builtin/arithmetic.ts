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
const LONGEST = 200;

/** The answer to a text that is a sum and nothing else: "12 * 12 = 144". */
export function answerSum(text: string): string | undefined {
  if (text.length > LONGEST || /^\d{4}-\d\d-\d\d$/.test(text)) return undefined;
  const asked = text
    .replace(/^\s*(?:what(?:['’]?s| is)|how much is|calculate|compute|solve|work out|evaluate)\s+/iu, "")
    .replace(/[\s=?!.]{0,9}$/u, "")
    .trim();
  const sum = WORDS.reduce((said, [words, sign]) => said.replace(words, sign), asked.toLowerCase());
  const value = calculate(sum);
  if (value === undefined) return undefined;
  return Number.isFinite(value)
    ? `${asked} = ${Number(value.toPrecision(12))}`
    : `${asked} has no value: it divides by zero.`;
}

/** The value of an expression; undefined for any other text, and for a single number. */
function calculate(text: string): number | undefined {
  const tokens = text.match(/\d+(?:\.\d+)?|\S/g) ?? [];
  if (tokens.length < 3 || !tokens.some((token) => /\d/.test(token))) return undefined;
  let at = 0;
  const accept = (signs: string) => (signs.includes(tokens[at] ?? " ") ? tokens[at++] : undefined);
  const series = (
    signs: string,
    next: () => number,
    apply: (sign: string, left: number, right: number) => number,
  ) => {
    let value = next();
    for (let sign = accept(signs); sign !== undefined; sign = accept(signs))
      value = apply(sign, value, next());
    return value;
  };
  const sum = (): number =>
    series("+-", product, (sign, left, right) => (sign === "+" ? left + right : left - right));
  const product = (): number =>
    series("*/%", signed, (sign, left, right) =>
      sign === "*" ? left * right : sign === "/" ? left / right : left % right,
    );
  const signed = (): number => {
    if (accept("-") !== undefined) return -signed();
    const base = atom();
    return accept("^") === undefined ? base : base ** signed();
  };
  const atom = (): number => {
    if (accept("(") === undefined) return /^\d/.test(tokens[at] ?? "") ? Number(tokens[at++]) : Number.NaN;
    const value = sum();
    return accept(")") === undefined ? Number.NaN : value;
  };
  const value = sum();
  return at === tokens.length && !Number.isNaN(value) ? value : undefined;
}
