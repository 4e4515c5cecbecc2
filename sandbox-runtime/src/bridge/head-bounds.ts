/**
 * Characters of a fault's message, and of its stack: both are cut in the isolate, to half of it or
 * less.
 */
export const MAX_FAULT_CHARS = 16 * 1024;
/**
 * Names that mean something else where exports are kept: what the step returned, and the prototype
 * of an object.
 */
export const RESERVED_EXPORTS: readonly string[] = ['$return_value', '__proto__'];
/** The member of what `$.send.http` is given that has bytes of `data`, in base64. The last one. */
export const SENT_BYTES = 'data_base64';
