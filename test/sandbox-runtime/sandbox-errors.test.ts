import { expect, test } from 'vitest';
import { bundle, runIn, sandboxForFile } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();

async function faultOf(code: string): Promise<{ message: string; stack: string | undefined }> {
  const { outcome } = await runIn(sandbox.get(), await bundle(code));
  if (outcome.ok) throw new Error('The run was expected to fail');
  return { message: outcome.fault.message, stack: outcome.fault.stack };
}

test('an error has the frames of the author, and no others', async () => {
  const { message, stack } = await faultOf(`import { createHash } from 'crypto';
// a comment that the bundler drops

class Client {
  async load(id) {
    await null;
    throw new TypeError('no item ' + id);
  }
}
export default {
  name: 'x', version: '1',
  methods: { client() { return new Client() } },
  async run() { await this.client().load(createHash('md5').update('').digest('hex').length); },
};`);
  expect(message).toBe('TypeError: no item 32');
  expect(stack?.split('\n')).toEqual([
    'TypeError: no item 32',
    expect.stringMatching(/^ {4}at .*load \(component\.js:7:\d+\)$/),
    expect.stringMatching(/^ {4}at .*run \(component\.js:13:\d+\)$/),
  ]);
});

test('frames of TypeScript lead back to the lines as they were written', async () => {
  const { stack } = await faultOf(
    `interface Item {\n  id: number;\n}\n\nfunction check(item: Item): void {\n  if (item.id > 0) throw new Error('bad');\n}\nexport default { name: 'x', version: '1', run(): void { check({ id: 1 }) } };`,
  );
  expect(stack).toMatch(/at check \(component\.js:6:\d+\)\n.*component\.js:8:/);
});

test('the message of an error class of the author keeps its name', async () => {
  const { message } = await faultOf(
    `class ChannelError extends Error { name = 'ChannelError' }\nexport default { name: 'x', version: '1', run() { throw new ChannelError('The channel is gone') } }`,
  );
  expect(message).toBe('ChannelError: The channel is gone');
});

test('a module that throws while it is loaded fails the run with the place', async () => {
  const { message, stack } = await faultOf(`\n\nnull.x;\nexport default { name: 'x', version: '1', run() {} }`);
  expect(message).toContain('Cannot read properties of null');
  expect(stack).toMatch(/component\.js:3:/);
});

test('a component without run says so', async () => {
  expect((await faultOf(`export default { name: 'x' }`)).message).toBe('TypeError: The component has no run method');
  expect((await faultOf(`export const a = 1`)).message).toContain('no default export');
});

test.each(['*', 'async *'])('run that is a generator function is an error, and not nothing', async (kind) => {
  const code = `export default { name: 'x', version: '1', ${kind}run() { this.$emit(1) } }`;
  expect((await faultOf(code)).message).toContain('run is a generator function');
  expect(await sandbox.get().describe('o_test', await bundle(code))).toMatchObject({
    ok: false,
    errors: [{ path: 'run', message: 'run must be a method, not a generator function' }],
  });
});

test('an error in a timer and an unhandled rejection fail the run', async () => {
  const { message } = await faultOf(
    `export default { name: 'x', version: '1', run() { setTimeout(() => { throw new Error('in a timer') }, 1); return new Promise(() => {}) } }`,
  );
  expect(message).toBe('in a timer');
  const { message: lost, stack } = await faultOf(
    `export default { name: 'x', version: '1', async run() {
      Promise.reject(new Error('lost')); await new Promise((r) => setTimeout(r, 20)) } }`,
  );
  expect(lost).toBe('Unhandled rejection: lost');
  expect(stack).toMatch(/component\.js:2:/);
});

test('an unhandled rejection while the component loads is logged, and the component runs', async () => {
  const code = `const begun = (async () => WebAssembly.compile(new Uint8Array(1)))(); begun.catch();
    export default { name: 'x', version: '1', run() { this.$emit('ran') } }`;
  const { outcome, host } = await runIn(sandbox.get(), await bundle(code));
  expect([outcome.ok, host.data()]).toEqual([true, ['ran']]);
  expect(host.logs).toMatchObject([
    { level: 'error', message: 'Unhandled rejection: ReferenceError: WebAssembly is not defined' },
  ]);
  expect(await faultOf(`throw new Error('broken');`)).toMatchObject({
    message: expect.stringContaining('broken'),
  });
});
