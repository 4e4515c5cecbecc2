import { createReadStream } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Messages, StepCall, WebhookMessage } from './records.ts';

/** Files of the receiver: one line for each attempt of a delivery, and for each call of a step. */
export const ATTEMPTS_FILE = 'attempts.jsonl';
export const CALLS_FILE = 'calls.jsonl';

/** In the order in which they came. `taken`: answered with 200. */
export type AttemptLine = [tenant: number, hook: string, id: string, taken: 0 | 1, body: string];

export interface Received {
  /** For each tenant, by the name of the webhook. */
  hooks: readonly ReadonlyMap<string, Messages>[];
  calls: readonly StepCall[];
}

export async function readReceived(folder: string, tenants: number): Promise<Received> {
  const hooks = Array.from({ length: tenants }, () => new Map<string, Map<string, WebhookMessage>>());
  let attempt = 0;
  for await (const line of linesOf(folder, ATTEMPTS_FILE)) {
    const [tenant, hook, id, taken, body] = JSON.parse(line) as AttemptLine;
    const ofTenant = hooks[tenant] as Map<string, Map<string, WebhookMessage>>;
    if (!ofTenant.has(hook)) ofTenant.set(hook, new Map());
    note(ofTenant.get(hook) as Map<string, WebhookMessage>, ++attempt, { id, taken, body });
  }
  const calls: StepCall[] = [];
  for await (const line of linesOf(folder, CALLS_FILE)) calls.push(JSON.parse(line) as StepCall);
  return { hooks, calls };
}

function note(
  messages: Map<string, WebhookMessage>,
  attempt: number,
  { id, taken, body }: { id: string; taken: 0 | 1; body: string },
): void {
  const known = messages.get(id);
  const message = known ?? { id, bodies: [body], taken: 0, failed: 0, firstTry: attempt, firstTaken: 0 };
  if (known === undefined) messages.set(id, message);
  else if (!message.bodies.includes(body)) message.bodies.push(body);
  if (taken === 0) message.failed++;
  else if (message.taken++ === 0) message.firstTaken = attempt;
}

function linesOf(folder: string, name: string): AsyncIterable<string> {
  return createInterface({ input: createReadStream(path.join(folder, name)), crlfDelay: Infinity });
}
