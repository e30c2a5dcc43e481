/** Connections to models, kept between turns. A slow answer is the turn's deadline to judge, not the connection's. */
import { createOutbound } from "../../../kernel/kit.ts";

/** The operator chose the servers, so they may be anywhere. */
export const outbound = createOutbound({ privateHosts: "any" });
