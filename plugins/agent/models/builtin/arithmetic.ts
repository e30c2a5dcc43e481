/** Sums a person would type into a chat: + - * / ^ %, brackets, and nothing else. */

const TOKEN = /\s*(\d+(?:\.\d+)?|[-+*/^()%×÷−])/y;

const SPOKEN: readonly (readonly [RegExp, string])[] = [
  [/(\d+(?:\.\d+)?)\s*(?:%|percent) of\s+/g, "$1 / 100 * "],
  [/\bplus\b/g, "+"],
  [/\bminus\b/g, "-"],
  [/\b(?:times|multiplied by)\b/g, "*"],
  [/\b(?:divided by|over)\b/g, "/"],
  [/\bto the power of\b/g, "^"],
];
const LONGEST = 200;

/** The expression in "what is 10 plus 5?"; undefined where there is more than a sum. */
export function readSum(text: string): string | undefined {
  if (text.length > LONGEST) return undefined;
  let expression = text
    .toLowerCase()
    .replace(/^\s*(?:(?:what(?:['’]?s| is)|how much is|calculate|compute|solve|work out|evaluate)\s+)/u, "")
    .replace(/[\s=?!]+$/u, "");
  for (const [words, sign] of SPOKEN) expression = expression.replace(words, sign);
  expression = expression.replace(/\s+/g, " ").trim();
  return /[-+*/^%×÷x−]/.test(expression.slice(1)) && calculate(expression) !== undefined
    ? expression
    : undefined;
}

/** The value of a text that is an expression and nothing but; undefined for any other text. */
export function calculate(text: string): number | undefined {
  const tokens = tokensOf(text);
  if (!tokens || tokens.length < 3 || tokens.length > 200) return undefined;
  let at = 0;
  const peek = () => tokens[at];
  const next = () => tokens[at++];

  const sum = (): number => {
    let value = product();
    while (peek() === "+" || peek() === "-") value = next() === "+" ? value + product() : value - product();
    return value;
  };
  const product = (): number => {
    let value = signed();
    for (let sign = peek(); sign === "*" || sign === "/" || sign === "%"; sign = peek()) {
      next();
      const right = signed();
      value = sign === "*" ? value * right : sign === "/" ? value / right : value % right;
    }
    return value;
  };
  const signed = (): number => {
    if (peek() === "-") {
      next();
      return -signed();
    }
    return power();
  };
  const power = (): number => {
    const base = atom();
    if (peek() !== "^") return base;
    next();
    return base ** signed();
  };
  const atom = (): number => {
    const token = next();
    if (token === "(") {
      const value = sum();
      return next() === ")" ? value : Number.NaN;
    }
    return token === undefined ? Number.NaN : Number(token);
  };

  const value = sum();
  return at === tokens.length && !Number.isNaN(value) ? value : undefined;
}

function tokensOf(text: string): string[] | undefined {
  const expression = text
    .trim()
    .replace(/(?<=\d),(?=\d{3}\b)/g, "")
    .replace(/(?<=\d)\s*[x×]\s*(?=[\d(])/g, "*")
    .replaceAll("÷", "/")
    .replaceAll("−", "-");
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < expression.length) {
    const match = TOKEN.exec(expression);
    if (!match) return undefined;
    tokens.push(match[1] ?? "");
  }
  return tokens;
}
