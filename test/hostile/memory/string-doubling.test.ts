// isolate: A text that doubles, and is made flat each time.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of memory', async () => {
  const ran = await attackMemory(
    world,
    `let text = 'x';
for (;;) {
  text += text;
  text.charCodeAt(1);
  if (text.length > 2 ** 27) globalThis.kept = [...(globalThis.kept ?? []), text.slice(1) + 'y'], (text = 'x');
}`,
  );
  expect(ran.error).toMatchObject(MEMORY_LIMIT);
});
