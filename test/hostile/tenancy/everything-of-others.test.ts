import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { OWNED, probeRoutes } from '../../support/hostile-tenancy.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';
import { hostile } from '../../support/hostile.ts';
import { PASSWORD, postSession, tokenOf } from '../../support/members.ts';

// tenancy: Ids of everything that the neighbour has, in every route that takes an id, by the
// server's own description of them.
describe('ids-of-others-everywhere', () => {
  const world = hostile({ ownAccounts: true });

  /**
   * By names, which each account has its own of; what is everybody's; and apps and tenants, which
   * are the operator's.
   */
  const OF_NOBODY = [
    '/environment_variables/',
    '/stacks/',
    '/tenants/',
    '/users/me/oauth_clients/',
    '/components/registry/',
    '/registry/components/',
    '/apps/',
    // No run of this world is abandoned: abandoned-runs.test.ts has those of others.
    '/runs/',
    // A browser makes them: passkeys.test.ts has those of others.
    '/users/me/passkeys/',
  ];

  /**
   * Creates one thing of each kind for the neighbour. Returns the ids by the path of their routes
   * up to the id.
   */
  async function makeAll(): Promise<Record<string, string>> {
    const { neighbour } = world;
    const idOf = async (path: string, body: object) => {
      const { status, text, body: made } = await neighbour.api('POST', path, body);
      if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
      return made.data as { id: string };
    };
    const flow = await makeWorkflow(neighbour, {
      steps: ["$.send.http({ method: 'GET', url: 'http://127.0.0.1:9/' }); return 1;"],
    });
    const run = await neighbour.api('POST', `/workflows/${flow.id}/run`, {});
    const executionId = run.body.data.execution_id as string;
    const sends = async () => (await neighbour.api('GET', `/executions/${executionId}/sends`)).body?.data;
    const [send] = await eventually(async () => (await sends())?.length > 0 && (await sends()));
    const invited = await idOf('/members/invitations', { email: 'theirs@example.com', role: 'viewer' });
    const joining = await neighbour.api('POST', '/members/invitations', {
      email: 'member.of@example.com',
      role: 'viewer',
    });
    const { browser } = await postSession(world.server, '/invitation/accept', {
      token: tokenOf(joining.body.data.link),
      password: PASSWORD,
    });
    const [session] = (await browser.api('GET', '/users/me/sessions')).data;
    const [key] = (await neighbour.api('GET', '/api_keys')).body.data as [{ id: string }];
    const account = await idOf('/connected_accounts', { app: 'stripe', credentials: { api_key: 'sk' } });
    const [source, webhook] = [await neighbour.deploy(OWNED), await idOf('/webhooks', { url: 'http://127.0.0.1:99/' })];
    const ends = { emitter_id: source.id, listener_id: webhook.id };
    const subscription = await idOf('/subscriptions', ends);
    await neighbour.api('POST', `/sources/${source.id}/run`, { event: { body: 1 } });
    const deliveries = async () => (await neighbour.api('GET', `/webhooks/${webhook.id}/deliveries`)).body?.data;
    const [delivery] = await eventually(async () => (await deliveries())?.length > 0 && (await deliveries()));
    const attempts = async () => (await neighbour.api('GET', `/deliveries/${delivery.id}`)).body?.data.attempts;
    const [attempt] = await eventually(async () => (await attempts())?.length > 0 && (await attempts()));
    return {
      '/subscriptions/': subscription.id,
      '/attempts/': attempt.id,
      '/replays/': (await idOf('/replays', ends)).id,
      '/sources/': source.id,
      '/webhooks/': webhook.id,
      '/deliveries/': delivery.id,
      '/workflows/': flow.id,
      '/executions/': executionId,
      '/traces/': executionId,
      '/sends/': send.id,
      '/components/': (await idOf('/components', { component_code: OWNED })).id,
      '/api_keys/': key.id,
      '/data_stores/': (await idOf('/data_stores', { name: 'Theirs' })).id,
      '/connected_accounts/': account.id,
      '/accounts/': account.id,
      '/workspaces/': neighbour.id,
      '/orgs/': neighbour.id,
      '/members/': browser.session.user_id,
      '/members/invitations/': invited.id,
      '/users/me/sessions/': session.id,
      '/registry/imports/': 'imp_of_nobody_at_all',
    };
  }

  it('each route is known here, and answers as for an unknown id', async () => {
    const document = (await (await fetch(`${world.server.url}/openapi.json`)).json()) as {
      paths: Record<string, unknown>;
    };
    const prefixes = Object.keys(document.paths)
      .filter((path) => path.startsWith('/v1/') && path.includes('{'))
      .map((path) => path.slice('/v1'.length, path.indexOf('{')));
    const ids = await makeAll();
    expect(prefixes.filter((prefix) => !OF_NOBODY.includes(prefix) && ids[prefix] === undefined)).toEqual([]);
    const answers = await world.unharmed(async () => {
      const asked = [];
      for (const [prefix, id] of Object.entries(ids)) asked.push(...(await probeRoutes(world, `${prefix}{`, id)));
      return asked;
    });
    expect(answers.length).toBeGreaterThan(50);
    for (const { method, path, foreign, unknown } of answers) {
      expect([method, path, foreign]).toEqual([method, path, unknown]);
      // 400: of a request that is wrong whatever the id. 403: the operator's.
      expect([method, path, (foreign as { status: number }).status]).toEqual([
        method,
        path,
        expect.toBeOneOf([400, 403, 404]),
      ]);
    }
    // It wants a key as well: data-store-ids-of-others asks with one.
    const wrong = answers.filter(
      ({ method, foreign }) => method === 'GET' && (foreign as { status: number }).status === 400,
    );
    expect(wrong.map(({ path }) => path)).toEqual(['/data_stores/{id}/record']);
  });
});

// tenancy: Taking the neighbour's names: the same source name, component key and version, and
// their slugs in paths.
describe('names-of-others', () => {
  const world = hostile({ ownAccounts: true });

  it('names are each account’s own', async () => {
    const { attacker, neighbour } = world;
    const make = (who: typeof attacker, code: string) =>
      who
        .api('POST', '/sources', { component_code: code, name: 'Payments' })
        .then((answer) => answer.body.data as { id: string; name_slug: string });
    const theirs = await make(neighbour, OWNED);
    await world.unharmed(async () => {
      expect((await attacker.api('GET', `/sources/${theirs.name_slug}`)).status).toBe(404);
      const own = await make(attacker, OWNED.replace('event.body', '"of the attacker"'));
      expect(own.name_slug).toBe(theirs.name_slug);
      expect((await attacker.api('GET', '/components/owned')).text).toContain('of the attacker');
      await attacker.api('DELETE', `/sources/${own.name_slug}`);
      await attacker.api('DELETE', `/sources/${own.id}`);
    });
    const shown = await neighbour.api('GET', '/components/owned');
    expect(shown.text).not.toContain('of the attacker');
    expect((await neighbour.api('GET', `/sources/${theirs.id}`)).body.data).toMatchObject({
      id: theirs.id,
      active: true,
    });
  });
});

// tenancy: Every list of the API, with the account named in parameters, while the neighbour has
// something in each.
describe('lists-of-others', () => {
  const world = hostile({ ownAccounts: true });

  it('shows only rows of the caller', async () => {
    const { attacker, neighbour } = world;
    const source = await neighbour.deploy(OWNED);
    const webhook = await neighbour.api('POST', '/webhooks', { url: 'https://receiver.example/in' });
    const { id } = webhook.body.data as { id: string };
    await neighbour.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: id });
    const them = `account_id=${neighbour.id}&org_id=${neighbour.id}&workspace_id=${neighbour.id}&user_id=*`;
    await world.unharmed(async () => {
      for (const place of ['', '/users/me', `/workspaces/${attacker.id}`, `/orgs/${attacker.id}`]) {
        for (const noun of ['sources', 'webhooks', 'subscriptions']) {
          const named = await attacker.api('GET', `${place}/${noun}?${them}&limit=100`);
          expect([place, noun, named.status, named.body.data]).toEqual([place, noun, 400, undefined]);
          const list = await attacker.api('GET', `${place}/${noun}?limit=100`);
          const { data, page_info: page } = list.body as { data: unknown[]; page_info: { total_count: number } };
          expect([place, noun, list.status, data, page.total_count]).toEqual([place, noun, 200, [], 0]);
        }
      }
      expect((await attacker.api('GET', `/api_keys?${them}`)).status).toBe(400);
      const keys = await attacker.api('GET', '/api_keys');
      expect(keys.body.data).toHaveLength(1);
    });
    expect((await neighbour.api('GET', '/sources')).text).toContain(source.id);
  });
});

// tenancy: Reading the neighbour's history, errors and log lines, by its ids as paths, ranges and
// cursors.
describe('history-of-others', () => {
  const world = hostile({ ownAccounts: true });

  const LOUD = `export default { name: 'Loud', version: '1', props: { http: '$.interface.http' },
  run({ body }) { console.log('whispered'); this.$emit({ told: body }); throw new Error('shouted'); } };`;

  it('nothing of it is shown', async () => {
    const { attacker, neighbour } = world;
    const [theirs, own] = [await neighbour.deploy(LOUD), await attacker.deploy(LOUD)];
    await fetch(theirs.endpoint, { method: 'POST', body: 'private' });
    const stored = async () =>
      (await neighbour.api('GET', `/sources/${theirs.id}/events`)).body.data as { id: string }[];
    const [event] = await eventually(async () => (await stored()).length === 1 && (await stored()));
    const id = event?.id ?? '';
    await world.unharmed(async () => {
      for (const place of ['events', 'event_summaries', '$errors/event_summaries', '$logs/event_summaries', 'runs']) {
        const direct = await attacker.api('GET', `/sources/${theirs.id}/${place}`);
        expect([place, direct.status]).toEqual([place, 404]);
        const beside = await attacker.api('GET', `/sources/${own.id}/${place}`);
        expect([place, beside.status, beside.body.data]).toEqual([place, 200, []]);
      }
      for (const range of [
        `start_id=${id}&end_id=${id}`,
        `before=0-0`,
        `after=999999999999999-0`,
        `event_name=$errors`,
      ]) {
        const answer = await attacker.api('GET', `/sources/${own.id}/events?${range}`);
        expect([range, answer.status, answer.body.data]).toEqual([range, 200, []]);
      }
    });
  });
});
