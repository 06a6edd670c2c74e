/** The version of this package, as it stands in its package.json: a test compares the two. */
export const version = "0.0.0"
