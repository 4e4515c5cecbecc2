import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';

/* A hook that goes on when its change was taken over long ago, as that of a node that stalled. */

let hw: Headwater;
let service: Server;
let url: string;
/** Calls of the service, in order. */
let calls: string[];
/** Which call is answered only when it is let go. */
let held: number | undefined;
let letGo: () => void;

beforeAll(async () => {
  hw = await startHeadwater();
  service = createServer((request, response) => {
    const call = calls.push(request.url ?? '');
    const answer = () => response.end(`id${call}`);
    if (call === held) letGo = answer;
    else answer();
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
});
afterAll(async () => {
  service.closeAllConnections();
  service.close();
  await hw.stop();
});
beforeEach(() => {
  calls = [];
  held = undefined;
});

const CODE = `export default { name: "Registers", version: "1", props: { db: "$.service.db", url: "string" },
  hooks: {
    async activate() { await this.register("activate"); },
    async deactivate() { await this.register("deactivate"); },
  },
  methods: {
    async register(hook) {
      const id = await (await fetch(this.url + "/" + hook)).text();
      this.db.set("id", id);
      console.log(id);
      this.$emit({ id });
    },
  },
  run() {} };`;

/** Data that its hooks have stored: the value, events and log lines. */
async function stored(id: string) {
  const [value] = await hw.sql<{ value: string }[]>`select value from component_db where source_id = ${id}`;
  const texts = await hw.sql<{ text: string }[]>`
    select data as text from events where emitter_id = ${id} union all select logs from runs where source_id = ${id}`;
  const all = texts.map(({ text }) => text).join();
  return { value: value?.value, ids: [...new Set(all.match(/id\d/g))].toSorted((a, b) => (a < b ? -1 : 1)) };
}

/** Takes over and ends the change whose hook the service holds; then the hook continues. */
async function whileItStalls(id: string | undefined, change: Promise<{ status: number; text: string }>) {
  await eventually(() => calls.length === held, { what: 'the hook that is held' });
  await hw.sql`update sources set busy_until = now() - interval '1 second' where busy_until is not null`;
  await eventually(async () => (await hw.sql`select from sources where busy_until is not null`).length === 0, {
    what: 'the end of the recovery',
  });
  const before = id === undefined ? undefined : await stored(id);
  letGo();
  const { status, text } = await change;
  expect(text).toContain('took over the change');
  return { status, before, after: id === undefined ? undefined : await stored(id) };
}

it('the activate of an update leaves the registration made by the activate of its recovery', async () => {
  const { id } = await hw.deploy(CODE, { url });
  held = 3;
  const update = hw.api('PUT', `/sources/${id}`, { configured_props: { url: `${url}/b` } });
  const { status, before, after } = await whileItStalls(id, update);
  expect(calls).toEqual(['/activate', '/deactivate', '/b/activate', '/b/deactivate', '/b/activate']);
  expect([status, before]).toEqual([409, { value: '"id5"', ids: ['id1', 'id2', 'id4', 'id5'] }]);
  expect(after).toEqual(before);
  expect((await hw.api('GET', `/sources/${id}`)).data.active).toBe(true);
});

it('so does the deactivate of a deletion, and the source is still there', async () => {
  const { id } = await hw.deploy(CODE, { url });
  held = 2;
  const { status, before, after } = await whileItStalls(id, hw.api('DELETE', `/sources/${id}`));
  expect(calls).toEqual(['/activate', '/deactivate', '/deactivate', '/activate']);
  expect([status, before]).toEqual([409, { value: '"id4"', ids: ['id1', 'id3', 'id4'] }]);
  expect(after).toEqual(before);
  expect((await hw.api('GET', `/sources/${id}`)).data.active).toBe(true);
});

it('the hook of a deployment that recovery has undone leaves nothing', async () => {
  held = 1;
  const deployment = hw.api('POST', '/sources', { component_code: CODE, configured_props: { url: `${url}/new` } });
  expect((await whileItStalls(undefined, deployment)).status).toBe(409);
  expect(calls).toEqual(['/new/activate', '/new/deactivate']);
  expect(await hw.sql`select from sources where configured_props->>'url' = ${`${url}/new`}`).toHaveLength(0);
  const left = await hw.sql`
    select from component_db d where not exists (select from sources s where s.id = d.source_id)`;
  expect(left).toHaveLength(0);
});
