/** Mails as texts, for tests that read them. */
import type { HeaderLine } from "../../plugins/email/reading/header.ts";

export const headerLines = (lines: readonly string[]): readonly HeaderLine[] =>
  lines.map((line) => ({ key: line.slice(0, line.indexOf(":")).toLowerCase(), line }));

export const mailOf = (header: readonly string[], body: string): Uint8Array =>
  Buffer.from(`${header.join("\r\n")}\r\n\r\n${body.replaceAll(/\r?\n/g, "\r\n")}`);
