/**
 * What a URI and a media type look like, where we send one; what peers send is not looked at.
 */

// Everything but what no URI has (RFC 3986, appendix A); text beyond ASCII is left to the author.
// oxlint-disable-next-line no-control-regex
const uri = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s\u0000-\u001f\u007f{}<>"\\^`|]+$/

export const isUri = (text: string): boolean => uri.test(text) && text.isWellFormed()

const mediaType = /^[!#$&^_.+\-0-9A-Za-z]+\/[!#$&^_.+\-0-9A-Za-z]+(?:\s*;.*)?$/

/** A type and a subtype, and parameters after them (RFC 2045). */
export const isMediaType = (text: string): boolean => mediaType.test(text)
