import type { ConnectTimes } from './connect-times.ts';

/**
 * The time that an exchange took, phase by phase, in milliseconds. Undefined: there was none, or it
 * came no further.
 */
export interface ExchangeTimes {
  isReused: boolean;
  dnsMs?: number | undefined;
  connectMs?: number | undefined;
  tlsMs?: number | undefined;
  /** From the request to the first byte of an answer. */
  firstByteMs?: number | undefined;
  /** From there to the end. */
  endMs?: number | undefined;
  remoteAddress?: string | undefined;
}

/** In the milliseconds of `performance.now()`. */
export interface ExchangeMoments {
  dispatchedMs: number;
  requestedMs?: number;
  firstByteMs?: number;
  endedMs?: number;
}

/** `connecting`: of the connection that the exchange had, which may have been there before. */
export function exchangeTimes(
  connecting: ConnectTimes | undefined,
  isTls: boolean,
  { dispatchedMs, requestedMs, firstByteMs, endedMs }: ExchangeMoments,
): ExchangeTimes {
  const isReused = connecting !== undefined && connecting.begunMs < dispatchedMs;
  const times = isReused || connecting === undefined ? {} : connectPhases(connecting, isTls);
  const { remoteAddress } = connecting ?? {};
  return {
    ...times,
    isReused,
    remoteAddress,
    firstByteMs: between(requestedMs, firstByteMs),
    endMs: between(firstByteMs, endedMs),
  };
}

function connectPhases({ begunMs, lookedUpMs, connectedMs, readyMs }: ConnectTimes, isTls: boolean) {
  return {
    dnsMs: between(begunMs, lookedUpMs),
    connectMs: between(lookedUpMs ?? begunMs, connectedMs),
    tlsMs: isTls ? between(connectedMs, readyMs) : undefined,
  };
}

function between(fromMs: number | undefined, toMs: number | undefined): number | undefined {
  return fromMs === undefined || toMs === undefined ? undefined : toMs - fromMs;
}
