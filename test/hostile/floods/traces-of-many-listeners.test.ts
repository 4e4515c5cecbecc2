// limits: Traces of 500 events, each with a thousand webhooks of long URLs on another channel, asked for again and again.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';

const world = hostile();

const WEBHOOKS = 999;
const EVENTS = 500;
const MAX_LISTENERS = 2_500;
const MAX_ANSWER = 2 * 1024 * 1024;
const EMIT = `export default { name: 'Emit', version: '1', run() { for (let i = 0; i < ${EVENTS}; i++) this.$emit(i); } };`;

interface Listener {
  listener_id: string;
  listener_name: string;
  reason: string;
}

it('a trace has so many listeners, and says that it leaves some out', async () => {
  const { attacker, sql } = world;
  const { id: source } = await attacker.deploy(EMIT);
  const { id: stopped } = await attacker.deploy(EMIT);
  await attacker.api('POST', '/subscriptions', { emitter_id: source, listener_id: stopped });
  await attacker.api('PUT', `/sources/${stopped}`, { active: false });
  const hook = (await attacker.api('POST', '/webhooks', { url: `http://127.0.0.1:99/${'x'.repeat(2_000)}` })).body.data;
  await attacker.api('POST', '/subscriptions', { emitter_id: source, listener_id: hook.id, event_name: 'unused' });
  await sql`
    insert into webhooks (id, account_id, user_id, url, format, secret)
    select id || '_' || n, account_id, user_id, url || n, format, secret from webhooks, generate_series(1, ${WEBHOOKS}) n
    where id = ${hook.id}`;
  await sql`
    insert into subscriptions (id, account_id, emitter_id, listener_id, event_name)
    select 'sub_' || id, account_id, ${source}, id, 'unused' from webhooks
    where account_id = ${attacker.id} and id <> ${hook.id}`;
  await attacker.api('POST', `/sources/${source}/run`, {});
  await world.untilIdle();
  const { data } = (await attacker.api('GET', `/sources/${source}/event_summaries?limit=1`)).body;
  const path = `/traces/${data[0].metadata.trace_id}`;
  await world.unharmed(async () => {
    const answers = await Promise.all(Array.from({ length: longRun(3, 10) }, () => attacker.api('GET', path)));
    for (const { status, text, body } of answers) {
      expect(status).toBe(200);
      expect(text.length).toBeLessThan(MAX_ANSWER);
      expect(body.data.truncated).toBe(true);
      const [{ events }] = body.data.runs as [{ events: { listeners: Listener[] }[] }];
      expect(events).toHaveLength(EVENTS);
      const listeners = events.flatMap((event) => event.listeners);
      expect(listeners).toHaveLength(MAX_LISTENERS);
      expect(Math.max(...listeners.map(({ listener_name: name }) => name.length))).toBe(256);
      // Every event lists the paused listener; the limit left out only listeners without a match.
      const missing = listeners.filter(({ reason }) => reason === 'paused');
      expect(missing.map(({ listener_id: id }) => id)).toEqual(Array.from({ length: EVENTS }, () => stopped));
    }
  });
});
