/** Connections to models, kept between turns. A slow answer is the turn's deadline to judge, not the connection's. */
import { Agent } from "undici";

export const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
