import { describe, expect, it } from 'vitest';
import { publishCode, registryCode, saveCode, uniquePrefix } from '../../support/hostile-registry-kit.ts';
import { hostile } from '../../support/hostile.ts';
import { ADMIN_KEY, callApi } from '../../support/server.ts';

// tenancy: The neighbour's key in the registry, his prefix, that of the server's own components
// and that of an app, taken by another.
describe('key-squatting', () => {
  const world = hostile({ ownAccounts: true });

  it('is refused: a key, a prefix and the name of an app have one owner', async () => {
    const { attacker, neighbour } = world;
    const prefix = uniquePrefix();
    await world.limit({ maxRegistryVersions: 100 });
    const limits = { maxRegistryVersions: 100 };
    await callApi(`${world.server.url}/v1/accounts/${neighbour.id}/limits`, 'PUT', limits, ADMIN_KEY);
    expect((await publishCode(neighbour, registryCode(`${prefix}-one`, '1.0.0'))).status).toBe(200);
    await world.unharmed(async () => {
      for (const [key, version] of [
        [`${prefix}-one`, '1.0.0'],
        [`${prefix}-one`, '9.0.0'],
        [`${prefix}-two`, '1.0.0'],
        ['http-request-bin', '99.0.0'],
        ['http-better-requests', '1.0.0'],
        ['rss-new-items-free', '1.0.0'],
        ['slack-send-message', '1.0.0'],
        ['github-star', '1.0.0'],
      ] as const) {
        const { status } = await publishCode(attacker, registryCode(key, version));
        expect([key, version, status]).toEqual([key, version, 409]);
      }
      const withApp = "props: { github: { type: 'app', app: 'github' } },";
      expect((await publishCode(attacker, registryCode('slack-send-all', '1.0.0', withApp))).status).toBe(400);
      expect((await publishCode(attacker, registryCode('http-request-bin', '99.0.0'))).status).toBe(409);
    });
    const { body } = await attacker.api('GET', '/components/registry/http-request-bin');
    expect(body.data.version).not.toBe('99.0.0');
  });
});

// tenancy: Names that look like those of others: other letters, cases, escapes, and a key of the
// registry in one’s own account.
describe('lookalike-names', () => {
  const world = hostile({ ownAccounts: true });

  it('changes the answer for no other tenant', async () => {
    const { attacker, neighbour } = world;
    await world.limit({ maxRegistryVersions: 100 });
    const prefix = uniquePrefix();
    await world.unharmed(async () => {
      for (const key of [
        'HTTP-request-bin',
        'http-request-bin.',
        'http-request--bin',
        'http_-request-bin~',
        '-http-bin',
        `${prefix}-`,
        'constructor',
        '__proto__',
      ]) {
        const refused = await publishCode(attacker, registryCode(key, '1.0.0'));
        expect([key, refused.status]).toEqual([key, 400]);
      }
      for (const key of ['һttp-request-bin', 'http\\u2010request-bin', 'http-request-bin\\u200b', 'a/b-c', 'a b-c']) {
        const { status } = await attacker.api('POST', '/components', { component_code: registryCode(key, '1.0.0') });
        expect([key, status]).toEqual([key, 400]);
      }
      // Within an account any key is allowed, and affects no other account.
      const own = await saveCode(attacker, registryCode('http-request-bin', '99.0.0'));
      await attacker.api('POST', `/components/${own}/publish`, {});
      const deployed = await neighbour.api('POST', '/sources', { component_key: 'http-request-bin' });
      expect([deployed.status, deployed.body.data.name]).toEqual([200, 'HTTP request bin']);
      await neighbour.api('DELETE', `/sources/${deployed.body.data.id}`);
    });
  });
});

// tenancy: Code that the neighbour has saved and published for his account: found, read, deployed
// or published by its id, key or import.
describe('private-stays-private', () => {
  const world = hostile({ ownAccounts: true });

  it('is in no list, search or registry of another account', async () => {
    const { attacker, neighbour } = world;
    await world.limit({ maxRegistryVersions: 10 });
    const key = `${uniquePrefix()}-private`;
    const id = await saveCode(neighbour, registryCode(key, '1.0.0', "secretMark: 'only-the-neighbour-knows',"));
    await neighbour.api('POST', `/components/${id}/publish`, {});
    const started = await neighbour.api('POST', '/registry/import', {
      files: { 'a/sources/b/b.mjs': registryCode(`${key}-too`, '1.0.0') },
    });
    await world.unharmed(async () => {
      for (const name of [id, key]) {
        const answers = [
          await attacker.api('GET', `/components/${name}`),
          await attacker.api('GET', `/components/${name}?version=1.0.0`),
          await attacker.api('GET', `/components/registry/${name}`),
          await attacker.api('POST', `/components/${name}/publish`, { scope: 'registry' }),
          await attacker.api('POST', `/components/${name}/unpublish`, {}),
          await attacker.api('POST', `/components/${name}/configure`, { prop_name: 'a' }),
          await attacker.api('DELETE', `/components/${name}`),
          await attacker.api('POST', '/sources', { component_key: name }),
          await attacker.api('POST', '/sources', { component_id: name }),
        ];
        expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
        expect(answers.map(({ text }) => text).join()).not.toContain('only-the-neighbour-knows');
      }
      const lists = [
        await attacker.api('GET', `/components?q=${key}`),
        await attacker.api('GET', `/components?key=${key}`),
        await attacker.api('GET', `/components/registry?q=${key}`),
      ];
      expect(lists.map(({ body }) => body.data)).toEqual([[], [], []]);
      expect((await attacker.api('GET', `/registry/imports/${started.body.data.id}`)).status).toBe(404);
    });
    expect((await neighbour.api('GET', `/components/${key}`)).body.data.id).toBe(id);
  });
});

// database: A version in the registry replaced by other code: again, at the same moment many
// times, and after it was withdrawn.
describe('version-overwrite', () => {
  const world = hostile({ ownAccounts: true });

  it('has the code that was there first, for ever', async () => {
    const { attacker } = world;
    const prefix = uniquePrefix();
    await world.limit({ maxRegistryVersions: 100 });
    let rounds = 0;
    await world.unharmed(async () => {
      const key = `${prefix}-fixed-${rounds++}`;
      await publishCode(attacker, registryCode(key, '1.0.0', 'mark: 0,'));
      const ids = [];
      for (let n = 1; n <= 8; n++) ids.push(await saveCode(attacker, registryCode(key, '1.0.0', `mark: ${n},`)));
      const answers = await Promise.all(
        ids.map((id) => attacker.api('POST', `/components/${id}/publish`, { scope: 'registry' })),
      );
      expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 409));
      const fresh = [];
      for (let n = 1; n <= 8; n++) fresh.push(await saveCode(attacker, registryCode(key, '2.0.0', `mark: ${n},`)));
      const raced = await Promise.all(
        fresh.map((id) => attacker.api('POST', `/components/${id}/publish`, { scope: 'registry' })),
      );
      expect(raced.filter(({ status }) => status === 200)).toHaveLength(1);
      const kept = await attacker.api('GET', `/components/registry/${key}?version=1.0.0`);
      expect(kept.body.data.code).toContain('mark: 0,');
      await attacker.api('POST', `/components/${key}/unpublish`, { scope: 'registry', version: '1.0.0' });
      const again = await publishCode(attacker, registryCode(key, '1.0.0', 'mark: 9,'));
      expect(again.status).toBe(409);
    });
  });
});

// database: Searches that hold the operators of the search language, patterns, quotes, and words
// without end.
describe('words-of-the-search-language', () => {
  const world = hostile({ ownAccounts: true });

  it('are words like any other, or refused', async () => {
    const { attacker } = world;
    await world.unharmed(async () => {
      for (const q of [
        "' or 1=1 --",
        '!http',
        'http & !rss | *',
        ':*',
        '%',
        '_',
        "\\'",
        '((((',
        '<->',
        'a:*A',
        '\u0000',
        '\ud800'.toWellFormed(),
      ]) {
        const search = `/components/registry?q=${encodeURIComponent(q)}`;
        const list = `/components?q=${encodeURIComponent(q)}`;
        for (const { status } of [await attacker.api('GET', search), await attacker.api('GET', list)])
          expect([q, [200, 400].includes(status)]).toEqual([q, true]);
      }
      const long = await attacker.api('GET', `/components/registry?q=${'ab%20'.repeat(200)}`);
      expect(long.status).toBe(400);
      const negated = await attacker.api('GET', `/components/registry?q=${encodeURIComponent('!schedule')}`);
      expect(negated.body.data.map(({ key }: { key: string }) => key)).toContain('schedule-timer');
    });
  });
});
