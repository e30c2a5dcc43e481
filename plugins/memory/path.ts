/** Checks the path of a document. Paths are names, not places on the disk, but a strange one is refused all the same. */
import { Fault } from "../../kernel/plugin.ts";

const MAX_LENGTH = 240;
const DEEPEST = 12;

/** The path in its one spelling, or a fault that says what is wrong with it. */
export function cleanPath(given: string): string {
  const path = given.trim().normalize("NFC").replace(/^\/+/, "");
  const segments = path.split("/");
  if (path === "") throw refuse(given, "it is empty");
  if (path.length > MAX_LENGTH) throw refuse(given, `it is longer than ${MAX_LENGTH} characters`);
  if (segments.length > DEEPEST) throw refuse(given, `it is more than ${DEEPEST} folders deep`);
  if (/[\p{Cc}\p{Cs}\\]/u.test(path)) throw refuse(given, "it contains a control character or a backslash");
  if (segments.some((segment) => segment.trim() === "")) throw refuse(given, "a part of it is empty");
  if (segments.some((segment) => segment === "." || segment === ".."))
    throw refuse(given, 'a part of it is "." or ".."');
  return path;
}

function refuse(given: string, why: string): Fault {
  const shown = JSON.stringify(given.slice(0, 80));
  const message = `invalid memory path ${shown}: ${why}. Use a path such as notes/bike.md`;
  return new Fault("invalid", "bad_path", message, { param: "path" });
}
