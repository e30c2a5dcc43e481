/** Notifies a person who looks elsewhere that a long answer ended or that Postern waits for them, if they switched it on. */
import { text } from "../text/text.ts";
import { getState } from "./app.ts";
import type { TurnFrame } from "./wire.ts";

const KEY = "postern.notifications";
const LONG_ANSWER_MS = 20_000;

export const canNotify = (): boolean => "Notification" in globalThis;

export const isNotifying = (): boolean =>
  canNotify() && Notification.permission === "granted" && localStorage.getItem(KEY) === "on";

/** Asks the browser for permission. Returns whether notifications are on now. */
export async function switchNotifications(isOn: boolean): Promise<boolean> {
  if (isOn) await Notification.requestPermission();
  localStorage.setItem(KEY, isOn && Notification.permission === "granted" ? "on" : "off");
  return isNotifying();
}

/** The start times of running turns. */
const began = new Map<string, number>();

export function noticeFrame(frame: TurnFrame): void {
  const { turn_id: turn, thread_id: thread } = frame;
  if (frame.type === "started") began.set(turn, Date.now());
  if (frame.type === "gate") notify(thread, text.state.notifications.waiting);
  if (frame.type !== "done" && frame.type !== "failed") return;
  const took = Date.now() - (began.get(turn) ?? Date.now());
  began.delete(turn);
  const isNews = frame.type === "failed" || frame.status === "completed";
  if (isNews && took > LONG_ANSWER_MS)
    notify(thread, text.state.notifications[frame.type === "failed" ? "failed" : "ready"]);
}

/** Shows the title of the thread but none of its text, since others may see the screen. */
function notify(thread: string, words: string): void {
  if (!document.hidden || !isNotifying()) return;
  const body = getState().threads.find(({ id }) => id === thread)?.title ?? "";
  const hash = `#/chat/${thread}`;
  const options = { body, tag: thread, icon: "/icon-192.png", data: hash };
  try {
    const shown = new Notification(words, options);
    shown.onclick = () => {
      focus();
      location.hash = hash;
      shown.close();
    };
  } catch {
    // On Android only a service worker may show notifications.
    void navigator.serviceWorker?.ready.then((registration) => registration.showNotification(words, options));
  }
}
