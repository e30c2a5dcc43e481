/** Every text of the page: what each language has. */
export type Catalogue = typeof import("./en/en.ts");
