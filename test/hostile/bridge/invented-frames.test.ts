// bridge: Stacks that name files of the host, and directives in code that name source maps elsewhere.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it("no file is read, and frames are the author's own or none", async () => {
  const ran = await world.unharmed(() =>
    world.attack(`
const error = new Error('invented');
error.stack = ['invented', '    at a (/etc/passwd:1:1)', '    at b (hw:component:999999:1)', '    at c (hw:component:1:99999999)',
  '    at d (file:///etc/passwd:1:1)', '    at e (node:internal/process:1:1)', '    at f (hw:guest:1:1)'].join('\\n');
try { new Function('throw 1 //# sourceMappingURL=file:///etc/passwd')(); } catch {}
throw error;
//# sourceMappingURL=file:///etc/passwd`),
  );
  expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR', message: 'invented' });
  expect(ran.error?.stack ?? '').not.toMatch(/passwd|node:|hw:/);
});
