import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { deploy, post, startServer, subscribe, type TestServer } from '../support/server.ts';

const BIN = `export default {
  name: "Request bin", version: "0.0.1",
  props: { http: "$.interface.http", db: "$.service.db" },
  async run(event) {
    const n = (this.db.get("n") ?? 0) + 1;
    this.db.set("n", n);
    console.log("request", n);
    this.$emit(event.body, { id: event.body.id, summary: "got " + event.body.id, ts: 1700000000000, name: event.query.channel });
  },
};`;

let test: TestDatabase;
let server: TestServer;
let receiver: Receiver;

beforeAll(async () => {
  test = await createTestDatabase();
  server = await startServer({ databaseUrl: test.url });
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await server.stop();
  await test.drop();
});

it('a request becomes a signed delivery of exactly the emitted event, to every subscribed webhook', async () => {
  const source = await deploy(server, BIN);
  const webhook = await subscribe(server, source.id, `${receiver.url}/one`);
  await subscribe(server, source.id, `${receiver.url}/two`);
  expect((await post(source.endpoint, { id: 'a1', hello: 'world' })).status).toBe(200);

  const requests = await receiver.until(2);
  expect(requests.map((request) => request.url).toSorted()).toEqual(['/one', '/two']);
  const one = requests.find((request) => request.url === '/one');
  expect(JSON.parse(one?.body ?? '')).toEqual({ id: 'a1', hello: 'world' });
  expect(one?.headers).toMatchObject({
    'content-type': 'application/json',
    'headwater-emitter-id': source.id,
    'headwater-attempt': '1',
  });
  const headers = one?.headers as Record<string, string>;
  expect(() => new Webhook(webhook.secret).verify(one?.body ?? '', headers)).not.toThrow();
  expect(() => new Webhook(webhook.secret).verify(`${one?.body} `, headers)).toThrow('signature');

  const events = await server.api('GET', `/sources/${source.id}/event_summaries?expand=event&limit=10`);
  expect(events.body.data).toMatchObject([
    {
      id: one?.headers['headwater-event-id'],
      event: { id: 'a1', hello: 'world' },
      metadata: { emitter_id: source.id, id: 'a1', summary: 'got a1', ts: 1700000000000 },
    },
  ]);
});

it('an envelope carries channel, time and the event', async () => {
  const source = await deploy(server, BIN);
  const made = await server.api('POST', '/webhooks', { url: `${receiver.url}/envelope`, format: 'envelope' });
  await server.api('POST', `/subscriptions?emitter_id=${source.id}&listener_id=${made.body.data.id}`);
  await post(source.endpoint, { id: 'e1' });
  const request = await eventually(() => receiver.requests.find(({ url }) => url === '/envelope'));
  expect(JSON.parse(request.body)).toMatchObject({ timestamp: '2023-11-14T22:13:20.000Z', data: { id: 'e1' } });
});

it('a subscription to a channel gets the events of that channel alone', async () => {
  const source = await deploy(server, BIN);
  await subscribe(server, source.id, `${receiver.url}/channel`, '&event_name=urgent');
  await post(source.endpoint, { id: 'plain' });
  await post(`${source.endpoint}?channel=urgent`, { id: 'urgent' });
  const request = await eventually(() => receiver.requests.find(({ url }) => url === '/channel'));
  expect(JSON.parse(request.body)).toEqual({ id: 'urgent' });
  expect(request.headers['headwater-channel']).toBe('urgent');
});

it('logs of runs are kept, and runs that overlap build on each other’s values: no count is lost', async () => {
  const source = await deploy(server, BIN);
  const ids = Array.from({ length: 50 }, (_, i) => i + 1);
  await Promise.all(ids.map((id) => post(source.endpoint, { id })));
  const runs = await eventually(async () => {
    const answer = await server.api('GET', `/sources/${source.id}/runs?limit=100`);
    return answer.body.data.length === ids.length && answer.body.data;
  });
  const messages: string[] = runs.map((run: { logs: { message: string }[] }) => run.logs[0]?.message);
  expect(messages.toSorted()).toEqual(ids.map((n) => `request ${n}`).toSorted());
});

it('text that Postgres cannot hold is stored all the same', async () => {
  const code = `export default { name: "Nul", version: "1", props: { db: "$.service.db" }, run() {
    this.db.set("ab", "c\\0d");
    console.log("log \\0");
    this.$emit({ v: "\\0", stored: this.db.get("ab") }, { id: "i", summary: "s\\0", name: "n" });
    throw new Error("e\\0");
  } };`;
  const source = await deploy(server, code);
  await server.api('POST', `/sources/${source.id}/run`);
  const run = await eventually(async () => (await server.api('GET', `/sources/${source.id}/runs`)).body.data[0]);
  expect(run.error).toMatchObject({ code: 'COMPONENT_ERROR' });
  const { body } = await server.api('GET', `/sources/${source.id}/event_summaries`);
  expect(body.data[0]).toMatchObject({ event: { v: '\0', stored: 'c\0d' }, metadata: { summary: 's\uFFFD' } });
});

it('a run that throws keeps what it emitted before, records the author’s line and reports on $errors', async () => {
  const code = `export default { name: "Thrower", version: "1", props: { http: "$.interface.http" },
  run() {
    this.$emit({ before: true });
    throw new Error("no luck");
  } };`;
  const source = await deploy(server, code);
  await subscribe(server, source.id, `${receiver.url}/errors`, '&event_name=%24errors');
  expect((await post(source.endpoint, {})).status).toBe(200);
  const request = await eventually(() => receiver.requests.find(({ url }) => url === '/errors'));
  expect(JSON.parse(request.body)).toMatchObject({ error: { message: expect.stringContaining('no luck') } });
  const { body } = await server.api('GET', `/sources/${source.id}/runs`);
  expect(body.data[0].error.stack).toMatch(/:4:/);
  const events = await server.api('GET', `/sources/${source.id}/event_summaries`);
  expect(events.body.data.map((event: { event: unknown }) => event.event)).toEqual([{ before: true }]);
});

it('a receiver that fails gets the same message again, and each attempt is on record', async () => {
  const source = await deploy(server, BIN);
  const flaky = await startReceiver();
  flaky.script({ status: 500, body: 'not now' });
  const { id } = await subscribe(server, source.id, flaky.url);
  await post(source.endpoint, { id: 'r1' });
  const [first, second] = await flaky.until(2, 15_000);
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  expect(second?.headers['headwater-attempt']).toBe('2');
  const delivery = await eventually(async () => {
    const { body } = await server.api('GET', `/webhooks/${id}/deliveries`);
    return body.data[0].status === 'delivered' && body.data[0];
  });
  expect(delivery.attempts.map((attempt: { status_code: number }) => attempt.status_code)).toEqual([500, 200]);
  await flaky.stop();
});

it('a component that answers itself answers, and the run goes on', async () => {
  const code = `export default { name: "Echo", version: "1",
    props: { http: { type: "$.interface.http", customResponse: true } },
    async run(event) {
      if (event.query.silent) return;
      await this.http.respond({ status: 201, headers: { "x-echo": "yes" }, body: { path: event.path } });
      this.$emit({ after: "respond" });
    } };`;
  const source = await deploy(server, code);
  const answer = await post(`${source.endpoint}/a/b`, {});
  expect([answer.status, answer.headers.get('x-echo'), await answer.json()]).toEqual([201, 'yes', { path: '/a/b' }]);
  await eventually(
    async () => (await server.api('GET', `/sources/${source.id}/event_summaries`)).body.data.length === 1,
  );
  const silent = await post(`${source.endpoint}?silent=1`, {});
  expect(silent.status).toBe(400);
  expect(await silent.text()).toContain('respond');
});

it('a timer runs its source again and again with its own event', async () => {
  const code = `export default { name: "Ticker", version: "1",
    props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 60 } } },
    run(event) { this.$emit(event); } };`;
  const source = await deploy(server, code, { props: { timer: { intervalSeconds: 1 } } });
  const events = await eventually(async () => {
    const { body } = await server.api('GET', `/sources/${source.id}/event_summaries`);
    return body.data.length >= 2 && body.data;
  });
  const [second, first] = events.map((event: { event: { timestamp: number } }) => event.event.timestamp);
  expect(second).toBeGreaterThan(first);
  expect(events[0].event.interval_seconds).toBe(1);
  await server.api('PUT', `/sources/${source.id}`, { active: false });
  const stopped = (await server.api('GET', `/sources/${source.id}`)).body.data;
  expect(stopped).toMatchObject({ active: false, configured_props: { timer: { interval_seconds: 1, cron: null } } });
});

it('run now runs a source by hand with the event given', async () => {
  const source = await deploy(server, `export default { name: "Manual", version: "1", run(e) { this.$emit(e); } };`);
  const run = await server.api('POST', `/sources/${source.id}/run`, { event: { by: 'hand' } });
  expect(run.status).toBe(200);
  const events = await eventually(async () => {
    const { body } = await server.api('GET', `/sources/${source.id}/event_summaries`);
    return body.data.length === 1 && body.data;
  });
  expect(events[0].event).toEqual({ by: 'hand' });
});
