import { describe, expect, it } from 'vitest';
import { openEventSource } from '../../support/event-source.ts';
import { eventually } from '../../support/eventually.ts';
import { comparable, OWNED } from '../../support/hostile-tenancy.ts';
import { hostile } from '../../support/hostile.ts';
import { startReceiver } from '../../support/receiver.ts';

// tenancy: Deleting the neighbour's events, with every range of ids, and through a source of the
// attacker's own.
describe('deleting-events-of-others', () => {
  const world = hostile({ ownAccounts: true });

  it('the events stay for each range', async () => {
    const { attacker, neighbour } = world;
    const theirs = await neighbour.deploy(OWNED);
    const own = await attacker.deploy(OWNED);
    await fetch(theirs.endpoint, { method: 'POST', body: 'kept' });
    const events = async () =>
      (await neighbour.api('GET', `/sources/${theirs.id}/event_summaries`)).body.data as { id: string }[];
    const [event] = await eventually(async () => (await events()).length === 1 && (await events()));
    await world.unharmed(async () => {
      for (const range of [
        '',
        `?start_id=${event?.id}&end_id=${event?.id}`,
        '?start_id=0-0&end_id=999999999999999-0',
      ]) {
        const direct = await attacker.api('DELETE', `/sources/${theirs.id}/events${range}`);
        const beside = await attacker.api('DELETE', `/sources/${own.id}/events${range}`);
        expect([range, direct.status, beside.status]).toEqual([range, 404, 202]);
      }
    });
    expect(await events()).toEqual([event].map((one) => expect.objectContaining({ id: one?.id })));
  });
});

// tenancy: The neighbour's source as the listener of a subscription and of an auto subscription of
// the attacker.
describe('listening-sources-of-others', () => {
  const world = hostile({ ownAccounts: true });

  it('cannot be made to run, and is answered like an unknown id', async () => {
    const { attacker, neighbour, sql } = world;
    const theirs = await neighbour.deploy(OWNED);
    const own = await attacker.deploy(OWNED);
    const unknown = `${theirs.id.slice(0, -6)}zzzzzz`;
    await world.unharmed(async () => {
      for (const emitter of [own.id, 'dc_*', unknown]) {
        const ask = async (id: string) =>
          comparable(await attacker.api('POST', '/subscriptions', { emitter_id: emitter, listener_id: id }), id);
        const foreign = await ask(theirs.id);
        expect(foreign).toMatchObject({ status: 404 });
        expect(foreign).toEqual(await ask(`${theirs.id.slice(0, -6)}yyyyyy`));
      }
      for (const method of ['POST', 'DELETE']) {
        const ask = async (id: string) =>
          comparable(await attacker.api(method, '/auto_subscriptions', { listener_id: id }), id);
        const foreign = await ask(theirs.id);
        expect(foreign).toMatchObject({ status: 404 });
        expect(foreign).toEqual(await ask(unknown));
      }
      await fetch(own.endpoint, { method: 'POST', body: '1' });
      await world.untilIdle();
    });
    expect(await sql`select from events where emitter_id = ${theirs.id}`).toHaveLength(0);
    expect(await sql`select from subscriptions where account_id = ${attacker.id}`).toHaveLength(0);
  });
});

// tenancy: A subscription of the attacker's webhook to the neighbour's source, by id, by glob and
// by patterns.
describe('subscribing-to-events-of-others', () => {
  const world = hostile({ ownAccounts: true });

  it('hears nothing of another account', async () => {
    const { attacker, neighbour, sql } = world;
    const source = await neighbour.deploy(OWNED);
    const receiver = await startReceiver();
    const webhook = await attacker.api('POST', '/webhooks', { url: receiver.url });
    const listener = webhook.body.data.id as string;
    await world.unharmed(async () => {
      const statuses: Record<string, number> = {};
      for (const emitter of [
        source.id,
        'dc_*',
        '*',
        '%',
        `${source.id.slice(0, 6)}*`,
        'owned',
        `${neighbour.id}/dc_*`,
      ]) {
        const made = await attacker.api('POST', '/subscriptions', { emitter_id: emitter, listener_id: listener });
        statuses[emitter] = made.status;
      }
      expect(Object.entries(statuses).filter(([, status]) => status === 200)).toEqual([['dc_*', 200]]);
      expect(statuses[source.id]).toBe(404);
      const sent = await fetch(source.endpoint, { method: 'POST', body: '1' });
      expect(sent.status).toBe(200);
    });
    // The listeners are decided with the event: both come with one commit.
    await eventually(async () => (await sql`select from events where emitter_id = ${source.id}`).length > 0);
    expect(await sql`select from deliveries where webhook_id = ${listener}`).toHaveLength(0);
    expect(receiver.requests).toEqual([]);
    await receiver.stop();
  });
});

// tenancy: Pouring the attacker's events into the neighbour's webhook, and ending the neighbour's
// subscriptions.
describe('subscribing-webhooks-of-others', () => {
  const world = hostile({ ownAccounts: true });

  it('the webhook does not exist for the attacker, and the subscription stays', async () => {
    const { attacker, neighbour } = world;
    const theirs = await neighbour.deploy(OWNED);
    const own = await attacker.deploy(OWNED);
    const webhook = await neighbour.api('POST', '/webhooks', { url: 'https://receiver.example/in' });
    const listener = webhook.body.data.id as string;
    const subscription = { emitter_id: theirs.id, listener_id: listener };
    expect((await neighbour.api('POST', '/subscriptions', subscription)).status).toBe(200);
    await world.unharmed(async () => {
      for (const emitter of [own.id, theirs.id, 'dc_*']) {
        const pair = { emitter_id: emitter, listener_id: listener };
        const made = await attacker.api('POST', '/subscriptions', pair);
        const ended = await attacker.api('DELETE', '/subscriptions', pair);
        expect([emitter, made.status, ended.status]).toEqual([emitter, 404, 404]);
      }
    });
    expect((await neighbour.api('GET', '/subscriptions')).text).toContain(theirs.id);
  });
});

// tenancy: Following the neighbour's events and log lines, and reading its traces, by every id
// that they have.
describe('streams-and-traces-of-others', () => {
  const world = hostile({ ownAccounts: true });

  const LOUD = `export default { name: 'Loud', version: '1', props: { http: '$.interface.http' },
  run({ body }) { console.log('whispered'); this.$emit({ told: body }, { name: 'private' }); } };`;

  it('nothing of it is shown or sent', async () => {
    const { attacker, neighbour, server } = world;
    const [theirs, own] = [await neighbour.deploy(LOUD), await attacker.deploy(LOUD)];
    const follow = (path: string, lastEventId?: string) =>
      openEventSource(`${server.url}/v1${path}`, attacker.key, lastEventId);
    await fetch(theirs.endpoint, { method: 'POST', body: 'private' });
    const stored = async () => (await neighbour.api('GET', `/sources/${theirs.id}/events?limit=100`)).body.data;
    const [event] = await eventually(async () => (await stored()).length === 1 && (await stored()));
    const newest = async () => (await stored())[0].id as string;
    await world.unharmed(async () => {
      const before = await newest();
      for (const path of [`/sources/${theirs.id}/sse`, `/sources/${theirs.id}/logs`, `/workflows/${theirs.id}/sse`]) {
        expect([path, (await follow(path)).status]).toEqual([path, 404]);
      }
      for (const id of [event.metadata.trace_id, event.metadata.emit_id, theirs.id]) {
        expect([id, (await attacker.api('GET', `/traces/${id}`)).status]).toEqual([id, 404]);
      }
      // The neighbour's position, as one of the attacker's own stream.
      const streams = [
        await follow(`/sources/${own.id}/sse`, '0-0'),
        await follow(`/sources/${own.id}/sse?channel=private`, event.id),
        await follow(`/sources/${own.id}/logs`, '0-0-0'),
      ];
      await fetch(theirs.endpoint, { method: 'POST', body: 'private' });
      await eventually(async () => (await newest()) !== before);
      await fetch(own.endpoint, { method: 'POST', body: 'own' });
      await eventually(() => streams.every(({ messages }) => messages.length > 0));
      for (const { messages, close } of streams) {
        expect(new Set(messages.map(({ data }) => data.metadata.emitter_id))).toEqual(new Set([own.id]));
        close();
      }
    });
  });
});

// egress: A component whose URL is the server's own API, by all names of this machine.
describe('code-from-own-api', () => {
  const world = hostile({ ownAccounts: true });

  it('the server does not fetch from itself, although loopback is allowed', async () => {
    const { port } = new URL(world.server.url);
    const hosts = ['127.0.0.1', 'localhost', '127.1', '2130706433', '0x7f.1', '127.0.0.2', '[::ffff:127.0.0.1]'];
    await world.unharmed(async () => {
      for (const host of hosts) {
        for (const path of ['openapi.json', 'healthz', 'v1/users/me?x=.mjs']) {
          const url = `http://${host}:${port}/${path}`;
          const saved = await world.attacker.api('POST', '/components', { component_url: url });
          expect([url, saved.status]).toEqual([url, 400]);
          expect(saved.text).not.toContain('openapi"');
        }
      }
    });
  });
});

// bridge: Calls of `this.db` and of the bridge that name the neighbour's source.
describe('db-of-others-through-the-bridge', () => {
  const world = hostile({ ownAccounts: true });
  const DB = "props: { http: '$.interface.http', db: '$.service.db' }";

  it('no call takes an id: values are those of the source that runs', async () => {
    const { neighbour, sql } = world;
    const theirs = await neighbour.deploy(`export default { name: 'Db', version: '1', ${DB},
    run() { this.db.set('key', 'of the neighbour'); } };`);
    await neighbour.api('POST', `/sources/${theirs.id}/run`, {});
    const ran = await world.unharmed(() =>
      world.attack(
        `const id = event.id;
      this.id = this.sourceId = this.db.sourceId = this.db.id = this.db.accountId = id;
      this.db.set('key', 'of the attacker', id);
      this.db.set({ toString: () => id + '/key' }, 1);
      const values = [await this.db.get('key', id), await this.db.get(id + '/key'), await this.db.get(['key', id]),
        await this.db.get.call({ id, sourceId: id }, 'key')];
      const other = { ...this.db, id, sourceId: id };
      values.push(await other.get('key'));
      this.$emit({ values, own: Object.getOwnPropertyNames(globalThis).filter((name) => /bridge|host|ivm|isolate/i.test(name)) });`,
        { event: { id: theirs.id } },
      ),
    );
    expect(JSON.stringify(ran)).not.toContain('of the neighbour');
    const rows = await sql`select source_id, value from component_db where source_id = ${theirs.id}`;
    expect(rows).toEqual([{ source_id: theirs.id, value: '"of the neighbour"' }]);
  });
});
