/** One module with everything it imports, ready for an engine. */
export interface Script {
  readonly source: string;
  /** The component then imports `wasi:http`. */
  readonly usesFetch: boolean;
  /** JSON: its source map, with the names of the author's sources as seen from the project's folder. */
  readonly map: string;
}
