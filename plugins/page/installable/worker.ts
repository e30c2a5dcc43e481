/** The service worker only shows an offline page. Code and API responses are never cached. */
interface ExtendableEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface Fetching extends ExtendableEvent {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}
interface Clicked extends ExtendableEvent {
  readonly notification: Notification;
}
interface Window {
  readonly url: string;
  focus(): Promise<unknown>;
  postMessage(message: unknown): void;
}
interface Scope {
  readonly clients: {
    matchAll(query: { type: "window" }): Promise<readonly Window[]>;
    openWindow(url: string): Promise<unknown>;
  };
  skipWaiting(): Promise<void>;
}

const scope = self as unknown as Scope;
const SHELL = "postern-shell";
const OFFLINE = "/offline.html";
const FILES = [OFFLINE, "/style.css", "/icon.svg"];

addEventListener("install", (event) => {
  (event as ExtendableEvent).waitUntil(keepShell().then(() => scope.skipWaiting()));
});

async function keepShell(): Promise<void> {
  const cache = await caches.open(SHELL);
  await cache.addAll(FILES.map((file) => new Request(file, { cache: "reload" })));
}

/** The browser or an earlier sign-out may have deleted the files, and a visit that was cut off may have left the cache empty. */
async function restoreShell(): Promise<void> {
  if ((await caches.match(OFFLINE)) === undefined) await keepShell().catch(() => {});
}

addEventListener("fetch", (given) => {
  const event = given as Fetching;
  const { request } = event;
  const { pathname, origin } = new URL(request.url);
  if (origin !== location.origin) return;
  const isVisit = request.mode === "navigate" && pathname === "/";
  if (!isVisit && !FILES.includes(pathname)) return;
  const kept = async () => (await caches.match(isVisit ? OFFLINE : pathname)) ?? Response.error();
  event.respondWith(fetch(request).catch(kept));
});

/** The page sends this at each start: a worker that a sign-out had removed is taken up again without being installed. */
addEventListener("message", (event) => (event as unknown as ExtendableEvent).waitUntil(restoreShell()));

addEventListener("notificationclick", (event) => {
  const { notification } = event as Clicked;
  notification.close();
  (event as Clicked).waitUntil(show(String(notification.data)));
});

/** Uses an open window, if there is one. */
async function show(hash: string): Promise<void> {
  const [open] = await scope.clients.matchAll({ type: "window" });
  if (open === undefined) {
    await scope.clients.openWindow(`/${hash}`);
    return;
  }
  await open.focus();
  open.postMessage({ hash });
}
