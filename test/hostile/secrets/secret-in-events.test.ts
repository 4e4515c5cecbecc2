// secrets: Events that hold a secret in data, keys, nested JSON, id, summary and channel.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const props = {
  token: 'pat-naLt-"7"-0123',
  keys: ['first-key-of-two', 'second-key-of-two'],
  // A number, in another notation.
  wallet: `0x${'1f'.repeat(20)}`,
  pin: '4815162342',
};

it('what is stored and delivered has the names of the props in their place', async () => {
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
