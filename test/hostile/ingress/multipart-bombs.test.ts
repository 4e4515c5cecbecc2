// ingress: Multipart bodies of a hundred thousand parts, or header lines in one, without a boundary, with huge part headers, never ended.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { withinMemory } from '../../support/hostile-ingress.ts';

const world = hostile();
const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`;
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
];

it('arrive as text where they are no form, and each costs one run', async () => {
  const { attacker, server } = world;
  const { endpoint } = await attacker.deploy(BIN);
  await world.unharmed(() =>
    withinMemory(server, async () => {
      for (const [type, body] of BODIES) {
        const answer = await fetch(endpoint, { method: 'POST', headers: { 'content-type': type }, body });
        expect([type.slice(0, 40), answer.status]).toEqual([type.slice(0, 40), 200]);
      }
      await world.untilIdle();
    }),
  );
});
