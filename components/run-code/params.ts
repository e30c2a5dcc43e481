/** What the model says to `run-code`. */
export interface Params {
  readonly code: string;
}

export const SCHEMA = {
  type: "object",
  properties: {
    code: {
      type: "string",
      minLength: 1,
      maxLength: 200_000,
      description:
        "JavaScript or TypeScript: the body of an async function. Its return value, or that of its last expression, is the result",
    },
  },
  required: ["code"],
  additionalProperties: false,
};

export const DESCRIPTION = `Runs JavaScript or TypeScript in a sandbox without network, to compute, to work with files of the workspace, to draw charts, and to make many tool calls in one go: only what the code returns and prints comes back. There are no modules and no packages; these are there:
- files.read(path), files.readBytes(path), files.write(path, textOrBytes), files.list(folder), files.find(path), files.remove(path); write below /output
- csv.parse(text) -> rows with numbers as numbers, csv.format(rows)
- stats: sum, mean, median, min, max, quantile(values, p), standardDeviation, variance, correlation(a, b), regression(pairs), counts(values), group(rows, key) -> Map, rollup(rows, reduce, key)
- dates: parse(text, pattern?), format(date, pattern), add(date, { days: 1 }), difference(later, earlier, "days"), startOf(date, "month"); all in UTC
- table(rows, columns?) -> Markdown
- chart.bar, chart.line, chart.area, chart.scatter (rows, { x, y, title, xLabel, yLabel }) and chart.pie(rows, { label, value, title }) -> SVG, kept as a file below /output; y may be a list of columns
- await tools.call(name, params) -> what the tool answers, as an object where it is JSON; calls at once with Promise.all
- console.log`;
