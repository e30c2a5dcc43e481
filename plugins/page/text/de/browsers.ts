import type { Catalogue } from "../en/en.ts";

export const browsers: Catalogue["browsers"] = {
  names: {
    edge: "Edge",
    opera: "Opera",
    firefox: "Firefox",
    chrome: "Chrome",
    safari: "Safari",
    android: "Android",
    ios: "iOS",
    windows: "Windows",
    macos: "macOS",
    linux: "Linux",
  },
};
