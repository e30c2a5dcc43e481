/**
 * An address that is longer than the screen is wide. Drawn row by row it would be several lines to the terminal: a click opens
 * the first, a copy has a break in it. Written once more in one go over the same cells, from the edge, it runs on by the
 * terminal's own wrapping, and terminals and tmux then know it as one line. Where they know OSC 8 it is a hyperlink too.
 */

/** The rows that such an address fills. */
export function rowsOf(link: string, width: number): string[] {
  return Array.from({ length: Math.ceil(link.length / width) }, (_, row) =>
    link.slice(row * width, (row + 1) * width),
  );
}

/** Writes the address over the rows that begin with this one, and leaves the cursor where it was. */
export function overprint(link: string, row: number): string {
  return `\u001b7\u001b[${row + 1};1H\u001b[4m\u001b]8;;${link}\u001b\\${link}\u001b]8;;\u001b\\\u001b[24m\u001b8`;
}
