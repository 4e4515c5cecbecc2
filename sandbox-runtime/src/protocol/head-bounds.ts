/** Characters of a small JSON head beside the bytes of a message: of its URL and its header names and values, mostly. */
export const MAX_HEAD_CHARS = 256 * 1024;
/** Characters of a request's method, and of the name of a header. */
export const MAX_TOKEN_CHARS = 256;
/** Characters of a fault's message, and of its stack: both are cut in the isolate, to half of it or less. */
export const MAX_FAULT_CHARS = 16 * 1024;
/** Names that mean something else where exports are kept: what the step returned, and the prototype of an object. */
export const RESERVED_EXPORTS: readonly string[] = ['$return_value', '__proto__'];
/**
 * What a component says of itself, as JSON. Longer texts than the code can be have been made while it was loaded, and the node has to
 * parse them.
 */
export const MAX_OUTLINE_CHARS = 1024 * 1024;
