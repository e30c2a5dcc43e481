import type { ComponentChild } from "preact";
import { plural } from "../language.ts";

/** Chat channels: how they are doing, what could not be sent, and who waits to be let in. */
export const channels = {
  none: "No chat channels",
  noneNote: "Telegram, e-mail and Slack are plugins of Postern. None of them is on here.",
  connected: "connected",
  notConnected: "not connected",
  notSetUp: "not set up",
  addNote: (name: string) =>
    `Run “postern channel add ${name}” where the service runs. It asks for the secrets and checks them.`,
  facts: {
    received: "Last message",
    sent: "Last answer",
    waiting: "Waiting",
    oldest: "Oldest of them",
    dead: "Not sent",
    node: "Node",
  },
  requests: "Who is this?",
  requestsNote:
    "Somebody wrote who is not known here. Pair them with an account, and what they wrote is answered.",
  request: (name: string) => `Request of ${name}`,
  asked: (code: ComponentChild, when: string): ComponentChild => ["Code ", code, `, asked ${when}`],
  notAuthentic: "The service does not vouch for the sender, so it cannot be paired.",
  deny: "Deny",
  denied: (identity: string) => `${identity} is denied`,
  paired: (identity: string, account: string) => `${identity} is paired with ${account}`,
  letters: "Not sent yet",
  lettersNote: "Answers that wait, are looked up, or could not be sent.",
  noLetters: "Everything is sent.",
  columns: { message: "Message", to: "To", state: "State", tries: "Tries" },
  states: {
    waiting: "waiting",
    sending: "being sent",
    unknown: "outcome unknown",
    dead: "not sent",
  } as Record<string, string>,
  next: (when: string) => `again ${when}`,
  again: "Send again",
  againOf: (what: string) => `Send again: ${what}`,
  sentAgain: "It is sent again",
  drop: "Drop",
  dropOf: (what: string) => `Drop: ${what}`,
  dropTitle: "Drop this message?",
  dropWords: "It is never sent.",
  dropped: "Dropped",
  count: (count: number) => plural(count, { one: "# message", other: "# messages" }),
};
