/** Signing in and out. A link never signs a person in as somebody else without asking. */
import { reset, update } from "../state/app.ts";
import { loadStatus, loadThreads } from "../state/threads.ts";
import { ask, Refused, type Session } from "../state/wire.ts";
import { followLanguageOf } from "../text/language.ts";

const ASKS = "confirm_sign_in";

/** Removes a token from the address bar before anything else, then signs in with it. */
export async function openSession(): Promise<void> {
  const token = new URLSearchParams(location.search).get("token");
  if (location.search) history.replaceState(null, "", location.pathname + location.hash);
  if (token === null) return resume();
  try {
    await enter(await ask<Session>("POST", "/api/session", { token, from_link: true }));
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== ASKS) return refused(error);
    const isSignedIn = await ask<Session>("GET", "/api/session").then(
      () => true,
      () => false,
    );
    update({ signInQuestion: { token, words: error.message, isSignedIn } });
  }
}

export async function signIn(token: string, confirmed = false): Promise<void> {
  try {
    await enter(await ask<Session>("POST", "/api/session", { token, confirmed }));
  } catch (error) {
    if (error instanceof Refused && error.code === ASKS)
      update({ signInQuestion: { token, words: error.message, isSignedIn: true } });
    else refused(error);
  }
}

/** Continues the session that the browser has, if any. */
export async function resume(): Promise<void> {
  update({ signInQuestion: undefined });
  try {
    await enter(await ask<Session>("GET", "/api/session"));
  } catch {
    update({ signedOut: true, user: undefined, trouble: undefined });
  }
}

export async function signOut(): Promise<void> {
  await ask("DELETE", "/api/session").catch(() => {});
  await dropOfflinePage().catch(() => {});
  reset();
}

async function enter({ user, expires_at }: Session): Promise<void> {
  followLanguageOf(user.id);
  update({ user, signInEnds: expires_at, signedOut: false, trouble: undefined, signInQuestion: undefined });
  await Promise.all([loadStatus(), loadThreads()]);
  keepOfflinePage();
}

function refused(error: unknown): void {
  const trouble = error instanceof Error ? error.message : String(error);
  update({ signedOut: true, user: undefined, trouble, signInQuestion: undefined });
}

/** Ends when the last registration has; a sign-out that came before it would remove nothing. */
let registering = Promise.resolve();

/** Registers the service worker while somebody is signed in. */
function keepOfflinePage(): void {
  // Browsers offer it only over HTTPS or on this machine.
  if (!navigator.serviceWorker) return;
  registering = navigator.serviceWorker
    .register("/worker.js", { updateViaCache: "none" })
    .then(({ active }) => active?.postMessage("keep"))
    .catch(() => {});
  // The worker sends this when a notification was clicked.
  navigator.serviceWorker.onmessage = ({ data }) => {
    const { hash } = data as { hash?: unknown };
    if (typeof hash === "string" && hash.startsWith("#/")) location.hash = hash;
  };
}

/** Removes the service worker and everything it has cached. */
async function dropOfflinePage(): Promise<void> {
  await registering;
  const registrations = (await navigator.serviceWorker?.getRegistrations()) ?? [];
  await Promise.all(registrations.map((registration) => registration.unregister()));
  for (const name of (await globalThis.caches?.keys()) ?? []) await caches.delete(name);
}
