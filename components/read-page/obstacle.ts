/** Recognises what keeps a reader from the text of a page, in one sentence each. */
import type { Document } from "./dom.ts";

const BOT_CHECK =
  /just a moment|attention required|checking (if the site connection|your browser)|verify(ing)? (that )?you are (a )?human|are you a (robot|human)|unusual traffic|enable javascript and cookies to continue|ddos protection|security check|complete the captcha/i;
const LOGIN = /\b(log|sign)[ -]?in\b|\banmelden\b|\bconnexion\b|\biniciar sesi|ログイン/i;
const PAYWALL =
  /subscribe (now )?to (continue|keep) reading|(already|become) a (subscriber|member)|this (article|story|content) is (only )?(for|available to) (our )?(paying )?(subscribers|members)|(for|to) subscribers only|create a free account to continue|you have reached your (article )?limit/i;
const NEEDS_SCRIPTS =
  /enable javascript|javascript (is|must be) (required|disabled|enabled)|requires? javascript|turn on javascript/i;

/** A page with less text than this may be nothing but the obstacle. */
const MAX_OBSTACLE_TEXT = 1_500;
const MIN_TEXT = 200;
/** A site says it where its text breaks off, which is early. */
const MAX_PAYWALL_TEXT = 100_000;

export interface Obstacles {
  readonly obstacle?: string;
  readonly notes: readonly string[];
}

export function findObstacle(document: Document, text: string): Obstacles {
  const short = text.length < MAX_OBSTACLE_TEXT;
  if (short && BOT_CHECK.test(`${document.title} ${text} ${document.withoutScripts}`))
    return told("The site shows a check for robots in place of the page, and nothing behind it can be read.");
  const hasPassword = document.body
    .getElementsByTagName("input")
    .some((input) => input.getAttribute("type")?.toLowerCase() === "password");
  if (short && (hasPassword || (text.length < MIN_TEXT && LOGIN.test(document.title))))
    return told("The page asks for a login, and what is behind it cannot be read.");
  const wantsScripts = NEEDS_SCRIPTS.test(`${document.withoutScripts} ${short ? text : ""}`);
  if (text.length < MIN_TEXT && document.scripts > 0 && (wantsScripts || text.length < 40))
    return told("The page is built by scripts in a browser: the server sent an empty shell without text.");
  if (PAYWALL.test(text.slice(0, MAX_PAYWALL_TEXT)) || isPaid(document))
    return { notes: ["Paywall: the site shows only a part of this text to readers without a subscription."] };
  return { notes: [] };
}

const told = (obstacle: string): Obstacles => ({ obstacle, notes: [] });

function isPaid({ head, body }: Document): boolean {
  return [head, body]
    .flatMap((part) => part.getElementsByTagName("script"))
    .some((script) => /"isAccessibleForFree"\s*:\s*"?false/i.test(script.textContent));
}
