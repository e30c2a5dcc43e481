/** What needs no tool: greetings, help, sums and the clock. */
import type { ModelTool } from "../model.ts";
import { calculate } from "./arithmetic.ts";
import type { Intent } from "./intent.ts";
import { type Reply, say } from "./reply.ts";
import * as talk from "./talk.ts";

export function smallTalk(intent: Intent, tools: readonly ModelTool[], now: Date): Reply | undefined {
  switch (intent.type) {
    case "empty":
      return say('You sent no words. Ask me something, or say "What can you do?"');
    case "greet":
      return say(talk.greeting(tools));
    case "thanks":
      return say("You are welcome.");
    case "bye":
      return say("Goodbye! What you asked me to remember, I keep.");
    case "mood":
      return say("I am a program, so I have no moods, but I am running and ready. What can I do for you?");
    case "help":
      return say(talk.help(tools));
    case "identity":
      return say(talk.identity());
    case "tools":
      return say(talk.toolList(tools));
    case "cancel":
      return say("There is nothing to cancel.");
    case "yes":
    case "no":
      return say("I did not ask anything. What would you like me to do?");
    case "echo":
      return say(intent.text);
    case "sum": {
      const value = calculate(intent.expression);
      return value === undefined ? undefined : say(sum(intent.expression, value));
    }
    case "clock":
      return tools.some((tool) => /time|clock|date/i.test(tool.name))
        ? undefined
        : say(clock(intent.of, now));
    default:
      return undefined;
  }
}

function sum(expression: string, value: number): string {
  if (!Number.isFinite(value)) return `${expression.trim()} has no value: something is divided by zero.`;
  return `${expression.trim()} = ${Number(value.toPrecision(12))}`;
}

export function clock(of: "time" | "date", now: Date): string {
  const date = now.toLocaleDateString("en-GB", {
    weekday: "long",
    day: "numeric",
    month: "long",
    year: "numeric",
  });
  const time = now.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  return of === "date" ? `Today is ${date}.` : `It is ${time} on ${date}, by this machine's clock.`;
}
