/** What commands and `postern doctor` look at: the home, the service that runs on it, ports and secrets. */

export { findRunning, prepareHome } from "../cli/service/home.ts";
export { examinePort, examineSecret, showWeaknesses } from "../net/findings.ts";
