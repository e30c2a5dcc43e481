/** One module with everything it imports, ready for an engine. */
export interface Script {
  readonly source: string;
  /** Where a place of the script stands in the author's own sources; all counted from 1. */
  origin(line: number, column: number): string | undefined;
}
