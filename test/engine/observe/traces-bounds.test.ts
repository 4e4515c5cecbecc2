import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { presentTrace } from '../../../api/src/resources/trace.ts';
import { recordToJson } from '../../../api/src/raw-json.ts';
import { buildTrace, type TraceParts } from '../../../engine/src/observe/traces/build-trace.ts';
import { LIMITS } from '../../../shared/src/index.ts';
import { startHeadwater } from '../../support/headwater.ts';
import { longestTurnMs, slowness } from '../../support/longest-turn.ts';
import { startReceiver } from '../../support/receiver.ts';

const EMITTER = 'dc_emitter';
const ROOT = 'inv_root';

/** A run that emits `count` events, each with `listeners` that listen to a channel of their own. */
function partsOf(count: number, listeners: number): TraceParts {
  return {
    events: Array.from({ length: count }, (_, seq) => ({
      emitter_id: EMITTER,
      indexed_at_ms: 1_000,
      seq,
      invocation_id: ROOT,
      caused_by: null,
      queued_ms: 0,
      ran_ms: 0,
      channel: '',
      emit_id: null,
      summary: null,
      bytes: 2,
    })),
    subscriptions: Array.from({ length: listeners }, (_, n) => ({
      emitter_id: EMITTER,
      listener_id: `wh_${n}`,
      event_name: 'other',
      created_ms: 0,
      filter: null,
      filter_ms: 0,
    })),
    runs: [],
    executions: [],
    steps: [],
    deliveries: [],
    missed: [],
    data: new Map(),
    sends: [],
    holders: [],
    names: new Map(),
  };
}

test('listeners that did not match make room for results, over all events', async () => {
  const parts = partsOf(500, 1_000);
  const deliveries = parts.events.map(({ seq }) => ({
    id: `dlv_${seq}`,
    webhook_id: 'wh_hearing',
    emitter_id: EMITTER,
    indexed_at_ms: 1_000,
    seq,
    status: 'delivered' as const,
    attempts: [],
    next_attempt_ms: 0,
  }));
  const built = await buildTrace({ ...parts, deliveries });
  const events = built.runs[0]?.events ?? [];
  expect(built.isCut).toBe(true);
  expect(events.every(({ listeners }) => listeners[0]?.listenerId === 'wh_hearing')).toBe(true);
  expect(events.flatMap(({ listeners }) => listeners)).toHaveLength(LIMITS.maxTraceListeners);
  const whole = await buildTrace(partsOf(5, LIMITS.maxTraceListeners / 5));
  expect(whole.isCut).toBe(false);
  expect(whole.runs[0]?.events.flatMap(({ listeners }) => listeners)).toHaveLength(LIMITS.maxTraceListeners);
});

test('building and writing the largest trace leaves the thread to others', async () => {
  const error = { code: 'COMPONENT_ERROR' as const, message: 'x'.repeat(4_000), stack: 'y'.repeat(8_000) };
  const runs = Array.from({ length: LIMITS.maxTraceRows }, (_, n) => ({
    id: `inv_${n}`,
    source_id: EMITTER,
    kind: 'event',
    caused_by: `${EMITTER}-1000-${n}`,
    status: 'error' as const,
    error_code: error.code,
    error_message: error.message,
    error_stack: error.stack,
    error_limit: null,
    logs: JSON.stringify(Array.from({ length: 20 }, () => ({ at: 1, level: 'info', message: 'z'.repeat(80) }))),
    started_ms: 1,
    ended_ms: 2,
  }));
  const parts = partsOf(500, 1_000);
  const large = async () => {
    const built = await buildTrace({ ...parts, runs });
    return presentTrace({ id: ROOT, ...built });
  };
  const text = recordToJson(await large());
  expect(text.length).toBeGreaterThan(5_000_000);
  const { runs: shown } = JSON.parse(text) as { runs: { events: { listeners: { run: { error: object } }[] }[] }[] };
  expect(shown[0]?.events.map(({ listeners }) => listeners[0]?.run.error)).toEqual(
    Array.from({ length: 500 }, () => expect.objectContaining(error)),
  );
  const longest = await longestTurnMs(async () => {
    await large();
    // Until the last turn is measured.
    await sleep(5);
  });
  expect(longest / slowness()).toBeLessThan(20);
});

test('a webhook without a name shows the beginning of its URL and its newest attempts', async () => {
  const hw = await startHeadwater();
  const receiver = await startReceiver();
  const source = await hw.deploy(`export default { name: 'One', version: '1', run() { this.$emit(1); } };`);
  const url = `${receiver.url}/${'x'.repeat(1_000)}`;
  const { data: hook } = await hw.api('POST', '/webhooks', { url });
  await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: hook.id });
  await hw.api('POST', `/sources/${source.id}/run`, {});
  const [event] = await hw.untilEvents(source.id, 1);
  await receiver.until(1);
  await expect
    .poll(() => hw.sql`select from deliveries where webhook_id = ${hook.id} and status = 'delivered'`)
    .toHaveLength(1);
  const traceWith = async (count: number) => {
    await hw.sql`
      update deliveries set attempts = (
        select jsonb_agg(jsonb_build_object('at', n::text, 'duration_ms', n) order by n) from generate_series(1, ${count}::int4) n
      ) where webhook_id = ${hook.id}`;
    const { data } = await hw.api('GET', `/traces/${source.id}-${event?.id}`);
    const [listener] = data.runs[0].events[0].listeners;
    const attempts = listener.delivery.attempts.map((one: { at: string }) => Number(one.at));
    return { truncated: data.truncated, name: listener.listener_name, attempts };
  };
  const newest = Array.from({ length: LIMITS.maxTraceAttempts }, (_, n) => n + 1);
  const name = url.slice(0, LIMITS.maxNameChars);
  expect(await traceWith(3)).toEqual({ truncated: false, name, attempts: [1, 2, 3] });
  expect(await traceWith(newest.length)).toEqual({ truncated: false, name, attempts: newest });
  expect(await traceWith(newest.length + 2)).toEqual({ truncated: true, name, attempts: newest.map((n) => n + 2) });
  await hw.stop();
  await receiver.stop();
});
