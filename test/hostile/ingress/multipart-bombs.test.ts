// ingress: Multipart bodies of a hundred thousand parts, or header lines in one, without a boundary, with huge part headers, or a huge boundary, never ended.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { withinMemory } from '../../support/hostile-ingress.ts';

const world = hostile();
const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run({ body }) { this.$emit({ kind: typeof body, chars: body.length }); } };`;
const TYPE = 'multipart/form-data; boundary=x';
const BODIES: [string, string][] = [
  [TYPE, '--x\r\n'.repeat(100_000) + '--x--'],
  [TYPE, '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n'.repeat(9_000) + '--x--'],
  ['multipart/form-data', '--x\r\n\r\n--x--'],
  ['multipart/form-data; boundary=', '--\r\n\r\n----'],
  [`multipart/form-data; boundary=${'b'.repeat(20_000)}`, 'x'],
  [TYPE, `--x\r\n${'y'.repeat(400_000)}: z\r\n\r\n\r\n--x--`],
  [TYPE, `--x\r\ncontent-disposition: form-data; name="${'n'.repeat(400_000)}"\r\n\r\n1\r\n--x--`],
  [TYPE, '--x\r\ncontent-disposition: form-data; name="a"; filename="../../etc/passwd\0"\r\n\r\nendless'],
  [TYPE, `--x\r\n${'a:\r\n'.repeat(120_000)}content-disposition: form-data; name="a"\r\n\r\n1\r\n--x--`],
  [TYPE, `--x\r\ncontent-disposition: form-data; name="a"${';a=b'.repeat(120_000)}\r\n\r\n1\r\n--x--`],
  ['multipart/form-data; boundary="\\"', '--\\\r\n\r\n'],
  [`multipart/form-data; boundary=b${'-'.repeat(24_000)}`, '-'.repeat(500_000)],
];

it('arrive as text where they are no form, and each costs one run', async () => {
  const { attacker, server } = world;
  const { id, endpoint } = await attacker.deploy(BIN);
  await world.unharmed(() =>
    withinMemory(server, async () => {
      for (const [type, body] of BODIES) {
        const answer = await fetch(endpoint, { method: 'POST', headers: { 'content-type': type }, body });
        expect([type.slice(0, 40), answer.status]).toEqual([type.slice(0, 40), 200]);
      }
      await world.untilIdle();
    }),
  );
  const { body } = await attacker.api('GET', `/sources/${id}/event_summaries?limit=100&expand=event`);
  const arrived = body.data.map(({ event }: { event: { kind: string; chars: number } }) => event).toReversed();
  expect(arrived).toEqual(BODIES.map(([, text]) => ({ kind: 'string', chars: text.length })));
});
