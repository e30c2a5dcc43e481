/** Coloured code. A door of its own, because the languages take a while to load; a browser can load it too. */

export { colourCode } from "../text/code-colours.ts";
