import type { ComponentChildren } from "preact";
import type { Shown } from "../state/use-app.ts";
import { text } from "../text/text.ts";
import { ErrorState, LoadingState } from "./states.tsx";

interface LoadedProps<Answer> {
  readonly of: Shown<Answer>;
  /** How many lines stand for it until it is there. */
  readonly lines?: number;
  children(answer: Answer): ComponentChildren;
}

/** What was loaded; before that lines in its place, or why it could not be loaded, with a button to try again. */
export function Loaded<Answer>({ of: { answer, problem, load }, lines = 4, children }: LoadedProps<Answer>) {
  if (answer !== undefined) return <>{children(answer)}</>;
  if (problem === undefined) return <LoadingState lines={lines} label={text.basics.loading} />;
  return (
    <ErrorState title={text.basics.notLoaded} retry={text.basics.retry} onRetry={load}>
      {problem}
    </ErrorState>
  );
}
