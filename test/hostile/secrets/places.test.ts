import { describe, expect, it } from 'vitest';
import { sendEach } from '../../support/hostile-sends.ts';
import { hostile } from '../../support/hostile.ts';
import { startReceiver } from '../../support/receiver.ts';
import { secretsIn } from '../../support/whole-output.ts';

// secrets: A request that makes a source fail over its own secret, to read it in the answer that a
// stranger gets.
describe('error-shown-to-a-stranger', () => {
  const world = hostile();

  const token = 'key-of-the-upstream-api';

  it('the stranger is told that it failed, and its owner why, without the secret', async () => {
    const source = await world.attacker.deploy(
      `export default { name: 'Proxy', version: '1',
      props: { http: { type: '$.interface.http', customResponse: true }, token: { type: 'string', secret: true } },
      run(event) { throw new Error('Upstream refused Bearer ' + this.token + ' for ' + event.query.q); } };`,
      { token },
    );
    const answer = await world.unharmed(() =>
      fetch(`${source.endpoint}?q=${encodeURIComponent(`%s ${'x'.repeat(2_000)}`)}`),
    );
    const text = await answer.text();
    expect(answer.status).toBe(400);
    expect(text).not.toContain('Upstream');
    expect(text).not.toContain(token);
    const runs = await world.attacker.api('GET', `/sources/${source.id}/runs`);
    expect(runs.text).toContain('Upstream refused Bearer [secret:token] for %s');
    expect(runs.text).not.toContain(token);
  });
});

// secrets: A secret of a source, and one just typed in, shown by the choices, the props and the
// errors of a form.
describe('secret-in-choices', () => {
  const world = hostile();

  const SECRET = 'a-token-of-many-characters';
  const FORM = `export default { name: 'Form', version: '1',
  props: { token: { type: 'string', secret: true },
    shown: { type: 'string', optional: true, async options() { return [this.token, { label: 'x' + this.token, value: { deep: [btoa(this.token)] } }]; } },
    thrown: { type: 'string', optional: true, async options() { console.log(this.token); throw new Error(encodeURIComponent(this.token)); } } },
  additionalProps() { return { more: { type: 'string', label: this.token, default: this.token, optional: true } }; },
  run() {} };`;

  it('is named, not shown', async () => {
    const { attacker } = world;
    const { id } = (await attacker.api('POST', '/components', { component_code: FORM })).body.data as { id: string };
    const source = await attacker.deploy(FORM, { token: SECRET });
    await world.unharmed(async () => {
      for (const form of [{ source_id: source.id }, { configured_props: { token: SECRET } }]) {
        const answers = [
          await attacker.api('POST', `/components/${id}/configure`, { ...form, prop_name: 'shown' }),
          await attacker.api('POST', `/components/${id}/configure`, { ...form, prop_name: 'thrown' }),
          await attacker.api('POST', `/components/${id}/props`, form),
        ];
        expect(answers.map(({ status }) => status)).toEqual([200, 422, 200]);
        for (const { text } of answers) {
          expect(text).not.toContain(SECRET);
          expect(text).not.toContain(btoa(SECRET));
          expect(text).toContain('[secret:token]');
        }
      }
    });
  });
});

// secrets: Errors that carry a secret in the message, in the name, in causes, in the names of
// functions of the stack.
describe('secret-in-errors', () => {
  const world = hostile();

  const token = 'sk_live_51HabcDEF';
  const component = (body: string) => `export default { name: 'Throws', version: '1',
  props: { token: { type: 'string', secret: true } }, async run() { const { token } = this; ${body} } };`;

  const THROWS = [
    `throw new Error('with ' + token);`,
    `throw token;`,
    `throw { message: token, stack: token };`,
    `throw Object.assign(new TypeError('x'), { name: token });`,
    `throw new AggregateError([new Error(token)], token, { cause: token });`,
    `const o = { [token]() { throw new Error('named'); } }; o[token]();`,
    `const error = new Error('x'); error.stack = '    at ' + token + ' (hw:component:1:1)'; throw error;`,
    `await fetch('http://127.0.0.1:1/?token=' + token);`,
  ];

  it('neither the record of the run nor the event on $errors holds it', async () => {
    await world.unharmed(async () => {
      for (const body of THROWS) {
        const ran = await world.attack(component(body), { props: { token } });
        expect([body, ran.error?.code]).toEqual([body, 'COMPONENT_ERROR']);
        expect(JSON.stringify([ran.error, ran.logs])).not.toContain(token);
        const events = await world.sql`select data from events where emitter_id = ${ran.sourceId}`;
        expect(events).toHaveLength(1);
        expect(events[0]?.['data']).not.toContain(token);
      }
    });
  });
});

// secrets: Events that hold a secret in data, keys, nested JSON, id, summary and channel.
describe('secret-in-events', () => {
  const world = hostile();

  const props = {
    token: 'pat-naLt-"7"-0123',
    keys: ['first-key-of-two', 'second-key-of-two'],
    // A number, in another notation.
    wallet: `0x${'1f'.repeat(20)}`,
    pin: '4815162342',
  };

  it('stored and delivered values have the names of the props in their place', async () => {
    const ran = await world.unharmed(() =>
      world.attack(
        `export default { name: 'Emits', version: '1', dedupe: 'unique',
        props: { token: { type: 'string', secret: true }, keys: { type: 'string[]', secret: true },
          wallet: { type: 'string', secret: true }, pin: { type: 'string', secret: true } },
        run() {
          const { token, keys } = this;
          this.$emit({ token, [token]: [keys], text: JSON.stringify({ token }), n: 1 }, { id: token, summary: 'of ' + token });
          for (const key of keys) this.$emit({ key }, { id: 'for ' + key, name: key });
          this.$emit({}, { id: this.wallet });
          this.$emit({}, { id: this.pin });
          // A number that only holds it is compared with others.
          this.$emit({}, { id: '1' + this.pin });
        } };`,
        { props },
      ),
    );
    expect(ran.error).toBeUndefined();
    const rows = await world.sql`select channel, emit_id, summary, data from events where emitter_id = ${ran.sourceId}
    order by indexed_at_ms, seq`;
    const data = { token: '[secret:token]', '[secret:token]': [['[secret:keys.0]', '[secret:keys.1]']] };
    expect(JSON.parse(rows[0]?.['data'])).toEqual({ ...data, text: '{"token":"[secret:token]"}', n: 1 });
    expect(rows[0]).toMatchObject({ emit_id: '[secret:token]', summary: 'of [secret:token]' });
    // Ids that differ in a secret still differ: neither event was taken for the other.
    expect(rows.map((row) => row['emit_id'])).toEqual([
      '[secret:token]',
      'for [secret:keys.0]',
      'for [secret:keys.1]',
      '[secret:wallet]',
      '[secret:pin]',
      `1${props.pin}`,
    ]);
    const [state] = await world.sql`select dedupe::text from emitter_state where emitter_id = ${ran.sourceId}`;
    for (const secret of [props.token, ...props.keys, props.wallet])
      expect(JSON.stringify([rows, state])).not.toContain(secret);
  });
});

// secrets: Code that logs its secret prop: as it is, in objects, in URLs, as base64 and hex, in
// the log of an error.
describe('secret-in-logs', () => {
  const world = hostile();

  const token = 'ghp_"quo\'ted" s/cr+t\\';

  it('the log names the prop instead', async () => {
    const ran = await world.unharmed(() =>
      world.attack(
        `export default { name: 'Logs', version: '1', props: { token: { type: 'string', secret: true } }, run() {
        const { token } = this;
        console.log(token); console.warn('%s', token, { token }, [token]); console.error(new Error(token));
        console.log(JSON.stringify({ a: JSON.stringify({ token }) }), encodeURIComponent(token));
        console.log(new URLSearchParams({ token }).toString(), new URL('https://x.example/?t=' + token).href);
        for (const encoding of ['base64', 'base64url', 'hex']) console.log(Buffer.from(token).toString(encoding));
        for (const before of ['u:', 'us:', 'use:']) console.log('Basic ' + btoa(before + token));
        console.log(Buffer.from(token), JSON.stringify(Buffer.from(token)));
        throw new Error('the end of ' + token);
      } };`,
        { props: { token } },
      ),
    );
    expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR', message: 'the end of [secret:token]' });
    expect(ran.logs).toHaveLength(12);
    for (const line of ran.logs) {
      expect([line, secretsIn(line, { token })]).toEqual([line, []]);
      expect(line).toContain('[secret:token]');
    }
  });
});

// secrets: A secret sent with `$.send.http` to a server that repeats it in its answer: shown with
// the send, or left in a table.
describe('secret-in-sends', () => {
  const world = hostile();

  const token = 'sk_"quo\'ted"_0123456789';

  it('arrives as it is, and is readable nowhere else', async () => {
    const receiver = await startReceiver();
    receiver.answer = ({ headers, body }) => ({ status: 400, body: `${String(headers['x-token'])} ${body}` });
    try {
      const call: ['http', object] = [
        'http',
        { url: receiver.url, headers: { 'x-token': 'TOKEN' }, data: { list: ['TOKEN'] } },
      ];
      const sends = await world.unharmed(() => sendEach(world, [call], { token }));
      expect(receiver.requests[0]).toMatchObject({
        headers: { 'x-token': token },
        body: JSON.stringify({ list: [token] }),
      });
      expect(sends).toMatchObject([{ status: 'failed', attempts: [{ status_code: 400, response: null }] }]);
      const rows =
        await world.sql`select to_json(s)::text as text from sends s where account_id = ${world.attacker.id}`;
      const steps = await world.sql`
      select to_json(s)::text as text from execution_steps s where account_id = ${world.attacker.id}`;
      const texts = [
        JSON.stringify(sends),
        ...rows.map(({ text }) => String(text)),
        ...steps.map(({ text }) => String(text)),
      ];
      for (const text of texts) expect([text, secretsIn(text, { token })]).toEqual([text, []]);
    } finally {
      await receiver.stop();
    }
  });
});

// secrets: An update with code that no longer calls a stored prop secret, to read it back from the
// API.
describe('secret-declared-public', () => {
  const world = hostile();

  const token = 'was-secret-when-it-was-set';
  const code = (secret: boolean) => `export default { name: 'Public', version: '1',
  props: { token: { type: 'string', secret: ${secret} }, plain: { type: 'string', default: 'p' } },
  run() { console.log(this.token); } };`;

  it('stays sealed, unseen and redacted until it is set anew', async () => {
    const { attacker, sql } = world;
    await world.unharmed(async () => {
      const source = await attacker.deploy(code(true), { token });
      const changed = await attacker.api('PUT', `/sources/${source.id}`, { component_code: code(false) });
      expect([changed.status, changed.body.data.configured_props]).toEqual([200, { plain: 'p' }]);
      expect((await world.run(source.id)).logs).toEqual(['[secret:token]']);
      const rows = await sql`select configured_props::text as props from sources where id = ${source.id}`;
      expect(rows[0]?.['props']).not.toContain(token);
      const anew = await attacker.api('PUT', `/sources/${source.id}`, { configured_props: { token: 'public-now' } });
      expect(anew.body.data.configured_props).toEqual({ token: 'public-now', plain: 'p' });
    });
  });
});
