/**
 * Module text that runs the component in `file` alone. Props get plausible values, apps get their
 * methods and credentials, `$.service.db` gets a store of its own, and actions get a `$`. It
 * replaces connected accounts and workflows.
 */
export function wrapComponent(file: string): string {
  return `import * as module from ${JSON.stringify(`./${file}`)};\n${WRAPPER}`;
}

const WRAPPER = `
const loaded = module.default ?? module;
const component = loaded.__esModule === true && loaded.default !== undefined ? loaded.default : loaded;

const credentials = new Proxy({}, {
  get(target, key) {
    if (typeof key !== 'string' || key === 'then' || key === 'toJSON') return undefined;
    if (/url|uri|endpoint/i.test(key)) return 'https://api.mock.example';
    return /domain|host|instance|region/i.test(key) ? 'mock.example' : 'mock1';
  },
});

function bindApp(app) {
  const bound = { ...app, $auth: credentials };
  for (const [name, method] of Object.entries(app.methods ?? {})) {
    if (typeof method === 'function') bound[name] = method.bind(bound);
  }
  return bound;
}

function definitionOf(prop) {
  if (typeof prop === 'string') return { type: prop };
  const [app, name] = prop.propDefinition ?? [];
  return { ...app?.propDefinitions?.[name], ...prop };
}

function plainValue(type) {
  if (type.endsWith('[]')) return [plainValue(type.slice(0, -2))];
  switch (type) {
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return false;
    case 'object':
      return {};
    default:
      return 'mock1';
  }
}

function valueOf(prop) {
  const definition = definitionOf(prop);
  const { type = 'any', options, optional } = definition;
  switch (type) {
    case 'app':
      return bindApp(definition);
    case '$.service.db':
    case 'data_store': {
      const stored = new Map();
      return { get: (key) => stored.get(key), set: (key, value) => void stored.set(key, value) };
    }
    case '$.interface.http':
    case '$.interface.apphook':
      return { endpoint: 'https://endpoint.mock.example/1', respond() {} };
    default:
  }
  if (definition.default !== undefined) return definition.default;
  if (optional === true) return undefined;
  const [first] = Array.isArray(options) ? options : [];
  const value = first === undefined ? plainValue(type.replace('[]', '')) : (first?.value ?? first);
  return type.endsWith('[]') ? [value] : value;
}

function eventOf(props) {
  const isHttp = Object.values(props).some((prop) => /interface\\.(http|apphook)$/.test(definitionOf(prop).type));
  const body = { id: 1, name: 'mock', type: 'mock', event: 'mock', data: { id: 1 } };
  if (isHttp) return { method: 'POST', path: '/', query: {}, headers: {}, body, bodyRaw: JSON.stringify(body) };
  return { timestamp: 1713368509, interval_seconds: 900 };
}

const step = {
  respond() {},
  send: { http() {}, email() {}, emit() {}, s3() {}, sse() {} },
  flow: { exit() {}, suspend: () => ({}), delay: () => ({}), rerun() {} },
  context: { id: '1', ts: '2024-04-17T10:41:49.000Z', run: { runs: 1 } },
};
step.export = () => {};

export default {
  name: 'wrapped',
  version: '1',
  async run() {
    const props = component.props ?? {};
    const self = { $emit() {} };
    for (const [name, prop] of Object.entries(props)) self[name] = valueOf(prop);
    for (const [name, method] of Object.entries(component.methods ?? {})) {
      if (typeof method === 'function') self[name] = method.bind(self);
    }
    await component.run.call(self, component.type === 'action' ? { $: step, steps: {} } : eventOf(props));
  },
};
`;
