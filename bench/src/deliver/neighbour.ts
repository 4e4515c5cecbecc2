import { setTimeout as sleep } from 'node:timers/promises';
import { machineMs } from '../clock.ts';
import { createLatencies, type LatencySummary } from '../load/latencies.ts';
import { eventId } from '../receiver/messages.ts';
import type { Receiver } from '../receiver/receiver.ts';

const EVENTS = 200;
const EVERY_MS = 25;
const STALL_MS = 30_000;

export interface Neighbour {
  /** Publishes events at a steady pace; how long each takes to its receipt. */
  measure(phase: string): Promise<LatencySummary>;
}

interface NeighbourOptions {
  url: string;
  apiKey: string;
  receiver: Receiver;
  body: (id: string) => string;
}

/** Another account, with one webhook that is subscribed to what it publishes. */
export async function startNeighbour({ url, apiKey, receiver, body }: NeighbourOptions): Promise<Neighbour> {
  const post = async (path: string, text: string): Promise<Record<string, string>> => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}/v1${path}`, { method: 'POST', headers, body: text });
    const answer = await response.text();
    if (!response.ok) throw new Error(`POST ${path} answered ${response.status}: ${answer.slice(0, 500)}`);
    return (JSON.parse(answer) as { data: Record<string, string> }).data;
  };
  const publish = (id: string) => post('/events', `{"data":${body(id)}}`);
  // The source is made with the first event.
  const { source_id: sourceId } = await publish(eventId('x', 0));
  const { id: webhookId } = await post('/webhooks', JSON.stringify({ url: receiver.url }));
  await post('/subscriptions', JSON.stringify({ emitter_id: sourceId, listener_id: webhookId }));
  return {
    async measure(phase) {
      receiver.begin(phase, EVENTS);
      const sentMs: number[] = [];
      const sending: Promise<unknown>[] = [];
      for (let nth = 0; nth < EVENTS; nth++) {
        sentMs.push(machineMs());
        sending.push(publish(eventId(phase, nth)));
        await sleep(EVERY_MS);
      }
      await Promise.all(sending);
      await receiver.settle(phase, EVENTS, STALL_MS);
      const { atMs } = await receiver.collect(phase);
      const latencies = createLatencies();
      sentMs.forEach((ms, nth) => latencies.record((atMs[nth] || machineMs()) - ms));
      return latencies.summary();
    },
  };
}
