import { describe, expect, it } from 'vitest';
import { comparable, OWNED, probeRoutes } from '../../support/hostile-tenancy.ts';
import { hostile } from '../../support/hostile.ts';
import { echo } from '../../support/workflow-steps.ts';

// tenancy: The neighbour's account id in the paths of workspaces, orgs and accounts.
describe('account-ids-of-others', () => {
  const world = hostile({ ownAccounts: true });

  it('lists nothing of it, and says nothing about it', async () => {
    await world.neighbour.deploy(OWNED);
    await world.unharmed(async () => {
      for (const prefix of ['/workspaces', '/orgs']) {
        const probes = await probeRoutes(world, prefix, world.neighbour.id);
        expect(probes.length).toBeGreaterThanOrEqual(3);
        for (const { path, foreign, unknown } of probes) {
          expect({ path, ...(foreign as object) }).toMatchObject({ path, status: 404 });
          expect(foreign).toEqual(unknown);
        }
      }
      for (const { method, path, foreign, unknown } of await probeRoutes(world, '/accounts', world.neighbour.id)) {
        // Operator routes refuse with 403 before the id is read. Without a further path, the id is
        // that of a connected account.
        const isOfAccounts = path === '/accounts/{id}/portal_links' || (path === '/accounts/{id}' && method !== 'PUT');
        const status = isOfAccounts ? 404 : 403;
        expect({ method, path, ...(foreign as object) }).toMatchObject({ method, path, status });
        expect(foreign).toEqual(unknown);
      }
    });
  });
});

// tenancy: Revoking the neighbour's API key by its id.
describe('api-key-ids-of-others', () => {
  const world = hostile({ ownAccounts: true });

  it('is a 404, and the key goes on working', async () => {
    const listed = await world.neighbour.api('GET', '/api_keys');
    const [{ id }] = listed.body.data as [{ id: string }];
    const probes = await world.unharmed(() => probeRoutes(world, '/api_keys', id));
    expect(probes.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /api_keys/{id}/rotate',
      'DELETE /api_keys/{id}',
    ]);
    for (const { foreign, unknown } of probes) {
      expect(foreign).toMatchObject({ status: 404 });
      expect(foreign).toEqual(unknown);
    }
    expect((await world.neighbour.api('GET', '/api_keys')).text).toContain(id);
  });
});

// tenancy: The neighbour's saved code, by its id and by its key: read, deployed, and put into a
// source of the attacker's.
describe('component-ids-of-others', () => {
  const world = hostile({ ownAccounts: true });

  it('is not found by another account under any name', async () => {
    const { attacker, neighbour } = world;
    const saved = await neighbour.api('POST', '/components', { component_code: OWNED });
    const { id } = saved.body.data as { id: string };
    const own = await attacker.deploy(`export default { name: 'Own', version: '1', run() {} };`);
    await world.unharmed(async () => {
      for (const { foreign, unknown } of await probeRoutes(world, '/components', id)) {
        expect(foreign).toMatchObject({ status: 404 });
        expect(foreign).toEqual(unknown);
      }
      for (const name of ['owned', encodeURIComponent('owned/../owned'), 'OWNED', '%6fwned']) {
        expect([name, (await attacker.api('GET', `/components/${name}`)).status]).toEqual([name, 404]);
      }
      for (const componentId of [id, 'owned']) {
        const deployed = await attacker.api('POST', '/sources', { component_id: componentId });
        const changed = await attacker.api('PUT', `/sources/${own.id}`, { component_id: componentId });
        expect([deployed.status, changed.status]).toEqual([404, 404]);
        expect(deployed.text + changed.text).not.toContain('this.$emit');
      }
    });
  });
});

// tenancy: Cursors out of the neighbour's lists, and forged ones, in the attacker's.
describe('cursors-of-others', () => {
  const world = hostile({ ownAccounts: true });

  it("a cursor is a place in the caller's own list, also a cursor of another account", async () => {
    const { attacker, neighbour } = world;
    for (let n = 0; n < 3; n++) await neighbour.deploy(OWNED);
    const own = await attacker.deploy(OWNED);
    const { page_info: page } = (await neighbour.api('GET', '/sources?limit=1')).body as {
      page_info: { start_cursor: string; end_cursor: string };
    };
    const forged = Buffer.from("9999999999999999:x' or '1'='1").toString('base64url');
    await world.unharmed(async () => {
      for (const cursor of [page.start_cursor, page.end_cursor]) {
        for (const side of ['after', 'before']) {
          const list = await attacker.api('GET', `/sources?limit=100&${side}=${cursor}`);
          expect(list.status).toBe(200);
          const ids = (list.body.data as { id: string }[]).map(({ id }) => id);
          expect(ids.filter((id) => id !== own.id)).toEqual([]);
          expect(list.body.page_info.total_count).toBe(1);
        }
      }
      expect((await attacker.api('GET', `/sources?after=${forged}`)).status).toBe(400);
    });
  });
});

// tenancy: The id of the neighbour's data store, in every route that takes one and as the prop of
// a source.
describe('data-store-ids-of-others', () => {
  const world = hostile({ ownAccounts: true });

  const READER = `export default { name: 'Reader', version: '1', props: { store: 'data_store' }, async run() { this.$emit(await this.store.keys()); } };`;

  it('is answered like an unknown id, and the store stays as it was', async () => {
    const { attacker, neighbour } = world;
    const { body } = await neighbour.api('POST', '/data_stores', { name: 'Theirs' });
    const { id } = body.data as { id: string };
    await neighbour.api('PUT', `/data_stores/${id}/record`, { key: 'a', value: 'theirs' });
    await world.unharmed(async () => {
      const probes = await probeRoutes(world, '/data_stores', id);
      expect(probes.length).toBeGreaterThan(7);
      for (const { method, path, foreign, unknown } of probes)
        expect([method, path, foreign]).toEqual([method, path, unknown]);
      for (const store of [id, { id }, `${id}\n`, [id]]) {
        const made = await attacker.api('POST', '/sources', { component_code: READER, configured_props: { store } });
        expect([store, made.status]).toEqual([store, 400]);
      }
      for (const [method, path] of [
        ['GET', `/data_stores/${id}/record?key=a`],
        ['DELETE', `/data_stores/${id}/record?key=a`],
        ['DELETE', `/data_stores/${id}/records`],
        ['PUT', `/data_stores/${id}/record?key=a&value=taken`],
      ] as const)
        expect((await attacker.api(method, path)).status).toBe(404);
    });
    const kept = await neighbour.api('GET', `/data_stores/${id}/record?key=a`);
    expect(kept.body.data.value).toBe('theirs');
  });
});

// tenancy: The id of the neighbour's source in every route that takes the id of a source.
describe('source-ids-of-others', () => {
  const world = hostile({ ownAccounts: true });

  it('every route answers as it does for a source that does not exist, and nothing happens to it', async () => {
    const source = await world.neighbour.deploy(OWNED);
    const before = await world.neighbour.api('GET', `/sources/${source.id}`);
    const probes = await world.unharmed(() => probeRoutes(world, '/sources', source.id));
    expect(probes.length).toBeGreaterThanOrEqual(7);
    for (const { method, path, foreign, unknown } of probes) {
      expect({ method, path, ...(foreign as object) }).toMatchObject({ method, path, status: 404 });
      expect(foreign).toEqual(unknown);
    }
    expect((await world.neighbour.api('GET', `/sources/${source.id}`)).text).toBe(before.text);
  });
});

// tenancy: The id of the neighbour's webhook in every route that takes one, its deliveries and
// signing secret included.
describe('webhook-ids-of-others', () => {
  const world = hostile({ ownAccounts: true });

  it('every route answers as it does for a webhook that does not exist, and nothing happens to it', async () => {
    const made = await world.neighbour.api('POST', '/webhooks', { url: 'https://receiver.example/in' });
    const { id, secret } = made.body.data as { id: string; secret: string };
    const before = await world.neighbour.api('GET', `/webhooks/${id}`);
    const probes = await world.unharmed(() => probeRoutes(world, '/webhooks', id));
    expect(probes.map(({ path }) => path)).toContain('/webhooks/{id}/deliveries');
    for (const { method, path, foreign, unknown } of probes) {
      // An answer to a tunnel without content is invalid for any id.
      const status = path === '/webhooks/{id}/answer' ? 400 : 404;
      expect({ method, path, ...(foreign as object) }).toMatchObject({ method, path, status });
      expect(foreign).toEqual(unknown);
    }
    expect(JSON.stringify(probes)).not.toContain(secret);
    expect((await world.neighbour.api('GET', `/webhooks/${id}`)).text).toBe(before.text);
  });
});

// tenancy: The ids of the neighbour's workflow and of its versions, in every route that takes one.
describe('workflow-ids-of-others', () => {
  const world = hostile({ ownAccounts: true });

  it('every route answers as it does for a workflow that does not exist, and nothing happens to it', async () => {
    const { attacker, neighbour } = world;
    const steps = [echo('a', { token: 'of-the-neighbour' })];
    const theirs = (await neighbour.api('POST', '/workflows', { triggers: [{ type: 'http' }], steps })).body.data;
    const own = (await attacker.api('POST', '/workflows', {})).body.data;
    const before = await neighbour.api('GET', `/workflows/${theirs.id}`);
    await world.unharmed(async () => {
      const probes = await probeRoutes(world, '/workflows', theirs.id);
      expect(probes.length).toBeGreaterThanOrEqual(6);
      for (const { method, path, foreign, unknown } of probes)
        expect([method, path, foreign]).toEqual([method, path, unknown]);
      const unknownId = `${(theirs.deployment_id as string).slice(0, -6)}zzzzzz`;
      for (const ask of [
        (id: string) => attacker.api('GET', `/workflows/${own.id}?deployment_id=${id}`),
        (id: string) => attacker.api('POST', `/workflows/${own.id}/deploy`, { deployment_id: id }),
      ]) {
        const [foreign, unknown] = [await ask(theirs.deployment_id), await ask(unknownId)];
        expect(foreign.status).toBe(404);
        expect(comparable(foreign, theirs.deployment_id)).toEqual(comparable(unknown, unknownId));
      }
    });
    expect((await neighbour.api('GET', `/workflows/${theirs.id}`)).text).toBe(before.text);
  });
});
