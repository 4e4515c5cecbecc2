import { expect, it } from 'vitest';
import { judgeOutline } from '../../sandbox-runtime/src/pool/judge-outline.ts';

/* An outline is what the guest has written: anything may be where a text should be. */

it.each([
  { error: { message: { toString: 1 } } },
  { exported: 'object', name: 'x', version: '1', run: { toString: 1 } },
  { exported: 'object', name: { toString: 1 }, version: ['1'], type: { valueOf: 1 }, run: 'function' },
])('an outline with a malformed member is refused: %j', (outline) => {
  expect(judgeOutline(JSON.stringify(outline))).toMatchObject({ ok: false });
});
