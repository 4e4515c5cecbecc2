import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ACCOUNT_LIMITS, LIMITS } from '../../../shared/src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { addWebhook, subscribe } from '../../support/hostile-tenant.ts';
import { hostile } from '../../support/hostile.ts';
import { startReceiver } from '../../support/receiver.ts';
import { freePort } from '../../support/server.ts';

// fairness: A receiver that holds as many deliveries as one account may have under way, and
// answers or cuts off all of them at once.
describe('answers-in-the-same-moment', () => {
  const world = hostile({ ownAccounts: true });
  const TOGETHER = ACCOUNT_LIMITS.maxDeliveryConnections.default;
  const WEBHOOKS = TOGETHER / LIMITS.maxDeliveriesPerWebhook;
  /** Events that each go to all webhooks: four times the attempts that may be under way. */
  const EVENTS = 4 * LIMITS.maxDeliveriesPerWebhook;
  const EMIT = `export default { name: 'Emit', version: '1', run() { for (let i = 0; i < ${EVENTS}; i++) this.$emit(i); } };`;

  let held: ServerResponse[] = [];
  let fullTimes = 0;
  const receiver = createServer((request, response) => {
    request.resume();
    held.push(response);
    if (held.length < TOGETHER) return;
    fullTimes++;
    const all = held;
    held = [];
    for (const one of all) {
      if (fullTimes % 2 === 0) one.socket?.resetAndDestroy();
      else one.end();
    }
  });

  beforeAll(() => new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve)));
  afterAll(() => {
    receiver.closeAllConnections();
    receiver.close();
  });

  it('does not delay other tenants', async () => {
    const { attacker } = world;
    const source = await attacker.deploy(EMIT);
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    for (let i = 0; i < WEBHOOKS; i++) await addWebhook(attacker, source.id, `${url}${i}`);
    await world.unharmed(async () => {
      const before = fullTimes;
      await attacker.api('POST', `/sources/${source.id}/run`, {});
      // All are answered once and cut off once; cut-off requests return, but not all together.
      await eventually(() => fullTimes >= before + 2, { timeoutMs: 20_000, what: 'all to be held, twice' });
    });
    expect(fullTimes).toBeGreaterThanOrEqual(2);
  });
});

// fairness: A thousand events at once for forty webhooks, and one of half a megabyte for eight
// sources.
describe('fan-out', () => {
  const world = hostile({ ownAccounts: true });
  const EVENTS = 1_000;
  const WEBHOOKS = 40;
  const LISTENERS = 8;
  const LARGE_BYTES = 500 * 1024;

  const EMIT = `export default { name: 'Emit', version: '1', run({ large }) {
  if (large) this.$emit('x'.repeat(${LARGE_BYTES}), { name: 'large' });
  else for (let i = 0; i < ${EVENTS}; i++) this.$emit(i);
} };`;
  const LISTEN = `export default { name: 'Listen', version: '1', run() {} };`;

  it('each is stored and led to all of them, and the neighbour is served meanwhile', async () => {
    const { attacker, sql } = world;
    const emitter = await attacker.deploy(EMIT);
    for (let i = 0; i < WEBHOOKS; i++) {
      const webhook = await attacker.api('POST', '/webhooks', { url: `http://127.0.0.1:99/${i}` });
      await attacker.api('POST', '/subscriptions', { emitter_id: emitter.id, listener_id: webhook.body.data.id });
    }
    const listeners = await Promise.all(Array.from({ length: LISTENERS }, () => attacker.deploy(LISTEN)));
    for (const { id } of listeners) {
      const subscription = { emitter_id: emitter.id, listener_id: id, event_name: 'large' };
      expect((await attacker.api('POST', '/subscriptions', subscription)).status).toBe(200);
    }
    // Those of all rounds are tried again meanwhile.
    await world.limit({ maxQueuedDeliveries: 10_000_000 });
    let rounds = 0;
    await world.unharmed(async () => {
      rounds++;
      await attacker.api('POST', `/sources/${emitter.id}/run`, { event: { large: true } });
      await attacker.api('POST', `/sources/${emitter.id}/run`, { event: {} });
      await world.untilIdle(30_000);
    });
    const [row] = await sql`select count(*)::int as count from deliveries where account_id = ${attacker.id}`;
    expect(row?.['count']).toBe(EVENTS * WEBHOOKS * rounds);
    const ran = await sql<{ count: number }[]>`
    select count(*)::int as count from runs where source_id = any(${listeners.map(({ id }) => id)}::text[])`;
    expect(ran).toEqual([{ count: LISTENERS * rounds }]);
  });
});

// fairness: A webhook's backlog of events of nearly a megabyte each, made due at once, again and
// again.
describe('large-deliveries', () => {
  const world = hostile({ ownAccounts: true });
  const EMIT = `export default { name: 'Large', version: '1', run() { for (let i = 0; i < 6; i++) this.$emit('x'.repeat(900_000)); } };`;
  const RUNS = 3;
  const EVENTS = 6 * RUNS;

  it('is taken up a megabyte at a time, and each is attempted', async () => {
    const { attacker, sql } = world;
    const receiver = await startReceiver();
    receiver.answer = { status: 404 };
    try {
      const source = await attacker.deploy(EMIT);
      const id = await addWebhook(attacker, source.id, receiver.url);
      await attacker.api('PUT', `/webhooks/${id}`, { retry_schedule_seconds: [] });
      const failed = async () =>
        (await sql`select from deliveries where webhook_id = ${id} and status = 'failed'`).length === EVENTS;
      for (let run = 0; run < RUNS; run++) await attacker.api('POST', `/sources/${source.id}/run`, {});
      await eventually(failed, { timeoutMs: 30_000, what: 'the first attempt of each' });
      let rounds = 1;
      await world.unharmed(async () => {
        rounds++;
        const again = await attacker.api('POST', `/webhooks/${id}/redeliver`, {});
        expect([again.status, again.body.data]).toEqual([200, { count: EVENTS }]);
        await eventually(failed, { timeoutMs: 30_000, everyMs: 100, what: 'the next attempt of each' });
      });
      expect(receiver.requests).toHaveLength(EVENTS * rounds);
    } finally {
      await receiver.stop();
    }
  });
});

// fairness: Events of nearly a megabyte each, heard by five sources at once.
describe('large-events-to-many-sources', () => {
  const world = hostile({ ownAccounts: true });
  const EMIT = `export default { name: 'Large', version: '1', run() { for (let i = 0; i < 6; i++) this.$emit('x'.repeat(900_000)); } };`;
  const HEAR = `export default { name: 'Hears', version: '1', run(event) { this.$emit(event.length); } };`;
  const SOURCES = 5;

  it('are heard at a pace, and each is', async () => {
    const { attacker, sql } = world;
    const source = await attacker.deploy(EMIT);
    for (let i = 0; i < SOURCES; i++) await subscribe(attacker, source.id, (await attacker.deploy(HEAR)).id);
    let rounds = 0;
    await world.unharmed(async () => {
      rounds++;
      await attacker.api('POST', `/sources/${source.id}/run`, {});
      await eventually(
        async () => {
          const rows = await sql`
          select from events where account_id = ${attacker.id} and emitter_id <> ${source.id} and data = '900000'`;
          return rows.length === 6 * SOURCES * rounds;
        },
        { timeoutMs: 60_000, everyMs: 100, what: 'all of them to be heard' },
      );
    });
    expect(await sql`select from invocations where account_id = ${attacker.id}`).toHaveLength(0);
  });
});

// fairness: Events of nearly a megabyte each, to ten webhooks at once.
describe('large-events-to-many-webhooks', () => {
  const world = hostile({ ownAccounts: true });
  const EMIT = `export default { name: 'Large', version: '1', run() { for (let i = 0; i < 6; i++) this.$emit('x'.repeat(900_000)); } };`;
  const WEBHOOKS = 10;

  it('go out at a pace, and all arrive', async () => {
    const { attacker, sql } = world;
    const receiver = await startReceiver();
    try {
      const source = await attacker.deploy(EMIT);
      for (let i = 0; i < WEBHOOKS; i++) await addWebhook(attacker, source.id, `${receiver.url}/${i}`);
      let rounds = 0;
      await world.unharmed(async () => {
        rounds++;
        await attacker.api('POST', `/sources/${source.id}/run`, {});
        await eventually(
          async () => {
            const rows = await sql`
            select from deliveries where account_id = ${attacker.id} and status = 'delivered'`;
            return rows.length === 6 * WEBHOOKS * rounds;
          },
          { timeoutMs: 60_000, everyMs: 100, what: 'all of them to arrive' },
        );
      });
      expect(receiver.requests).toHaveLength(6 * WEBHOOKS * rounds);
    } finally {
      await receiver.stop();
    }
  });
});

// fairness: A thousand deliveries at once to receivers that refuse every connection.
describe('refused-deliveries', () => {
  const world = hostile({ ownAccounts: true });
  // Beside others an account has fifty failed attempts a second (ADR 036).
  const EVENTS = 100;
  const WEBHOOKS = 10;
  const EMIT = `export default { name: 'Emit', version: '1', run() { for (let i = 0; i < ${EVENTS}; i++) this.$emit(i); } };`;

  it('are attempted each, a few at a time', async () => {
    const { attacker, sql } = world;
    // No other server of these tests takes it meanwhile.
    const refusing = `http://127.0.0.1:${await freePort()}`;
    const source = await attacker.deploy(EMIT);
    for (let i = 0; i < WEBHOOKS; i++) await addWebhook(attacker, source.id, `${refusing}/${i}`);
    let rounds = 0;
    await world.unharmed(async () => {
      rounds++;
      await attacker.api('POST', `/sources/${source.id}/run`, {});
      await eventually(
        async () => {
          const [row] = await sql<{ count: number }[]>`
          select count(*)::int from deliveries where account_id = ${attacker.id} and attempts <> '[]'`;
          return row?.count === EVENTS * WEBHOOKS * rounds;
        },
        { timeoutMs: 20_000, everyMs: 250, what: 'the first attempt of each' },
      );
    });
    const attempts = await sql<{ error: string }[]>`
    select distinct attempts -> 0 ->> 'error' as error from deliveries where account_id = ${attacker.id}`;
    expect(attempts).toEqual([{ error: expect.stringMatching(/refused/) }]);
  });
});
