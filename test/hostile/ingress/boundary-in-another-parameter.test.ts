// ingress: A form of ten thousand files under a content type whose boundary is not the one that a quick look finds.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run({ body }) { this.$emit({ kind: typeof body }); } };`;

const PART = (boundary: string) => `--${boundary}\r\ncontent-disposition:form-data;name="a";filename="b"\r\n\r\n\r\n`;
const form = (boundary: string) => PART(boundary).repeat(7_500) + `--${boundary}--`;
const FORMS: [type: string, body: string][] = [
  ['multipart/form-data; a="; boundary=y"; boundary=x', form('x')],
  ['multipart/form-data; boundary="x\\"y"', form('x"y')],
  ['multipart/form-data; boundary="x\\\\y"', form('x\\y')],
  ['multipart/form-data; boundary=x"y', form('x')],
  ['multipart/form-data; boundary = y; boundary=x', form('x')],
];

it('is counted by the boundary that it is read with, and arrives as text', async () => {
  const { attacker } = world;
  const { id, endpoint } = await attacker.deploy(BIN);
  await world.unharmed(async () => {
    for (const [type, body] of FORMS) {
      const answer = await fetch(endpoint, { method: 'POST', headers: { 'content-type': type }, body });
      expect([type, answer.status]).toEqual([type, 200]);
    }
    await world.untilIdle();
  });
  const { body } = await attacker.api('GET', `/sources/${id}/event_summaries?limit=100&expand=event`);
  const kinds = body.data.map(({ event }: { event: { kind: string } }) => event.kind);
  expect(new Set(kinds)).toEqual(new Set(['string']));
});
