/** SQL as plugins write it, for both engines, made into what PostgreSQL takes. */

/** A text as PostgreSQL takes it. A name keeps it prepared on each connection that has seen it. */
export interface Statement {
  readonly text: string;
  name?: string;
}

interface Known extends Statement {
  uses: number;
}

// Texts that are kept translated, and how many of them are kept prepared on each connection. What code spells out is far
// less; lists of placeholders of every length could be more.
const KEPT = 2000;
const PREPARED = 500;

/** Strings, quoted names and comments stay as they are; a `?` elsewhere is a value. */
const PIECES =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*(?:[\s\S]*?\*\/|[\s\S]*)|\bINDEXED\s+BY\s+\w+|\?/gi;

export function translate(sql: string): string {
  let count = 0;
  return sql.replace(PIECES, (piece) => {
    if (piece === "?") return `$${++count}`;
    return /^indexed/i.test(piece) ? "" : piece;
  });
}

export function createStatements() {
  const known = new Map<string, Known>();
  let names = 0;

  return {
    /** A text that comes again is named, so that it is parsed and planned once for each connection. */
    find(sql: string): Statement {
      let statement = known.get(sql);
      if (statement === undefined) {
        statement = { text: translate(sql), uses: 0 };
        if (known.size < KEPT) known.set(sql, statement);
      }
      if (++statement.uses === 2 && names < PREPARED) statement.name = `s${++names}`;
      return statement;
    },
    /** Another node has changed a table since it was prepared: it has to be prepared anew. */
    renew(statement: Statement): void {
      if (statement.name !== undefined) statement.name = `s${++names}`;
    },
  };
}
