import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FileServer, startFileServer } from '../../support/file-server.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';

/* A component's file may be named like a member of Object.prototype. */

let hw: Headwater;
let files: FileServer;

beforeAll(async () => {
  [hw, files] = await Promise.all([sharedHeadwater(), startFileServer()]);
});
afterAll(async () => {
  await hw.stop();
  await files.stop();
});

const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];

test.each(NAMES)('a component that is a file of the name %s alone is saved', async (name) => {
  files.serve(`/${name}`, `export default { name: '${name}', version: '1', type: 'action', run() {} };`);
  const { status, data, text } = await hw.api('POST', '/components', { component_url: `${files.url}/${name}` });
  expect({ status, text }).toMatchObject({ status: 200 });
  expect(data).toMatchObject({ name });
});

test('one that imports files of such names runs with them', async () => {
  const imports = NAMES.map((name, i) => `import value${i} from './${name}';`).join(' ');
  for (const name of NAMES) files.serve(`/${name}`, `export default 'from ${name}';`);
  const values = NAMES.map((_, i) => `value${i}`).join(', ');
  files.serve(
    '/main.mjs',
    `${imports} export default { name: 'Names', version: '1', props: { http: '$.interface.http' }, run() { this.$emit([${values}]); } };`,
  );
  const { status, data, text } = await hw.api('POST', '/sources', { component_url: `${files.url}/main.mjs` });
  expect({ status, text }).toMatchObject({ status: 200 });
  await fetch(data.configured_props.http.endpoint_url, { method: 'POST' });
  const [stored] = await hw.untilEvents(data.id, 1);
  expect(stored?.event).toEqual(NAMES.map((name) => `from ${name}`));
});

test('a missing one is told of by its name', async () => {
  files.serve('/lacking/main.mjs', "import './__proto__'; export default {};");
  const { status, text } = await hw.api('POST', '/components', { component_url: `${files.url}/lacking/main.mjs` });
  expect(status).toBe(400);
  expect(text).toContain('Cannot resolve \\"./__proto__\\", imported by lacking/main.mjs: there is no such file');
});
