/** A sign-in that a person does in a browser, on this machine or another, while a command waits. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Fault } from "../../kernel/plugin.ts";

export interface Prompt {
  say(line: string): void;
  /** Hidden input; undefined where the person gave up. */
  secret(question: string): Promise<string | undefined>;
  /** Visible input; undefined where the person gave up or there is nobody. Ends when the signal does. */
  text(question: string, signal: AbortSignal): Promise<string | undefined>;
  /** True where the person agreed to the sentence. */
  agrees(question: string): Promise<boolean>;
  /** Opens a browser; false where this machine has none. */
  browse(url: string): Promise<boolean>;
}

export interface BrowserSignIn {
  readonly to: string;
  readonly prompt: Prompt;
  /** The address that the browser is sent back to, for example `{base_url}/oauth/callback`; a loopback port if absent. */
  readonly redirectUri?: string;
  readonly signal?: AbortSignal;
  /** Returns the address for the browser, which comes back with the `state` in it. */
  begin(redirectUri: string): Promise<string>;
}

export async function signInByBrowser(options: BrowserSignIn): Promise<URL> {
  const { to, prompt, redirectUri, begin } = options;
  let state: string | null = null;
  const isAnswer = ({ searchParams }: URL) => state !== null && searchParams.get("state") === state;
  const callback = redirectUri === undefined ? await openCallback(isAnswer) : undefined;
  try {
    const url = await begin(callback?.redirectUri ?? redirectUri ?? "");
    state = new URL(url).searchParams.get("state");
    const isOpen = await prompt.browse(url);
    prompt.say(
      isOpen
        ? `A browser opens to sign you in to ${to}. If it does not, open this address:`
        : `This machine has no browser. Open this address on any machine to sign in to ${to}:`,
    );
    prompt.say(url);
    return await waitForAnswer(isAnswer, callback?.answer, options);
  } finally {
    callback?.close();
  }
}

/** The answer comes by the callback or is pasted: on a machine without a browser, its last address is all there is. */
async function waitForAnswer(
  isAnswer: (url: URL) => boolean,
  called: Promise<URL> | undefined,
  { prompt, signal }: BrowserSignIn,
): Promise<URL> {
  const done = new AbortController();
  const ended = signal === undefined ? done.signal : AbortSignal.any([signal, done.signal]);
  const paste = async (): Promise<URL> => {
    for (;;) {
      const question = "Or paste the address the browser was sent to, even if the page did not load";
      const text = await prompt.text(question, ended);
      if (text === undefined) {
        // Nobody to paste: the callback is still there, if there is one.
        if (called !== undefined && signal?.aborted !== true) return called;
        throw gaveUp();
      }
      const url = URL.parse(text.trim());
      if (url !== null && isAnswer(url)) return url;
      prompt.say("That address does not belong to this sign-in: it must contain the code and the state.");
    }
  };
  const given = new Promise<never>((_, reject) => {
    signal?.addEventListener("abort", () => reject(gaveUp()), { once: true });
  });
  try {
    return await Promise.race(called === undefined ? [paste(), given] : [called, paste(), given]);
  } finally {
    done.abort();
  }
}

export function gaveUp(): Fault {
  return new Fault("invalid", "gave_up", "Sign-in cancelled; nothing was stored.");
}

const PAGE = (text: string) =>
  `<!doctype html><meta charset="utf-8"><title>Postern</title><p style="font:1rem system-ui;margin:3rem">${text}</p>`;

/** `accepts` is asked for every address that comes in: others on this machine may knock too. */
async function openCallback(accepts: (url: URL) => boolean) {
  const { promise, resolve } = Promise.withResolvers<URL>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", redirectUri);
    const isAnswer = request.method === "GET" && url.pathname === "/oauth/callback" && accepts(url);
    response.writeHead(isAnswer ? 200 : 404, {
      "content-type": "text/html; charset=utf-8",
      "referrer-policy": "no-referrer",
      connection: "close",
    });
    response.end(
      PAGE(isAnswer ? "Thank you. You can close this page and go back to the terminal." : "Nothing is here."),
    );
    if (isAnswer) resolve(url);
  });
  await new Promise<void>((listening, failed) => {
    server.once("error", failed);
    server.listen(0, "127.0.0.1", listening);
  });
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/oauth/callback`;
  return {
    redirectUri,
    answer: promise,
    close(): void {
      server.close();
      server.closeIdleConnections();
    },
  };
}
