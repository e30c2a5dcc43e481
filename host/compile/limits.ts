/** How much is read of what a stranger offers. */
export const MAX_COMPONENT_BYTES = 64 * 1024 * 1024;
export const MAX_CAPABILITIES_BYTES = 256 * 1024;
