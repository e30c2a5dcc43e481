/** HTTP methods that a capabilities file may name, and what each does on a server. CONNECT and TRACE are not among them. */

interface Method {
  readonly does: "reads" | "adds" | "changes";
  /** For methods that few people know. */
  readonly about?: string;
}

export const METHODS: Readonly<Record<string, Method>> = {
  GET: { does: "reads" },
  HEAD: { does: "reads" },
  POST: { does: "adds" },
  PUT: { does: "changes" },
  PATCH: { does: "changes" },
  DELETE: { does: "changes" },
  // It reads nothing, and some servers do something on it.
  OPTIONS: { does: "adds" },
  PROPFIND: { does: "reads", about: "list what is there" },
  REPORT: { does: "reads", about: "search" },
  PROPPATCH: { does: "changes", about: "change properties" },
  MKCALENDAR: { does: "adds", about: "create a calendar" },
  MOVE: { does: "changes", about: "move or rename, also over what is there" },
  COPY: { does: "changes", about: "copy, also over what is there" },
};

/** A request with it may be sent again: the server is left as it was. */
export const isRead = (method: string): boolean => find(method)?.does === "reads";

/** It may change or delete what is on the server already. */
export const changesThings = (method: string): boolean => find(method)?.does === "changes";

/** Its request names a second address, in the header `Destination`. */
export const hasDestination = (method: string): boolean => method === "MOVE" || method === "COPY";

/** `PROPFIND (list what is there)`; the well-known ones by their name alone. */
export function describeMethod(method: string): string {
  const about = find(method)?.about;
  return about === undefined ? method : `${method} (${about})`;
}

function find(method: string): Method | undefined {
  return Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
}
