/** Exports under which core modules were made to show their state; no component may use the prefix. */
export const PRIVATE = "postern-private:";
