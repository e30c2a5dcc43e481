/** A part of WASI 0.3 as components import it; drafts have another version. */
export const RELEASE_3 = /^wasi:.*@0\.3\.\d+$/;

/**
 * The transpiler leaves versions out of names, and a component may import the same part of WASI 0.2 and of 0.3. So those of 0.3
 * get another namespace before it sees them. It is as long as the true one.
 */
export const RELEASE_3_SPACE = "was3";
