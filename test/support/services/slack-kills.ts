/** Slack for the kills: four people, each in a chat of their own. */
import type { ChatUnderKills } from "../processes/chat-kills.ts";
import { directOf, startSlack, TEAM } from "../servers/slack.ts";

export async function slackUnderKills(): Promise<ChatUnderKills> {
  const slack = await startSlack(() => {});
  // Some are killed after Slack took a message and before it said so.
  slack.slows(100);
  const people = new Map(["U0ANN", "U0BOB", "U0CAROL", "U0DAN"].map((user) => [`${TEAM}.${user}`, user]));
  return {
    name: "slack",
    settings: slack.settings,
    people: [...people.keys()],
    say: (person, text) => void slack.say(people.get(person) as string, text),
    shown: (person) => slack.answers(directOf(people.get(person) as string)).map(({ text }) => text),
    close: slack.close,
  };
}
