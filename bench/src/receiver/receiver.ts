import { setTimeout as sleep } from 'node:timers/promises';
import { nextMessage, startChild } from '../start-child.ts';
import type { Undo } from '../undo.ts';
import { type Arrivals, EVENTS_PATH, type FromReceiver, type ReceiverTotals, type ToReceiver } from './messages.ts';

export interface Receiver {
  /** URL for a webhook; its deliveries are recorded. */
  url: string;
  /** Answers the same and notes nothing. */
  baselineUrl: string;
  pid: number;
  /** Expect events 0 … events-1 of this phase; `refuseEvery` as in ToReceiver. Default: 0. */
  begin(phase: string, events: number, refuseEvery?: number): void;
  /** Event i is signed with the secret `i % secrets.length`. */
  verify(secrets: string[], every: number): void;
  /**
   * Resolves once that many distinct events of the phase have come, or nothing new has come for
   * `stallMs`.
   */
  settle(phase: string, events: number, stallMs: number): Promise<void>;
  collect(phase: string): Promise<Arrivals & ReceiverTotals>;
}

const POLL_MS = 10;

export async function startReceiver(undo: Undo): Promise<Receiver> {
  const child = startChild(new URL('./receiver-main.ts', import.meta.url), undo);
  const { port } = await nextMessage<Extract<FromReceiver, { kind: 'listening' }>>(child);
  const tell = (message: ToReceiver) => void child.send(message);
  async function ask<K extends FromReceiver['kind']>(message: ToReceiver): Promise<Extract<FromReceiver, { kind: K }>> {
    const answer = nextMessage<Extract<FromReceiver, { kind: K }>>(child);
    tell(message);
    return answer;
  }
  return {
    url: `http://127.0.0.1:${port}${EVENTS_PATH}`,
    baselineUrl: `http://127.0.0.1:${port}/baseline`,
    pid: child.pid as number,
    begin: (phase, events, refuseEvery = 0) => tell({ kind: 'begin', phase, events, refuseEvery }),
    verify: (secrets, every) => tell({ kind: 'verify', secrets, every }),
    async settle(phase, events, stallMs) {
      let best = -1;
      let changedAtMs = performance.now();
      while (performance.now() - changedAtMs < stallMs) {
        const { distinct } = await ask<'counted'>({ kind: 'count', phase });
        if (distinct >= events) return;
        if (distinct > best) changedAtMs = performance.now();
        best = distinct;
        await sleep(POLL_MS);
      }
    },
    collect: (phase) => ask<'collected'>({ kind: 'collect', phase }),
  };
}
