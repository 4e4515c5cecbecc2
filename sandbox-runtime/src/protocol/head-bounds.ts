/** Characters of a small JSON head beside the bytes of a message: of its URL and its header names and values, mostly. */
export const MAX_HEAD_CHARS = 256 * 1024;
/** Characters of a request's method, and of the name of a header. */
export const MAX_TOKEN_CHARS = 256;
