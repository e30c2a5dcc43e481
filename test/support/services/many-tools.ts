/** Three hundred tools of twenty MCP servers, and messages with the tool that each is about, in a person's words. */
import type { JsonSchema } from "../../../kernel/plugin.ts";
import type { TestTool } from "./agent.ts";

/** A server, what it is, and what its tools are about: a name, then how its description goes on. */
const SERVERS: Readonly<Record<string, readonly [string, ...(readonly [string, string])[]]>> = {
  github: [
    "GitHub",
    ["issue", "a bug report or feature request in a repository"],
    ["pull_request", "a proposed change of code, with its reviews and checks"],
    ["repository", "a repository of an organization, with its branches and settings"],
  ],
  slack: [
    "Slack",
    ["message", "a chat message in a channel or a direct conversation"],
    ["channel", "a channel of the workspace and who is in it"],
    ["reminder", "a reminder that pings a person at a given time"],
  ],
  gmail: [
    "Gmail",
    ["email", "an e-mail in the mailbox, with its subject, sender and recipients"],
    ["draft", "an e-mail that is not sent yet"],
    ["label", "a label or folder for sorting e-mail"],
  ],
  calendar: [
    "Google Calendar",
    ["event", "a meeting or appointment with attendees, date and time"],
    ["calendar", "a whole calendar that is shared with people"],
    ["availability", "when people are free or busy"],
  ],
  notion: [
    "Notion",
    ["page", "a page of a wiki or of notes"],
    ["database", "a database of pages with typed columns"],
    ["comment", "a comment in the discussion of a page"],
  ],
  jira: [
    "Jira",
    ["ticket", "a ticket of a project with its assignee, priority and status"],
    ["sprint", "a sprint of a board, with its goal and dates"],
    ["worklog", "hours that were worked on a ticket"],
  ],
  stripe: [
    "Stripe",
    ["invoice", "an invoice for a customer with its line items and due date"],
    ["refund", "money that is given back for a payment"],
    ["subscription", "a recurring payment of a customer"],
  ],
  shopify: [
    "Shopify",
    ["order", "an order of the shop, with its shipping and fulfilment"],
    ["product", "a product of the shop, with price and stock"],
    ["discount", "a discount code or coupon"],
  ],
  postgres: [
    "PostgreSQL",
    ["table", "a table of the schema with its columns and indexes"],
    ["query", "a SQL statement and its result rows"],
    ["backup", "a dump of a database to restore from"],
  ],
  kubernetes: [
    "Kubernetes",
    ["pod", "a pod of the cluster, with its containers and logs"],
    ["deployment", "a deployment and its replicas"],
    ["secret", "a secret that pods can mount"],
  ],
  aws: [
    "Amazon Web Services",
    ["bucket", "an S3 bucket and the objects in it"],
    ["instance", "a virtual machine on EC2"],
    ["alarm", "a CloudWatch alarm on a metric"],
  ],
  sentry: [
    "Sentry",
    ["error", "an exception that was reported by an application, with its stack trace"],
    ["release", "a version of an application that was deployed"],
    ["monitor", "a check whether a scheduled job has run"],
  ],
  spotify: [
    "Spotify",
    ["playlist", "a playlist of songs"],
    ["track", "a song by an artist"],
    ["playback", "what is playing now: pause, skip, volume"],
  ],
  homeassistant: [
    "Home Assistant",
    ["light", "a lamp in a room, with brightness and colour"],
    ["thermostat", "the heating of a room and its target temperature"],
    ["scene", "a scene of several devices at once"],
  ],
  maps: [
    "Google Maps",
    ["route", "directions between two places by car, train, bike or on foot"],
    ["place", "a restaurant, shop or sight with its opening hours"],
    ["geocode", "the coordinates of an address"],
  ],
  zendesk: [
    "Zendesk",
    ["case", "a support request of a customer"],
    ["macro", "a canned reply for support agents"],
    ["satisfaction", "how customers rated the support they got"],
  ],
  figma: [
    "Figma",
    ["design", "a design file with its frames and layers"],
    ["component", "a reusable component of the design system"],
    ["annotation", "a remark pinned onto a frame"],
  ],
  salesforce: [
    "Salesforce",
    ["lead", "a prospect whom sales may win as a customer"],
    ["opportunity", "a deal with its amount and stage"],
    ["contact", "a person at a customer, with phone and address"],
  ],
  dropbox: [
    "Dropbox",
    ["file", "a file in the cloud storage"],
    ["folder", "a folder and what is in it"],
    ["link", "a link by which others can download"],
  ],
  workday: [
    "Workday",
    ["vacation", "days off that an employee asks for"],
    ["expense", "an expense report with its receipts"],
    ["payslip", "what an employee was paid"],
  ],
};

const ACTIONS: readonly (readonly [string, string])[] = [
  ["list", "Lists or searches"],
  ["get", "Reads"],
  ["create", "Creates"],
  ["update", "Changes"],
  ["delete", "Deletes"],
];

function schemaOf(action: string, what: string): JsonSchema {
  const id = { [`${what}_id`]: { type: "string", description: `Which ${what.replace("_", " ")}` } };
  const paging = {
    filter: { type: "string", description: "Words that have to be in it" },
    limit: { type: "integer", minimum: 1, maximum: 100, description: "How many at most" },
    cursor: { type: "string", description: "Where the last answer ended" },
  };
  const fields = {
    title: { type: "string", description: "A short title, shown in lists" },
    text: { type: "string", description: "The whole text, as Markdown" },
    tags: { type: "array", items: { type: "string" }, description: "Keywords to find it by" },
  };
  const isWritten = action === "create" || action === "update";
  const properties =
    action === "list" ? paging : { ...(action !== "create" && id), ...(isWritten && fields) };
  return { type: "object", properties, required: action === "list" ? [] : [Object.keys(properties)[0]] };
}

export type Calls = [name: string, params: unknown][];

/** All of them, in the order of a list that nobody sorted; each writes down that it was called. */
export function manyTools(calls: Calls = []): Record<string, TestTool> {
  return Object.fromEntries(
    ACTIONS.flatMap(([action, does]) =>
      Object.entries(SERVERS).flatMap(([server, [title, ...about]]) =>
        about.map(([what, is]): [string, TestTool] => {
          const name = `${server}_${action}_${what}`;
          const run = (params: unknown) => {
            calls.push([name, params]);
            return { status: "ok", output: `${name} was done` } as const;
          };
          const description = `${does} in ${title}: ${is}.`;
          const schema = schemaOf(action, what);
          const writes = action !== "list" && action !== "get";
          return [
            name,
            { description, schema, writes, server: { name: server, tool: name, warnings: [] }, run },
          ];
        }),
      ),
    ),
  );
}

/** What people say, and the tool that does it. */
export const ASKED: readonly (readonly [message: string, tool: string])[] = [
  ["Open a GitHub issue: the login button does nothing on Safari", "github_create_issue"],
  ["Which pull requests are waiting for my review?", "github_list_pull_request"],
  ["rename our repository to atlas", "github_update_repository"],
  ["post 'deploy is done' to the #ops channel on slack", "slack_create_message"],
  ["Remind me at five to call the bank, on slack", "slack_create_reminder"],
  ["who is in the design channel?", "slack_get_channel"],
  ["Find the e-mail from Maria about the contract", "gmail_list_email"],
  ["write a draft to the landlord about the broken heating", "gmail_create_draft"],
  ["When are Tom and Ada both free on Thursday?", "calendar_get_availability"],
  ["Move my meeting with the dentist to Friday morning", "calendar_update_event"],
  ["set up an appointment with Jonas tomorrow at 10", "calendar_create_event"],
  ["Add a page with our onboarding notes to the wiki in Notion", "notion_create_page"],
  ["what did people comment on the roadmap page?", "notion_list_comment"],
  ["Assign the ticket ABC-12 to Lea and raise its priority", "jira_update_ticket"],
  ["log three hours of work on ABC-12", "jira_create_worklog"],
  ["start a new sprint with the goal 'faster search'", "jira_create_sprint"],
  ["The customer wants their money back for payment 9932: refund it", "stripe_create_refund"],
  ["send ACME an invoice for 12 hours", "stripe_create_invoice"],
  ["cancel the subscription of customer 881", "stripe_delete_subscription"],
  ["Has order 5512 shipped yet?", "shopify_get_order"],
  ["make a coupon for 20 percent off", "shopify_create_discount"],
  ["what columns does the users table have", "postgres_get_table"],
  ["Run this SQL: select count(*) from orders", "postgres_get_query"],
  ["restore yesterday's database dump", "postgres_get_backup"],
  ["Show me the logs of the checkout pod", "kubernetes_get_pod"],
  ["scale the api deployment to five replicas", "kubernetes_update_deployment"],
  ["which S3 buckets do we have?", "aws_list_bucket"],
  ["start a virtual machine on EC2", "aws_create_instance"],
  ["what exceptions did the app throw last night? I need the stack trace", "sentry_get_error"],
  ["Make a playlist with songs for running", "spotify_create_playlist"],
  ["skip this song", "spotify_update_playback"],
  ["Turn the lamp in the kitchen off", "homeassistant_update_light"],
  ["set the heating in the bedroom to 19 degrees", "homeassistant_update_thermostat"],
  ["How do I get from Oslo to Bergen by train?", "maps_get_route"],
  ["is the restaurant on Main Street still open?", "maps_get_place"],
  ["how satisfied were our customers with support in May?", "zendesk_get_satisfaction"],
  ["which frames are in the checkout design file?", "figma_get_design"],
  ["Move the ACME deal to the stage 'won'", "salesforce_update_opportunity"],
  ["what is the phone number of our contact at Initech?", "salesforce_get_contact"],
  ["give me a download link for report.pdf in Dropbox", "dropbox_create_link"],
  ["I want to take next week off: ask for vacation", "workday_create_vacation"],
  ["the build on Windows is broken, file a bug in the repo", "github_create_issue"],
  ["merge the change of Kim into main once the checks pass", "github_update_pull_request"],
  ["tell the team on slack that lunch is here", "slack_create_message"],
  ["delete the newsletter mails from my mailbox", "gmail_delete_email"],
  ["what is on my calendar today?", "calendar_list_event"],
  ["is Priya busy this afternoon?", "calendar_get_availability"],
  ["which tickets are still open in the mobile project?", "jira_list_ticket"],
  ["how much stock is left of the blue mug?", "shopify_get_product"],
  ["why does the container keep restarting?", "kubernetes_get_pod"],
  ["notify me when CPU is above 90 percent: set a cloudwatch alarm", "aws_create_alarm"],
  ["who sings this song?", "spotify_get_track"],
  ["dim the lights in the living room", "homeassistant_update_light"],
  ["coordinates of 10 Downing Street", "maps_get_geocode"],
  ["reply to the support request of Mr Brown", "zendesk_update_case"],
  ["add Sarah from Globex as a prospect", "salesforce_create_lead"],
  ["put these photos into a new folder in the cloud", "dropbox_create_folder"],
  ["how much was I paid in June?", "workday_get_payslip"],
  ["was the nightly job run? check the monitor", "sentry_get_monitor"],
  ["hand in the receipts of my trip as an expense report", "workday_create_expense"],
];
