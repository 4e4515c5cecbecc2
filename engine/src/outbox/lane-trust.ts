/**
 * How far attempts of a lane are expected to succeed: a success gives `TRUSTED`, and each failure
 * takes one. So one rejected event of a good receiver changes nothing, and an outage is noticed
 * after two failures in a row. From `SURE` on, the lane is held back by no failures, its own or
 * others', and its failures hold back no other lane.
 */
export type Trust = 0 | 1 | 2 | 3;

export const FAILING = 0;
/** The node has seen no attempt of it. One failure is enough. */
export const UNKNOWN = 1;
export const SURE = 2;
export const TRUSTED = 3;

export const afterFailure = (trust: Trust): Trust => Math.max(FAILING, trust - 1) as Trust;
