import { expect, test } from 'vitest';
import { recordingHost } from '../support/run-host.ts';
import { sandboxForFile, withRun } from '../support/sandbox-kit.ts';
import { action } from '../support/executions.ts';
import { runStep } from '../support/step-kit.ts';

const sandbox = sandboxForFile();

/** Ways to call something after the step has returned. */
const LATE: Record<string, (call: string) => string> = {
  'in a timer': (call) => `setTimeout(() => { ${call} }, 10); return 1;`,
  'in a microtask': (call) => `(async () => { for (let i = 0; i < 20; i++) await null; ${call} })(); return 1;`,
  'behind a digest': (call) => `crypto.subtle.digest('SHA-256', new Uint8Array(4)).then(() => { ${call} }); return 1;`,
};

for (const [when, body] of Object.entries(LATE)) {
  test.each(['exit', 'delay', 'suspend', 'rerun'])(`$.flow.%s ${when} is told, and does nothing`, async (kind) => {
    const call = `$.flow.${kind}(${kind === 'exit' ? `'why'` : 5});`;
    const { outcome, record, host } = await runStep(sandbox.run, action(body(call)));
    expect([outcome.ok, record.flows]).toEqual([true, []]);
    expect(host.logs.map(({ level, message }) => [level, message])).toEqual([
      ['error', `$.flow.${kind} was called after the step had returned and does nothing: await what calls it`],
    ]);
  });

  test(`all else that a step calls ${when} counts`, async () => {
    const calls = `$.export('late', 1); $.send.http({ url: 'http://a.example' }); $.send.email({ subject: 's', text: 't' });
      $.send.s3({ bucket: 'b', payload: 1 }); $.send.emit({ e: 1 }); $.send.sse({ channel: 'c', payload: 1 });
      $.respond({ status: 201 }); console.log('late');`;
    const { outcome, record, host } = await runStep(sandbox.run, action(body(calls)));
    expect(outcome.ok).toBe(true);
    expect(record.exports).toEqual([['late', 1]]);
    expect(record.sends.map(({ kind }) => kind)).toEqual(['http', 'email', 's3', 'emit', 'sse']);
    expect(record.responses.map(({ response }) => response.status)).toEqual([201]);
    expect(host.messages()).toEqual(['late']);
  });

  test(`so does what a source calls ${when}`, async () => {
    const host = recordingHost();
    const calls = `this.$emit('late'); this.db.set('k', 1); this.http.respond({ status: 202 }); console.log('late');`;
    const code = withRun(body(calls)).replace(
      `async run`,
      `props: { db: '$.service.db', http: { type: '$.interface.http', customResponse: true } }, async run`,
    );
    const { outcome } = await sandbox.run(code, {
      host,
      props: { db: { kind: 'db' }, http: { kind: 'http', endpoint: 'http://hw.test/e/1' } },
    });
    expect(outcome).toMatchObject({ ok: true });
    expect([host.data(), host.messages()]).toEqual([['late'], ['late']]);
    expect([host.responses.map(({ status }) => status), host.writes]).toEqual([[202], [['k', '1']]]);
  });
}

test('a call in time is not told', async () => {
  const { record, host } = await runStep(sandbox.run, action(`await null; $.flow.delay(5);`));
  expect([record.flows, host.messages()]).toEqual([[{ kind: 'delay', ms: 5 }], []]);
});
