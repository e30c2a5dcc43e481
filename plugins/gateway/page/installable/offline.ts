/** Registers the service worker while somebody is signed in, and removes it with all it keeps when they sign out. */

export function keepOfflinePage(): void {
  // Only over HTTPS or on this machine.
  if (!navigator.serviceWorker) return;
  void navigator.serviceWorker.register("/worker.js", { updateViaCache: "none" }).catch(() => {});
  // A notification that it showed was clicked.
  navigator.serviceWorker.onmessage = ({ data }) => {
    const { hash } = data as { hash?: unknown };
    if (typeof hash === "string" && hash.startsWith("#/")) location.hash = hash;
  };
}

export async function dropOfflinePage(): Promise<void> {
  const registrations = (await navigator.serviceWorker?.getRegistrations()) ?? [];
  await Promise.all(registrations.map((registration) => registration.unregister()));
  for (const name of (await globalThis.caches?.keys()) ?? []) await caches.delete(name);
}
