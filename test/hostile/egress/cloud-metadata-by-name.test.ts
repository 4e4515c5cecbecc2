// egress: Names of metadata services, as the resolver of a cloud's machine knows them.
import { expect, it } from 'vitest';
import { guarded, NOT_PUBLIC } from '../../support/hostile-egress.ts';

const NAMES: Record<string, string> = {
  'metadata.google.internal': '169.254.169.254',
  metadata: '169.254.169.254',
  'instance-data.ec2.internal': 'fd00:ec2::254',
  'metadata.azure.internal': '168.63.129.16',
  'metadata.test': '::ffff:169.254.169.254',
};
const guard = guarded({ closed: true, resolve: (name) => [NAMES[name] ?? '8.8.8.8'] });

it.each(Object.keys(NAMES))('%s is refused, in the words of a name that does not exist', async (name) => {
  const headers: [string, string][] = [['metadata-flavor', 'Google']];
  const outcome = await guard.unharmed(() => guard.fetch(`http://${name}/computeMetadata/v1/`, { headers }));
  expect(outcome).toMatchObject({ ok: false, message: expect.stringMatching(NOT_PUBLIC) });
  expect(JSON.stringify(outcome)).not.toMatch(/169\.254|ec2::254|168\.63/);
  expect(guard.connected()).toEqual([]);
});
