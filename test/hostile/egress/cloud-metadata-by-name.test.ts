// egress: Names of metadata services, as the resolver of a cloud's machine knows them.
import { beforeAll, expect, it } from 'vitest';
import { answerName, questionsFor } from '../../support/hostile-dns.ts';
import { fetchEach, NOT_PUBLIC, refusedRun } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const NAMES: Record<string, string> = {
  'metadata.google.internal': '169.254.169.254',
  'instance-data.ec2.internal': 'fd00:ec2::254',
  'metadata.azure.internal': '168.63.129.16',
  'metadata.test': '::ffff:169.254.169.254',
};
/** Without a dot it is the machine's own affair whether it leads anywhere. */
const SHORT = 'metadata';

beforeAll(async () => {
  for (const [name, address] of Object.entries(NAMES)) await answerName(name, { addresses: [address] });
});

it('are refused, in the words of a name that does not exist', async () => {
  const init = { headers: { 'metadata-flavor': 'Google' } };
  const requests = [...Object.keys(NAMES), SHORT].map((name): [string, object] => [
    `http://${name}/computeMetadata/v1/`,
    init,
  ]);
  const ran = await world.unharmed(() => fetchEach(world, requests));
  expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
  expect(ran.reached).toEqual([]);
  for (const message of ran.messages) {
    expect(message).toMatch(/^fetch failed: No public address was found/);
    expect(message).not.toMatch(/169\.254|ec2::254|168\.63/);
  }
  for (const name of Object.keys(NAMES)) expect((await questionsFor(name)).A).toBeGreaterThan(0);
});
