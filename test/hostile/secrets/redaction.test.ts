import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';

// limits: A list of thousands of secrets under a prop whose name has hundreds of thousands of
// characters, which each would take along.
describe('long-name-of-a-secret-list', () => {
  const world = hostile();
  const SECRETS = 6_000;

  it('the component is refused', async () => {
    const { attacker } = world;
    const code = (chars: number) => `export default { name: 'Long', version: '1', props: {
    ['a'.repeat(${chars})]: { type: 'string[]', secret: true }, x: { type: 'string', options() { return ['y']; } } }, run() {} };`;
    await world.unharmed(async () => {
      const { status, text } = await attacker.api('POST', '/components', { component_code: code(900_000) });
      expect([status, text.length < 10_000]).toEqual([400, true]);
      expect(text).toContain('is a name of more than 256 characters');
      const made = await attacker.api('POST', '/components', { component_code: code(256) });
      expect(made.status).toBe(200);
      const secrets = Array.from({ length: SECRETS }, (_, n) => `s${10_000 + n}`);
      const asked = await attacker.api('POST', `/components/${made.body.data.id}/configure`, {
        prop_name: 'x',
        configured_props: { ['a'.repeat(256)]: secrets },
      });
      expect(asked.status).toBe(200);
    });
  });
});

// secrets: A secret of six characters in a prop with a long name, repeated: each mark is many
// times what it replaces.
describe('redaction-as-a-memory-bomb', () => {
  const world = hostile();

  const name = `a${'_long'.repeat(48)}_name`;

  it('a text that would grow beyond bounds is withheld', async () => {
    const ran = await world.unharmed(() =>
      world.attack(
        `export default { name: 'Bomb', version: '1', props: { ${name}: { type: 'string', secret: true } }, run() {
        const text = (this.${name} + '.').repeat(140_000);
        for (let i = 0; i < 4; i++) this.$emit({ text });
        this.$emit({ once: this.${name} });
      } };`,
        { props: { [name]: 'zzzzzz' } },
      ),
    );
    expect(ran.error).toBeUndefined();
    expect(ran.events.slice(0, 4)).toEqual(Array(4).fill(expect.stringMatching(/^\[secrets: .* withheld/)));
    expect(ran.events[4].once).toMatch(/^\[secret:a_long_long.{40,60}…\]$/);
    const [row] =
      await world.sql`select sum(length(data))::int as chars from events where emitter_id = ${ran.sourceId}`;
    expect(row?.['chars']).toBeLessThan(1_000);
  });
});

// secrets: Thousands of secrets that begin alike, and megabytes of text that nearly matches all of
// them everywhere.
describe('redaction-made-slow', () => {
  const world = hostile();

  const keys = Array.from({ length: 3_000 }, (_, i) => `sk_live_${i + 100_000}`);

  it('the search takes bounded time, and text that it gives up on is withheld', async () => {
    const ran = await world.unharmed(() =>
      world.attack(
        `export default { name: 'Alike', version: '1', props: { keys: { type: 'string[]', secret: true } }, run() {
        const text = 'sk_live_'.repeat(120_000);
        this.$emit({ text, key: this.keys[7] });
        this.$emit(Array.from({ length: 9_000 }, (_, i) => text.slice(0, 100)));
        for (let i = 0; i < 50; i++) console.log(text);
      } };`,
        { props: { keys } },
      ),
    );
    expect(ran.error).toBeUndefined();
    const withheld = expect.stringMatching(/^\[secrets: .* withheld/);
    expect(ran.events).toEqual([withheld, withheld]);
    expect(ran.logs).toHaveLength(50);
    expect(JSON.stringify(ran.logs)).not.toContain(keys[7]);
  });
});

// secrets: Texts so long that a limit cuts them in the middle of the secret, where its whole is no
// longer to be found.
describe('secret-cut-by-a-limit', () => {
  const world = hostile();

  const token = 'abcdefghijklmnopqrstuvwxyz';
  /** Five characters and fewer are in too much that is no secret. */
  const PART = token.slice(0, 6);

  it('the remaining part of a cut secret is found too', async () => {
    await world.limit({ maxLogLineBytes: 256 });
    const ran = await world.unharmed(() =>
      world.attack(
        `export default { name: 'Cuts', version: '1', props: { token: { type: 'string', secret: true } }, run() {
        for (let length = 200; length < 260; length++) console.log('x'.repeat(length) + this.token);
        for (let length = 970; length < 1000; length++) this.$emit({}, { summary: 'x'.repeat(length) + this.token });
        throw new Error('x'.repeat(4080) + this.token);
      } };`,
        { props: { token } },
      ),
    );
    const rows = await world.sql`select summary, data from events where emitter_id = ${ran.sourceId}`;
    expect([rows.length, ran.logs.length]).toEqual([31, 60]);
    expect(ran.error?.message).toMatch(/x\[secret:token\]…$/);
    for (const text of [JSON.stringify(rows), JSON.stringify(ran.error), ...ran.logs]) expect(text).not.toContain(PART);
  });
});

// secrets: A step that returns megabytes of one letter, which fit the end of a secret's beginning
// at every place.
describe('secret-made-of-one-letter', () => {
  const world = hostile();

  it('is looked through without holding up the neighbour, and answered as it is', async () => {
    const { attacker } = world;
    await attacker.api('PUT', '/environment_variables/LETTERS', { value: 'xyzwaa-secret-0' });
    const action = `export default { name: 'Letters', version: '1', type: 'action', props: { key: { type: 'string' } },
    async run() { return 'a'.repeat(6_000_000) + this.key.slice(0, 0); } };`;
    const steps = [{ namespace: 'letters', component_code: action, props: { key: '{{env.LETTERS}}' } }];
    const { id } = (await attacker.api('POST', '/workflows', { name: 'Letters', steps })).body.data as { id: string };
    await world.unharmed(async () => {
      const ran = (await attacker.api('POST', `/workflows/${id}/run`, {})).body.data as { execution_id: string };
      const path = `/executions/${ran.execution_id}?expand=exports`;
      const shown = await eventually(async () => {
        const { body } = await attacker.api('GET', path);
        return body.data?.status === 'succeeded' && body.data;
      });
      expect(shown.steps.letters.$return_value === 'a'.repeat(6_000_000)).toBe(true);
    });
  });
});

// secrets: Secrets that look like pieces of JSON or of escapes, so that taking them out would
// break or forge events.
describe('secret-that-is-syntax', () => {
  const world = hostile();

  const values = ['","admin":true,"', '123456', 'true,false', 'nabcdef', '0041bc', '\\"\\"\\"', '{"data":['];

  it('every event is the JSON that it was, but for strings that held one', async () => {
    const ran = await world.unharmed(() =>
      world.attack(
        `export default { name: 'Syntax', version: '1', props: { values: { type: 'string[]', secret: true } }, run() {
        this.$emit({ a: 'x', admin: true, b: 'y', n: 1234567, list: [true, false], escaped: '\\nabcdef', ctrl: '\\u0000041bc' });
        this.$emit({ data: [], quotes: '""""""', found: this.values });
      } };`,
        { props: { values } },
      ),
    );
    expect(ran.error).toBeUndefined();
    expect(ran.events).toEqual([
      { a: 'x', admin: true, b: 'y', n: 1_234_567, list: [true, false], escaped: '\nabcdef', ctrl: '\u0000041bc' },
      { data: [], quotes: '""""""', found: values.map((_, i) => `[secret:values.${i}]`) },
    ]);
  });
});

// limits: Secret props of megabytes, each run of which would have to be searched for all of them.
describe('too-many-secrets', () => {
  const world = hostile();

  const names = Array.from({ length: 40 }, (_, i) => `secret${i}`);

  it('they are refused when they are set, with what is allowed', async () => {
    const ran = await world.unharmed(() =>
      world.attack(
        `export default { name: 'Many', version: '1', run() {},
        props: { ${names.map((name) => `${name}: { type: 'string', secret: true }`).join(', ')} } };`,
        { props: Object.fromEntries(names.map((name) => [name, name.repeat(6_000)])) },
      ),
    );
    expect(ran.refused).toMatchObject({
      status: 400,
      code: 'invalid-props',
      limit: { name: 'maxSecretPropsBytes', value: 65_536, used: expect.any(Number) },
    });
    expect(ran.refused?.detail).toMatch(
      /^configured_props: Secret props have \d{7} bytes together; at most 65536 are allowed$/,
    );
  });
});

// secrets: A secret as bytes, as JSON.parse quotes ten characters of it, in a host's name, and in
// a URL within a URL.
describe('secret-in-pieces', () => {
  const world = hostile();

  const token = 'Sk-Live-51HabcDEFghi';
  /** In each of them it could be read. */
  const PIECES = [token.slice(0, 8), token.toLowerCase().slice(0, 8), [...Buffer.from(token.slice(0, 6))].join()];
  const component = (body: string) => `export default { name: 'Shows', version: '1',
  props: { token: { type: 'string', secret: true } }, async run() { const { token } = this; ${body} } };`;

  const BODIES = [
    'console.log(Buffer.from(token), [Buffer.from(token)], { deep: [new TextEncoder().encode(token)] });',
    'this.$emit({ key: Buffer.from(token), list: [1, ...Buffer.from(token), 2] });',
    'JSON.parse(token);',
    `JSON.parse('{"key":"' + token + '","more":' + token + '}');`,
    `await fetch('http://' + token + '.invalid/');`,
    `throw new Error('https://a.example/?to=' + encodeURIComponent('https://b.example/?token=' + token));`,
  ];

  /** Those that it has. */
  function piecesIn(shown: string): string[] {
    const dense = shown.replaceAll(/\\n|\s/g, '');
    return PIECES.filter((piece) => dense.includes(piece));
  }

  it('is in no log line, no error and no event', async () => {
    await world.unharmed(async () => {
      for (const body of BODIES) {
        const ran = await world.attack(component(body), { props: { token } });
        const events = await world.sql`select data from events where emitter_id = ${ran.sourceId}`;
        expect([body, piecesIn(JSON.stringify([ran.error, ran.logs, events]))]).toEqual([body, []]);
      }
    });
  });

  it('is in nothing that a step logs, returns or fails with', async () => {
    const { attacker } = world;
    await attacker.api('PUT', '/environment_variables/PIECES', { value: token });
    const action = `export default { name: 'Shows', version: '1', type: 'action', props: { token: { type: 'string' } },
    async run({ $ }) { const bytes = Buffer.from(this.token); console.log(bytes); $.export('key', bytes);
      try { JSON.parse(this.token); } catch (error) { console.log(error.message); } return { bytes }; } };`;
    const steps = [{ namespace: 'shows', component_code: action, props: { token: '{{env.PIECES}}' } }];
    const { id } = (await attacker.api('POST', '/workflows', { name: 'Shows', steps })).body.data as { id: string };
    await world.unharmed(async () => {
      const ran = (await attacker.api('POST', `/workflows/${id}/run`, {})).body.data as { execution_id: string };
      const shown = await eventually(async () => {
        const { body, text } = await attacker.api('GET', `/executions/${ran.execution_id}`);
        return body.data?.status === 'succeeded' && text;
      });
      expect(shown).toContain('[secret:env.PIECES]');
      expect(piecesIn(shown)).toEqual([]);
    });
  });
});
