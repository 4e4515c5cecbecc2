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
/** Last member of the argument of `$.send.http`: the bytes of `data`, in base64. */
export const SENT_BYTES = 'data_base64';
