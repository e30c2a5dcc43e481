/** A refusal of a server in its own words. */
import { tryRecord } from "../../../../kernel/kit/text.ts";

/** An answer that is a refusal, in the shape of the packages' errors. */
export class CallError extends Error {
  readonly statusCode: number;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly responseBody: string;

  constructor(statusCode: number, responseHeaders: Readonly<Record<string, string>>, responseBody: string) {
    super(wordsOf(responseBody, statusCode));
    this.statusCode = statusCode;
    this.responseHeaders = responseHeaders;
    this.responseBody = responseBody;
  }
}

/** Reads the message of a refusal in any of the usual shapes. */
function wordsOf(text: string, status: number): string {
  const { error, detail, message } = tryRecord(text);
  const words = [error, detail, message].find((value) => value !== undefined);
  if (words !== undefined) return messageOf(words);
  return text.trim() === "" ? `HTTP ${status}` : text.trim().slice(0, 500);
}

export function messageOf(error: unknown): string {
  if (typeof error === "string") return error;
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return typeof message === "string" ? message : JSON.stringify(error);
}
