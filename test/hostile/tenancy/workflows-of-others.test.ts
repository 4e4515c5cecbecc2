import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { sendEach } from '../../support/hostile-sends.ts';
import { comparable, OWNED, probeRoutes } from '../../support/hostile-tenancy.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';
import { hostile } from '../../support/hostile.ts';
import { echo, ECHO } from '../../support/workflow-steps.ts';

// tenancy: Resuming, cancelling and replaying the neighbour's execution with the attacker's own
// links and key.
describe('resume-links-of-others', () => {
  const world = hostile({ ownAccounts: true });

  const WAITS = { steps: ['$.export("links", $.flow.suspend()); return 1;', 'return 2;'] };

  /** An execution that waits, and the path of its link. */
  async function waiting(workflow: { id: string; endpoint: string }) {
    await fetch(workflow.endpoint, { method: 'POST', body: '{}' });
    return eventually(async () => {
      const [row] = await world.sql<{ id: string; exports: string }[]>`
      select w.execution_id as id, s.exports from execution_waits w join execution_steps s using (execution_id, position)
      where w.workflow_id = ${workflow.id}`;
      if (row === undefined) return undefined;
      const { links } = JSON.parse(row.exports) as { links: { resume_url: string } };
      return { id: row.id, token: new URL(links.resume_url).pathname.split('/').at(-1) ?? '' };
    });
  }

  it('is answered as if there were none, and the execution waits on', async () => {
    const { attacker, neighbour, server, sql } = world;
    const theirs = await waiting(await makeWorkflow(neighbour, WAITS));
    const own = await waiting(await makeWorkflow(attacker, WAITS));
    const unknown = `${theirs.id.slice(0, -6)}zzzzzz`;
    await world.unharmed(async () => {
      const tokens = [
        own.token,
        own.token.toUpperCase(),
        `${own.token}x`,
        '0-1-',
        '9999-999999-' + 'A'.repeat(32),
        '..%2f..',
        '%00',
      ];
      for (const token of tokens) {
        for (const action of ['resume', 'cancel']) {
          const ask = async (id: string) => {
            const answer = await fetch(`${server.url}/${action}/${id}/${token}`, { method: 'POST', body: '"taken"' });
            return comparable({ status: answer.status, text: await answer.text() }, id);
          };
          expect([action, token, await ask(theirs.id)]).toEqual([action, token, await ask(unknown)]);
        }
      }
      for (const action of ['cancel', 'replay']) {
        const ask = async (id: string) => comparable(await attacker.api('POST', `/executions/${id}/${action}`, {}), id);
        const foreign = await ask(theirs.id);
        expect(foreign).toMatchObject({ status: 404 });
        expect(foreign).toEqual(await ask(unknown));
      }
    });
    const rows =
      await sql`select resume_data from execution_waits where execution_id = ${theirs.id} and wake_at > now()`;
    expect(rows).toEqual([{ resume_data: null }]);
  });
});

// tenancy: The neighbour's execution, sends and S3 settings in every route that takes one of them.
describe('sends-of-others', () => {
  const world = hostile({ ownAccounts: true });

  it('are answered like unknown ones, and nothing happens to them', async () => {
    const settings = { region: 'eu-central-1', access_key_id: 'AKIANEIGHBOUR', secret_access_key: 'neighbours-secret' };
    await world.neighbour.api('PUT', '/sends/s3', settings);
    const [send] = await sendEach({ attacker: world.neighbour, sql: world.sql }, [
      ['email', { subject: 'a', text: 'b' }],
    ]);
    const [row] = await world.sql<
      { execution_id: string }[]
    >`select execution_id from sends where id = ${send?.id ?? ''}`;
    const executionId = row?.execution_id ?? '';
    const probes = await world.unharmed(() => probeRoutes(world, '/sends', send?.id ?? ''));
    expect(probes.map(({ path }) => path)).toContain('/sends/{id}/retry');
    for (const { foreign, unknown } of probes) {
      expect(foreign).toMatchObject({ status: 404 });
      expect(foreign).toEqual(unknown);
    }
    const foreign = await world.attacker.api('GET', `/executions/${executionId}/sends`);
    const unknown = await world.attacker.api('GET', '/executions/exec_00000000000000000000/sends');
    expect(foreign.status).toBe(404);
    expect(comparable(foreign, executionId)).toEqual(comparable(unknown, 'exec_00000000000000000000'));
    expect((await world.attacker.api('GET', '/sends/s3')).status).toBe(404);
    await world.attacker.api('DELETE', '/sends/s3');
    const kept = await world.neighbour.api('GET', '/sends/s3');
    expect(kept.body.data).toMatchObject({ access_key_id: 'AKIANEIGHBOUR' });
    expect(kept.text).not.toContain('neighbours-secret');
  });
});

// tenancy: Tests of the neighbour's workflow, and of an own one with the neighbour's version,
// execution and event.
describe('testing-workflows-of-others', () => {
  const world = hostile({ ownAccounts: true });

  it('are answered as if there were none', async () => {
    const { attacker, neighbour, sql } = world;
    const theirs = await makeWorkflow(neighbour, { steps: ['$.send.emit({ secret: "theirs" }); return "theirs";'] });
    const own = await makeWorkflow(attacker, { steps: ['return steps.trigger.event;'] });
    await fetch(theirs.endpoint, { method: 'POST', body: '{}' });
    const execution = await eventually(async () => {
      const [row] = await sql<{ id: string }[]>`select id from executions where workflow_id = ${theirs.id}`;
      return row?.id;
    });
    const event = await eventually(async () => {
      const [row] = await sql<{ ms: string; seq: number }[]>`
      select indexed_at_ms::text as ms, seq from events where emitter_id = ${theirs.id} and channel = ''`;
      return row && `${theirs.id}-${row.ms}-${row.seq}`;
    });
    await world.unharmed(async () => {
      const ask = async (workflow: string, parameters: Record<string, string>, id: string) =>
        comparable(await attacker.api('POST', `/workflows/${workflow}/test`, parameters), id);
      const unknown = (id: string) => `${id.slice(0, -6)}zzzzzz`;
      const foreign = await ask(theirs.id, {}, theirs.id);
      expect(foreign).toMatchObject({ status: 404 });
      expect(foreign).toEqual(await ask(unknown(theirs.id), {}, unknown(theirs.id)));
      for (const [name, id] of [
        ['deployment_id', theirs.deploymentId],
        ['event_id', execution],
        ['event_id', event],
      ] as const) {
        const answer = await ask(own.id, { [name]: id }, id);
        expect([name, answer]).toMatchObject([name, { status: name === 'event_id' ? 400 : 404 }]);
        expect(answer).toEqual(await ask(own.id, { [name]: unknown(id) }, unknown(id)));
      }
    });
  });
});

// tenancy: A workflow with the neighbour's component, source, workflow, data store, account, step,
// trigger and sealed secret.
describe('workflows-made-of-what-is-others', () => {
  const world = hostile({ ownAccounts: true });

  const USES = `export default { name: 'Uses', version: '1', type: 'action', props: { store: 'data_store' }, run() {} };`;

  it("is refused like unknown ids, and the neighbour's resources stay as they were", async () => {
    const { attacker, neighbour, sql } = world;
    const source = await neighbour.deploy(OWNED);
    const store = (await neighbour.api('POST', '/data_stores', { name: 'Theirs' })).body.data;
    const theirs = (
      await neighbour.api('POST', '/workflows', {
        triggers: [{ type: 'http' }],
        steps: [echo('a', { token: 'of-the-neighbour' })],
      })
    ).body.data;
    const own = (await attacker.api('POST', '/workflows', { triggers: [{ type: 'http' }], steps: [echo('a')] })).body
      .data;
    const [row] = await sql`
    select steps -> 0 -> 'configuredProps' -> 'token' as sealed from deployments where id = ${theirs.deployment_id}`;
    await world.unharmed(async () => {
      for (const input of [
        { steps: [{ namespace: 'a', component_id: theirs.steps[0].component_id }] },
        { triggers: [{ source_id: source.id }] },
        { triggers: [{ source_id: theirs.id }] },
        { triggers: [{ source_id: 'dc_*' }] },
        { steps: [{ namespace: 'a', component_code: USES, props: { store: store.id } }] },
        { steps: [{ namespace: 'a', component_code: ECHO, props: { token: row?.['sealed'] } }] },
      ]) {
        const made = await attacker.api('POST', '/workflows', input);
        expect([JSON.stringify(input).slice(0, 80), [400, 404].includes(made.status)]).toEqual([
          expect.anything(),
          true,
        ]);
      }
      for (const input of [
        { steps: [{ id: theirs.steps[0].id, namespace: 'a' }] },
        { triggers: [{ type: 'http', id: theirs.triggers[0].id }] },
      ])
        expect((await attacker.api('PUT', `/workflows/${own.id}`, input)).status).toBe(400);
      // A new workflow takes no ids: neither a URL nor a step of others becomes its own.
      const copied = await attacker.api('POST', '/workflows', {
        triggers: theirs.triggers,
        steps: [{ ...echo('a'), id: theirs.steps[0].id }],
      });
      expect(copied.status).toBe(400);
    });
    const after = await neighbour.api('GET', `/workflows/${theirs.id}`);
    expect(after.body.data).toEqual(theirs);
    expect(await sql`select from subscriptions where emitter_id = ${source.id}`).toHaveLength(0);
  });
});
