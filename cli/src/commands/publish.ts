import path from 'node:path';
import type { Component } from '../api/resources.ts';
import { namingLocally } from '../bundle/name-locally.ts';
import { CliError } from '../cli-error.ts';
import { type CommandSpec, COMPONENT_EXITS, NAMING_EXITS, type OptionSpec } from '../command.ts';
import { readCode, splitKey } from './which-component.ts';

const REGISTRY: OptionSpec = {
  name: 'registry',
  summary: 'In the registry, which all accounts of the server share, instead of your account.',
};

const scopeOf = (inRegistry: boolean) => ({ scope: inRegistry ? 'registry' : 'account' });

export const publish: CommandSpec = {
  path: 'publish',
  summary: 'Publish a source or an action under its key and version',
  details:
    'An action that is published can be a step of workflows; a source that is can be deployed by its key. A published version never changes: other code needs another `version`.',
  arguments: [{ name: 'file', summary: 'The component: it has to have a `key`.', completes: 'files' }],
  options: [REGISTRY],
  examples: [
    { does: 'For your account', command: 'hw publish send-order.mjs' },
    { does: 'For all accounts of the server', command: 'hw publish send-order.mjs --registry' },
  ],
  json: 'the component, as `POST /v1/components/{id}/publish` answers it',
  exits: COMPONENT_EXITS,
  async run(context) {
    const { input, output, workDir } = context;
    const file = input.argument('file');
    const code = await readCode(path.resolve(workDir, file), file);
    const api = await context.api();
    const component = await output.progress(`Publishing ${file}`, async () => {
      const saved = await namingLocally(file, () =>
        api.send<Component>('POST', '/components', { component_code: code }),
      );
      if (saved.key === null) throw noKey(file);
      return api.send<Component>('POST', `/components/${saved.id}/publish`, scopeOf(input.flag('registry')));
    });
    const { id, key, version, type } = component;
    const use = {
      action: `As a step of a workflow: { "component_key": "${key}" }`,
      source: `Deploy it: hw deploy ${key}`,
      transform: `Of a webhook: hw webhooks update <name> --transform ${key}`,
    }[type];
    return { json: component, text: `Published the ${type} ${key}@${version} (${id})\n${use}`, quiet: id };
  },
};

function noKey(file: string): CliError {
  return new CliError('component', `${file} has no key to be published under`, {
    hint: "Add one to its default export: key: 'my-component'",
  });
}

export const unpublish: CommandSpec = {
  path: 'unpublish',
  summary: 'Take back what was published',
  details:
    'In your account the version is a draft again. From the registry it is gone, and its number is never free again. What was deployed from it goes on.',
  arguments: [
    {
      name: 'key',
      summary: 'The key, or `key@version`. Without a version: the newest.',
      completes: { names: ['components'] },
    },
  ],
  options: [REGISTRY],
  examples: [
    { does: 'The newest version', command: 'hw unpublish send-order' },
    { does: 'One version, from the registry', command: 'hw unpublish send-order@0.1.0 --registry' },
  ],
  json: 'the component, as `POST /v1/components/{key}/unpublish` answers it',
  exits: NAMING_EXITS,
  async run(context) {
    const { key, version } = splitKey(context.input.argument('key'));
    const api = await context.api();
    const body = { ...scopeOf(context.input.flag('registry')), ...(version === undefined ? {} : { version }) };
    const component = await api.send<Component>('POST', `/components/${encodeURIComponent(key)}/unpublish`, body);
    return {
      json: component,
      text: `${component.key}@${component.version} is no longer published.`,
      quiet: component.id,
    };
  },
};
