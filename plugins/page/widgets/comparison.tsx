/** Compares two versions of a text: the form that chooses them, and how they differ. */
import { useState } from "preact/hooks";
import { text } from "../text/text.ts";
import { Button, Form, Select } from "./controls.tsx";
import { Differences } from "./differences.tsx";

const words = text.versions;

/** The lines that differ, or why they cannot be shown. */
export interface Difference {
  readonly lines: readonly string[];
  readonly problem?: string | undefined;
}

interface ComparisonProps {
  /** Newest first; at least two. */
  readonly versions: readonly number[];
  /** Undefined if it was refused, which is shown. */
  compare(from: number, to: number): Promise<Difference | undefined>;
}

export function Comparison({ versions, compare }: ComparisonProps) {
  const [shown, setShown] = useState<Difference & { readonly from: number; readonly to: number }>();
  const options = Object.fromEntries(versions.map((one) => [one, words.version(one)]));
  const show = async (from: number, to: number) => {
    const found = await compare(from, to);
    if (found) setShown({ ...found, from, to });
  };
  const choice = (name: string, label: string, chosen: number | undefined) => (
    <label class="check" for={`compare-${name}`}>
      {label}
      <Select id={`compare-${name}`} name={name} options={options} defaultValue={String(chosen)} />
    </label>
  );
  return (
    <>
      <Form class="row" onSubmit={({ from, to }) => show(Number(from), Number(to))}>
        {choice("from", words.compare, versions[1])}
        {choice("to", words.with, versions[0])}
        <Button label={words.show} type="submit" />
      </Form>
      {shown && (
        <section aria-label={words.fromTo(shown.from, shown.to)}>
          <p class="soft" role="status">
            {shown.problem ??
              (shown.lines.length === 0
                ? words.same(shown.from, shown.to)
                : words.legend(shown.from, shown.to))}
          </p>
          {shown.lines.length > 0 && <Differences lines={shown.lines} />}
        </section>
      )}
    </>
  );
}
