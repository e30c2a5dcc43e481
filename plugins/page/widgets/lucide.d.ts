/** Each icon of lucide has a module of its own, which comes without types: the tags of an SVG image and their attributes. */
declare module "lucide/dist/esm/icons/*.mjs" {
  const icon: readonly (readonly [tag: string, attributes: Readonly<Record<string, string>>])[];
  export default icon;
}
