// tenancy: Following the neighbour's events and log lines, and reading its traces, by every id that they have.
import { expect, it } from 'vitest';
import { openEventSource } from '../../support/event-source.ts';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const LOUD = `export default { name: 'Loud', version: '1', props: { http: '$.interface.http' },
  run({ body }) { console.log('whispered'); this.$emit({ told: body }, { name: 'private' }); } };`;

it('nothing of it is shown or sent', async () => {
  const { attacker, neighbour, server } = world;
  const [theirs, own] = [await neighbour.deploy(LOUD), await attacker.deploy(LOUD)];
  const follow = (path: string, lastEventId?: string) =>
    openEventSource(`${server.url}/v1${path}`, attacker.key, lastEventId);
  await fetch(theirs.endpoint, { method: 'POST', body: 'private' });
  const stored = async () => (await neighbour.api('GET', `/sources/${theirs.id}/events?limit=100`)).body.data;
  const [event] = await eventually(async () => (await stored()).length === 1 && (await stored()));
  const newest = async () => (await stored())[0].id as string;
  await world.unharmed(async () => {
    const before = await newest();
    for (const path of [`/sources/${theirs.id}/sse`, `/sources/${theirs.id}/logs`, `/workflows/${theirs.id}/sse`]) {
      expect([path, (await follow(path)).status]).toEqual([path, 404]);
    }
    for (const id of [event.metadata.trace_id, event.metadata.emit_id, theirs.id]) {
      expect([id, (await attacker.api('GET', `/traces/${id}`)).status]).toEqual([id, 404]);
    }
    // The neighbour's position, as one of the attacker's own stream.
    const streams = [
      await follow(`/sources/${own.id}/sse`, '0-0'),
      await follow(`/sources/${own.id}/sse?channel=private`, event.id),
      await follow(`/sources/${own.id}/logs`, '0-0-0'),
    ];
    await fetch(theirs.endpoint, { method: 'POST', body: 'private' });
    await eventually(async () => (await newest()) !== before);
    await fetch(own.endpoint, { method: 'POST', body: 'own' });
    await eventually(() => streams.every(({ messages }) => messages.length > 0));
    for (const { messages, close } of streams) {
      expect(new Set(messages.map(({ data }) => data.metadata.emitter_id))).toEqual(new Set([own.id]));
      close();
    }
  });
});
