import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface ComponentFolder {
  path: string;
  remove(): Promise<void>;
}

/** Files by path, in a folder that is removed at the end. */
export async function createComponentFolder(files: Readonly<Record<string, string>>): Promise<ComponentFolder> {
  const root = await mkdtemp(path.join(tmpdir(), 'headwater-components-'));
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(root, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  return { path: root, remove: () => rm(root, { recursive: true, force: true }) };
}

/** An app with three valid and two invalid components, and the other files of real ones. */
export const APP_TREE: Readonly<Record<string, string>> = {
  'weather/package.json': JSON.stringify({ dependencies: { leftpad: '^1.2.0', exact: '3.0.1', any: '*' } }),
  'weather/weather.app.mjs': `
    export default {
      type: 'app', app: 'weather',
      propDefinitions: {
        city: { type: 'string', label: 'City', async options() { return []; } },
        unit: { type: 'string', label: 'Unit', options: ['C', 'F'], optional: true },
      },
      methods: {
        async read(city) { return (await fetch('https://' + this.$auth.host + '/weather/' + city)).json(); },
      },
    };`,
  'weather/sources/common/base.mjs': `
    import weather from '../../weather.app.mjs';
    export default {
      props: { weather, db: '$.service.db', timer: { type: '$.interface.timer', default: { intervalSeconds: 60 } } },
      methods: { look() { return this.weather.read(this.city); } },
      async run() { this.$emit(await this.look(), { id: 1, summary: 'changed' }); },
    };`,
  'weather/sources/new-storm/new-storm.mjs': `
    import common from '../common/base.mjs';
    import weather from '../../weather.app.mjs';
    import sample from './test-event.mjs';
    export default {
      ...common, key: 'weather-new-storm', name: 'New storm', version: '0.0.1', type: 'source', dedupe: 'unique',
      props: { ...common.props, city: { propDefinition: [weather, 'city'], description: 'Where' } },
      sampleEmit: sample,
    };`,
  'weather/sources/new-storm/test-event.mjs': `export default { name: 'sample', version: '1' };`,
  'weather/sources/typed/typed.ts': `
    import weather from '../../weather.app';
    interface Storm { id: number }
    export default {
      name: 'Typed', version: '1', type: 'source', props: { weather },
      async run(): Promise<void> { const storm: Storm = { id: 1 }; this.$emit(storm); },
    };`,
  'weather/actions/tell/tell.js': `
    const weather = require('../../weather.app.mjs').default;
    module.exports = { name: 'Tell', version: '0.1.0', type: 'action', dedupe: 'unique', props: { weather, db: '$.service.db' }, async run({ $ }) {} };`,
  'weather/sources/broken/broken.mjs': `
    import gone from '../../gone.mjs';
    export default { name: 'Broken', version: '1', run() {} };`,
  'weather/actions/throws/throws.mjs': `
    const settings = undefined;
    export default { name: 'Throws', version: '1', type: 'action', limit: settings.limit, run() {} };`,
  'weather/README.md': `sources/ and actions/`,
};
