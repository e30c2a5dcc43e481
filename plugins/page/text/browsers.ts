/** Names of products, which no language changes. */
export const browsers = {
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
