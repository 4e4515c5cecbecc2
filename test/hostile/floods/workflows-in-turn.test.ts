// fairness: Two thousand paused workflows that hear one source: each event makes as many lanes due, and each looks whether something may start.
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@headwater/shared';
import { expect, it } from 'vitest';
import { longestPauseMs } from '../../support/hostile-ticks.ts';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';

const world = hostile();

const EMITS = `export default { name: 'Emits', version: '1', props: { http: '$.interface.http' }, run() { this.$emit({}); } };`;
/** Twice as many as an account may have by default, where the pause was three seconds. */
const WORKFLOWS = longRun(800, 2_000);
const EVENTS = longRun(8, 16);
const EVERY_MS = 500;
/**
 * With jobs that waited for their turn, and all workers of the node with them, it was nearly six
 * seconds.
 */
const SOON_MS = 4_000;

/** As its tenant makes them one by one, which takes longer. */
async function makeListeners(emitterId: string): Promise<void> {
  const { sql, attacker } = world;
  const paused = JSON.stringify({ concurrency: 1, throttle: { limit: 0, intervalSeconds: 60 } });
  const ids = Array.from({ length: WORKFLOWS }, () => newId('workflow'));
  const deployments = ids.map(() => newId('deployment'));
  await sql`
    insert into emitters (id, account_id, user_id, name, name_slug, kind, in_turn, deployed_at, deployment_id)
    select made.id, ${attacker.id}, u.id, 'w', made.id, 'workflow', true, now(), made.deployment
    from unnest(${ids}::text[], ${deployments}::text[]) as made(id, deployment),
      (select id from users where account_id = ${attacker.id} limit 1) as u`;
  await sql`insert into emitter_state (emitter_id, account_id) select id, ${attacker.id} from unnest(${ids}::text[]) as id`;
  await sql`
    insert into deployments (id, account_id, workflow_id, user_id, version, triggers, steps, settings)
    select made.id, e.account_id, e.id, e.user_id, 1, '[]', '[]', ${paused}::text::jsonb
    from unnest(${ids}::text[], ${deployments}::text[]) as made(workflow, id) join emitters e on e.id = made.workflow`;
  await sql`
    insert into subscriptions (id, account_id, emitter_id, listener_id)
    select made.id, ${attacker.id}, ${emitterId}, made.listener from unnest(${ids.map(() => newId('subscription'))}::text[], ${ids}::text[]) as made(id, listener)`;
}

it('keep no worker from the ticks of the neighbour, who has one timer', async () => {
  const { attacker, sql } = world;
  const source = await attacker.deploy(EMITS);
  await makeListeners(source.id);
  const pauseMs = await world.unharmed(() =>
    longestPauseMs(world, async () => {
      for (let sent = 0; sent < EVENTS; sent++) {
        expect((await fetch(source.endpoint, { method: 'POST', body: '1' })).status).toBe(200);
        await sleep(EVERY_MS);
      }
    }),
  );
  expect((await attacker.api('DELETE', `/sources/${source.id}`)).status).toBeLessThan(300);
  await sql`delete from invocations where account_id = ${attacker.id}`;
  await sql`delete from emitters where account_id = ${attacker.id} and kind = 'workflow'`;
  expect(pauseMs).toBeLessThan(SOON_MS);
});
