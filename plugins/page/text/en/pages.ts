/** The names of the pages. */
export const pages = {
  chat: "Chat",
  tools: "Tools",
  jobs: "Jobs",
  routines: "Routines",
  files: "Files",
  memory: "Memory",
  usage: "Usage",
  people: "People",
  channels: "Channels",
  webhooks: "Webhooks",
  logs: "Logs",
  settings: "Settings",
};
