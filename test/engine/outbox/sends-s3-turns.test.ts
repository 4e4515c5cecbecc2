import { LIMITS } from '@headwater/shared';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSendTransports } from '../../../engine/src/outbox/transports/send-transports.ts';
import type { SendTransportParts } from '../../../engine/src/outbox/transports/send-transport-parts.ts';
import { longestTurnMs, slowness } from '../../support/longest-turn.ts';
import { createSendWorld, type SendWorld } from '../../support/send-world.ts';

/** Sized so that all lines fit into one object. */
const LINE = JSON.stringify({
  bucket: 'lines',
  payload: 'x'.repeat(LIMITS.maxS3ObjectBytes / LIMITS.maxS3LinesPerObject / 2),
});
/**
 * A turn is 2, and sweeping up 12 MB of lines takes some; all lines in one piece take more than
 * 100.
 */
const MAX_TURN_MS = 25;

let world: SendWorld;

beforeEach(async () => {
  world = await createSendWorld();
});
afterEach(() => world.stop());

test('the sealed lines of a full upload are opened in turns with others', async () => {
  const { accountId } = await world.account();
  const { sealer, database } = world;
  const contents = Array.from({ length: LIMITS.maxS3LinesPerObject }, () => ({
    payload: LINE,
    sealed: sealer.seal(accountId, LINE),
  }));
  let opened = 0;
  const parts = {
    sql: database.db.sql,
    sealer: {
      open: (id: string, sealed: string) => {
        opened += 1;
        return sealer.open(id, sealed);
      },
    },
    limits: { get: () => undefined },
  } as unknown as SendTransportParts;
  const upload = {
    id: 'snd_a',
    accountId,
    kind: 's3',
    attemptCount: 0,
    bucket: 'lines',
    objectKey: 'a.gz',
    contents,
    sentBy: [],
  } as const;
  const longestMs = await longestTurnMs(async () => {
    // The account has no S3 server: once the lines are open, it has failed.
    const outcome = await createSendTransports(parts).attempt(upload, new AbortController().signal);
    expect(outcome).toMatchObject({ kind: 'final' });
    // The last piece is measured as well.
    await sleep(5);
  });
  expect(opened).toBe(contents.length);
  expect(longestMs / slowness()).toBeLessThan(MAX_TURN_MS);
});
