import type { BenchArguments } from '../arguments.ts';
import { runLoad } from '../load/load-phase.ts';
import { createRequestTemplate } from '../load/request-bytes.ts';
import { eventId, ID_CHARS } from '../receiver/messages.ts';
import { nextMessage, startChild } from '../start-child.ts';
import type { Undo } from '../undo.ts';

const MAX_REQUESTS = 1_000_000;

/**
 * Requests a second through a bare Hono app on @hono/node-server, closed loop, same driver and
 * bodies as the whole path.
 */
export async function measureEcho(undo: Undo, options: BenchArguments, durationMs: number): Promise<number> {
  const child = startChild(new URL('./hono-echo-main.ts', import.meta.url), undo);
  const { port } = await nextMessage<{ port: number }>(child);
  const template = createRequestTemplate(`http://127.0.0.1:${port}/echo`, options.bodyBytes, ID_CHARS);
  const load = (maxMs: number) =>
    runLoad({
      target: template.target,
      connections: options.connections,
      requests: MAX_REQUESTS,
      maxMs,
      request: (index) => template.request(eventId('e', index)),
    });
  await load(durationMs / 4);
  const { sent, statuses, elapsedMs } = await load(durationMs);
  child.kill('SIGKILL');
  if (statuses[200] !== sent) throw new Error(`The echo server answered ${JSON.stringify(statuses)}`);
  return (sent / elapsedMs) * 1_000;
}
