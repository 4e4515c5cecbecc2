import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { deploy, startServer, type TestServer } from '../../support/server.ts';

const TELLER = `export default { name: "Teller", version: "1",
  props: { http: { type: "$.interface.http", customResponse: true }, token: { type: "string", secret: true } },
  async run() { console.log(this.token); await this.http.respond({ status: 200, body: this.token }); } };`;

let database: TestDatabase;
let nodes: TestServer[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  nodes = await Promise.all([1, 2].map(() => startServer({ databaseUrl: database.url })));
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await database.drop();
});

it('a secret that is replaced on one node is used, and looked for, by the other, whose isolates were warm', async () => {
  const [here, there] = nodes as [TestServer, TestServer];
  const source = await deploy(here, TELLER, { props: { token: 'the-first-token' } });
  const told = async () => (await fetch(there.url + new URL(source.endpoint).pathname)).text();
  expect(await told()).toBe('the-first-token');
  await here.api('PUT', `/sources/${source.id}`, { configured_props: { token: 'the-second-token' } });
  await eventually(async () => (await told()) === 'the-second-token');
  expect([await told(), await told()]).toEqual(['the-second-token', 'the-second-token']);
  await eventually(async () => (await database.db.sql`select from invocations`).length === 0);
  const runs = await database.db.sql<{ logs: string }[]>`select logs from runs where source_id = ${source.id}`;
  expect(runs.length).toBeGreaterThan(3);
  for (const { logs } of runs) expect(JSON.parse(logs)).toMatchObject([{ message: '[secret:token]' }]);
});
