/** Finds many byte strings in one pass (Aho-Corasick). A table of their first four bytes spares ordinary text the tree. */

/** The state of a search; passed on, it searches a text that arrives in pieces. */
export interface Cursor {
  node: number;
  head: number;
  seen: number;
  length: number;
}

export interface Automaton {
  /** Where the next match ends, at or after `from`; -1 if there is none. Of matches ending at one place, the longest. */
  next(bytes: Uint8Array, from: number, cursor: Cursor): number;
  /** Returns how many of the last bytes may be the start of a match that is not over. */
  open(cursor: Cursor): number;
}

const HEAD = 4;
const NONE = 0;
const NO_BYTE = 256;
const LEAF = 0;
const CHAINED = 1;
const BRANCHING = 2;

export function startCursor(): Cursor {
  return { node: NONE, head: 0, seen: 0, length: 0 };
}

/** Each string must have at least four bytes. */
export function createAutomaton(strings: readonly Uint8Array[]): Automaton {
  const tree = growTree(strings);
  const { heads, fail, length, depth, children, step } = tree;
  linkSuffixes(strings, tree);

  // Turns nearly every position away before the table of heads is asked.
  const bitmap = new Uint8Array(1 << 16);
  for (const head of heads.keys()) bitmap[slot(head)] = 1;
  const starts = shortStarts(strings);

  return {
    next(bytes, from, cursor) {
      let { node, head } = cursor;
      for (let at = from; at < bytes.length; at++) {
        const byte = bytes[at] as number;
        head = (head << 8) | byte;
        if (node !== NONE) {
          let child = step(node, byte);
          while (child === NONE && node !== NONE) {
            node = fail[node] as number;
            if (node !== NONE) child = step(node, byte);
          }
          node = child;
        }
        if (node === NONE) {
          if (bitmap[slot(head)] === 0 || cursor.seen + at - from + 1 < HEAD) continue;
          node = heads.get(head) ?? NONE;
          if (node === NONE) continue;
        }
        if (length[node] !== 0) {
          cursor.seen += at - from + 1;
          cursor.node = node;
          cursor.head = head;
          cursor.length = length[node] as number;
          return at + 1;
        }
      }
      cursor.seen += Math.max(0, bytes.length - from);
      cursor.node = node;
      cursor.head = head;
      return -1;
    },
    open({ node, head, seen }) {
      let longest = node;
      while (longest !== NONE && children[longest] === LEAF) longest = fail[longest] as number;
      if (longest !== NONE) return depth[longest] as number;
      for (let size = Math.min(HEAD - 1, seen); size > 0; size--) {
        if (starts.has(startKey(size, head))) return size;
      }
      return 0;
    },
  };
}

/** A node's first child is the node after it, which needs no table; only where strings part is there one. */
function growTree(strings: readonly Uint8Array[]) {
  const most = strings.reduce((sum, { length }) => sum + length, 2);
  const label = new Uint16Array(most).fill(NO_BYTE);
  const depth = new Uint32Array(most);
  // Length of the longest string that ends here; 0 where none does.
  const length = new Uint32Array(most);
  // Says for each node whether strings end here, go on in the next node, or go on in others too.
  const children = new Uint8Array(most);
  // The node for each four bytes that a string begins with.
  const heads = new Map<number, number>();
  const branches = new Map<number, number>();
  const step = (node: number, byte: number): number => {
    if (label[node + 1] === byte) return node + 1;
    return children[node] === BRANCHING ? (branches.get(node * NO_BYTE + byte) ?? NONE) : NONE;
  };

  let count = 1;
  for (const string of strings) {
    const head = headAt(string, 0);
    let node = heads.get(head) ?? NONE;
    if (node === NONE) {
      node = count++;
      depth[node] = HEAD;
      heads.set(head, node);
    }
    for (let at = HEAD; at < string.length; at++) {
      const byte = string[at] as number;
      let child = step(node, byte);
      if (child === NONE) {
        child = count++;
        depth[child] = at + 1;
        if (child === node + 1) {
          label[child] = byte;
          children[node] = CHAINED;
        } else {
          branches.set(node * NO_BYTE + byte, child);
          children[node] = BRANCHING;
        }
      }
      node = child;
    }
    length[node] = string.length;
  }
  // The node of the longest end of this node's bytes that a string begins with too; it has at least four.
  return { heads, depth, length, children, step, fail: new Uint32Array(count) };
}

/** Level by level, since a node's link leads to a shallower one. */
function linkSuffixes(
  strings: readonly Uint8Array[],
  { heads, fail, length, step }: ReturnType<typeof growTree>,
): void {
  let level = strings.map((string) => ({ string, node: heads.get(headAt(string, 0)) ?? NONE }));
  for (let at = HEAD; level.length > 0; at++) {
    level = level.filter(({ string }) => string.length > at);
    for (const path of level) {
      const byte = path.string[at] as number;
      let link = NONE;
      for (let end = fail[path.node] as number; end !== NONE && link === NONE; end = fail[end] as number) {
        link = step(end, byte);
      }
      path.node = step(path.node, byte);
      if (link === NONE) link = heads.get(headAt(path.string, at - HEAD + 1)) ?? NONE;
      fail[path.node] = link;
      if (length[path.node] === 0) length[path.node] = length[link] as number;
    }
  }
}

/** The first one, two and three bytes of every string. */
function shortStarts(strings: readonly Uint8Array[]): ReadonlySet<number> {
  const starts = new Set<number>();
  for (const string of strings) {
    const head = headAt(string, 0);
    for (let size = 1; size < HEAD; size++) starts.add(startKey(size, head >>> (8 * (HEAD - size))));
  }
  return starts;
}

/** The last `size` bytes of `bytes`, told apart from those of another size. */
function startKey(size: number, bytes: number): number {
  return size * 2 ** 24 + (bytes & ((1 << (8 * size)) - 1));
}

function headAt(string: Uint8Array, at: number): number {
  let head = 0;
  for (let offset = 0; offset < HEAD; offset++) head = (head << 8) | (string[at + offset] as number);
  return head;
}

function slot(head: number): number {
  return Math.imul(head, 0x9e3779b1) >>> 16;
}
