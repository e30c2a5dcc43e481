/** The channel's settings, and what an operator does at Slack to get them. */
import { type Env, Off } from "../../kernel/plugin.ts";
import { createLink } from "./manifest.ts";

export const APP_TOKEN = "SLACK_APP_TOKEN";
export const BOT_TOKEN = "SLACK_BOT_TOKEN";
const API_URL = "SLACK_API_URL";
const SLACK_API = "https://slack.com/api/";

export type SlackSettings = Exclude<ReturnType<typeof readSettings>, Off>;

export function readSettings(env: Env) {
  const appToken = env.secret(APP_TOKEN, "Slack's app-level token, xapp-…, which opens the connection");
  const botToken = env.secret(BOT_TOKEN, "Slack's bot token, xoxb-…, which sends messages");
  const apiUrl = env.url(API_URL, SLACK_API, "The address of Slack's Web API") ?? SLACK_API;
  env.sends(APP_TOKEN, API_URL);
  env.sends(BOT_TOKEN, API_URL);
  if (appToken !== undefined && !appToken.startsWith("xapp-"))
    env.refuse(APP_TOKEN, "an app-level token, which begins with xapp-");
  if (botToken !== undefined && !botToken.startsWith("xoxb-"))
    env.refuse(BOT_TOKEN, "a bot token, which begins with xoxb-");
  if (appToken === undefined) return new Off(`${APP_TOKEN} is not set`);
  if (botToken === undefined) return new Off(`${BOT_TOKEN} is not set`);
  return { appToken, botToken, apiUrl: new URL(apiUrl.endsWith("/") ? apiUrl : `${apiUrl}/`) };
}

export const ASKED = [
  { name: APP_TOKEN, example: "xapp-…" },
  { name: BOT_TOKEN, example: "xoxb-…" },
];

export const guide = () => `Slack needs an app of your own in the workspace, which takes about two minutes:
  1. Open this link, choose the workspace and create the app. Its settings are filled in.
     ${createLink()}
  2. Basic Information > App-Level Tokens > Generate: add the scope connections:write. That is the app token.
  3. Install App > Install to workspace. The Bot User OAuth Token is the bot token.`;
