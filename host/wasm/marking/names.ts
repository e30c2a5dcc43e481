/** The names and sizes that the marking of writes and the thread that reads the marks agree on. */

/** Exports under which core modules were made to show their state; no component may use the prefix. */
export const PRIVATE = "postern-private:";

/** The memory that a module marks its writes to, and the marks: a byte for every page. */
export const WRITTEN = "written";
export const MARKS = "marks";

/** A mark stands for this many bytes from a multiple of it, and for as many before and after them. */
export const MARK_BITS = 10;

/** The glue's views find the marks of the memory they write to at this property of its buffer. */
export const VIEW_MARKS = "postern.marks";
