import { describe, expect, it } from 'vitest';
import { bundle, sandboxForFile } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();

async function propsOf(rest: string, before = ''): Promise<unknown[]> {
  const code = `${before}\nexport default { name: 'x', version: '1', run() {}, ${rest} };`;
  const outcome = await sandbox.get().describe('o_test', await bundle(code));
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.errors));
  return outcome.description.props;
}

const APP = `const app = {
  type: 'app', app: 'weather',
  propDefinitions: {
    city: { type: 'string', label: 'City', description: 'Where', options() { return []; } },
    tags: { type: 'string[]', label: 'Tags', optional: true },
  },
};`;

describe('a prop that takes its definition from an app', () => {
  it('has what the app says of it, under what it says itself', async () => {
    const props = await propsOf(
      `props: { city: { propDefinition: [app, 'city', () => ({})], label: 'Town' }, tags: { propDefinition: [app, 'tags'] } }`,
      APP,
    );
    expect(props).toEqual([
      {
        name: 'city',
        type: 'string',
        label: 'Town',
        description: 'Where',
        options: true,
        propDefinition: ['weather', 'city'],
      },
      { name: 'tags', type: 'string[]', label: 'Tags', optional: true, propDefinition: ['weather', 'tags'] },
    ]);
  });

  it('is not saved where the app does not know it', async () => {
    await expect(propsOf(`props: { gone: { propDefinition: [app, 'gone'] } }`, APP)).rejects.toThrow(
      'The app weather has no propDefinitions.gone: did you mean one of city, tags?',
    );
  });
});

describe('features of real components', () => {
  it('interfaces of single apps are saved and shown', async () => {
    expect(
      await propsOf(
        `props: { hook: { type: '$.interface.apphook', appProp: 'weather' }, to: { type: '$.chat.channel[]' } }`,
      ),
    ).toEqual([
      { name: 'hook', type: '$.interface.apphook', appProp: 'weather' },
      { name: 'to', type: '$.chat.channel[]' },
    ]);
  });

  it('an action may share props and dedupe with a source', async () => {
    const code = `export default { name: 'x', version: '1', type: 'action', dedupe: 'unique', props: { db: '$.service.db', http: '$.interface.http' }, run() {} }`;
    const outcome = await sandbox.get().describe('o_test', await bundle(code));
    expect(outcome).toMatchObject({
      ok: true,
      description: { type: 'action', props: [{ name: 'db' }, { name: 'http' }] },
    });
    expect(outcome).not.toHaveProperty('description.dedupe');
  });
});
