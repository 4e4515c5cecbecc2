/**
 * Ends a log line that was cut. It begins as what cuts other texts does: secrets that it breaks off
 * are found by that.
 */
export const LOG_CUT_MARK = '… (cut)';
/** Bytes reserved for the mark, in UTF-8. */
export const CUT_MARK_BYTES = 16;
