import { expect, test } from 'vitest';
import { idFloor, idTimeMs, newId } from '../../shared/src/index.ts';

test('an id tells when it was made, and lies between the floors of that millisecond and the next', () => {
  for (const ms of [0, 1, 61, 62, 1_763_640_000_123, 62 ** 8 - 2]) {
    const id = newId('execution', ms);
    expect(idTimeMs(id)).toBe(ms);
    expect(id >= idFloor('execution', ms)).toBe(true);
    expect(id < idFloor('execution', ms + 1)).toBe(true);
  }
  expect(idTimeMs('exec_1')).toBeUndefined();
});
