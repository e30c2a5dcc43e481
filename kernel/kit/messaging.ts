/** Chat channels, and the messages that they owe. */

export { ChannelState, OutboxEntry, OutboxStatus, PairingRequest } from "../vocabulary/messaging.ts";
