import { Prose } from "../prose/prose.tsx";

interface ThoughtsProps {
  readonly text: string;
  /** Known when it is over. */
  readonly millis?: number;
  readonly isOver: boolean;
}

/** What the model thought before it answered, folded to a line. A stranger's text like any other. */
export function Thoughts({ text, millis, isOver }: ThoughtsProps) {
  return (
    <details class="thoughts">
      <summary>{words(millis, isOver)}</summary>
      <div class="inside">
        <Prose text={text} />
      </div>
    </details>
  );
}

function words(millis: number | undefined, isOver: boolean): string {
  if (millis === undefined) return isOver ? "Thoughts" : "Thinking…";
  const seconds = Math.round(millis / 1000);
  if (seconds < 1) return "Thought for a moment";
  return seconds < 60
    ? `Thought for ${seconds} s`
    : `Thought for ${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
