/** A long list, handed out one page at a time. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Pass as `before` to go on; absent at the end. */
  readonly next?: string;
}
