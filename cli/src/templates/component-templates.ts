export interface TemplateChoice {
  /** Slug of the component, which is its key. */
  slug: string;
  /** For people. */
  title: string;
  typescript: boolean;
  http: boolean;
  timer: boolean;
  db: boolean;
}

const TYPES = '@headwater/types';

/** A source that emits something from the first moment on. */
export function sourceTemplate(choice: TemplateChoice): string {
  const { slug, title, http, timer, db } = choice;
  return `import { defineSource } from '${TYPES}';

export default defineSource({
  name: ${quote(title)},
  key: ${quote(slug)},
  description: 'Say here what it emits, and when',
  version: '0.0.1',
  type: 'source',${db ? "\n  // An event with an id that was emitted before is left out.\n  dedupe: 'unique'," : ''}
  props: {
${indent(sourceProps(choice))}
  },
  async run(event) {
${indent(runBody({ http, timer, db, typescript: choice.typescript }))}
  },
});
`;
}

function sourceProps({ http, timer, db }: TemplateChoice): string {
  return [
    http &&
      "// Its URL is made when the source is deployed. Requests to it are\n// answered with 200 before `run` is called.\nhttp: { type: '$.interface.http' },",
    timer &&
      "// `default` holds where no other schedule is given; { cron: '0 9 * * 1-5' } is one too.\ntimer: { type: '$.interface.timer', default: { intervalSeconds: 60 } },",
    db && "// Keeps values from run to run.\ndb: '$.service.db',",
    "greeting: { type: 'string', label: 'Greeting', optional: true, default: 'Hello' },",
  ]
    .filter((part) => part !== false)
    .join('\n');
}

function runBody({
  http,
  timer,
  db,
  typescript,
}: Pick<TemplateChoice, 'http' | 'timer' | 'db' | 'typescript'>): string {
  const counter = db
    ? `const count${typescript ? ': number' : ''} = (this.db.get('count') ?? 0) + 1;\nthis.db.set('count', count);\n`
    : '';
  const extra = db ? ', count' : '';
  const id = db ? 'id: count, ' : '';
  const request = `this.$emit({ greeting: this.greeting, body: event.body${extra} }, { ${id}summary: \`\${event.method} \${event.path}\` });`;
  const tick = `this.$emit({ greeting: this.greeting, tick: event.timestamp${extra} }, { ${id}summary: \`Tick at \${event.timestamp}\` });`;
  if (http && timer) return `${counter}if ('method' in event) {\n  ${request}\n} else {\n  ${tick}\n}`;
  return counter + (timer ? tick : request);
}

/** The body of `POST /v1/workflows`. `stepFile`: the file of its step, beside it. */
export function workflowTemplate(title: string, stepFile: string): string {
  const workflow = {
    name: title,
    triggers: [{ type: 'http' }],
    steps: [
      {
        namespace: 'shout',
        component_file: stepFile,
        props: { text: "{{steps.trigger.event.body?.text ?? 'Hello'}}" },
      },
    ],
  };
  return `${JSON.stringify(workflow, undefined, 2)}\n`;
}

/** An action that works as the step of a workflow. */
export function actionTemplate({ slug, title, typescript }: TemplateChoice): string {
  const parameters = typescript ? 'text: string' : 'text';
  return `import { defineAction } from '${TYPES}';

export default defineAction({
  name: ${quote(title)},
  key: ${quote(slug)},
  description: 'Say here what it does',
  version: '0.0.1',
  type: 'action',
  props: {
    text: { type: 'string', label: 'Text', description: 'In a workflow, e.g. {{steps.trigger.event.body.text}}' },
  },
  methods: {
${typescript ? '' : '    /** @param {string} text */\n'}    shout(${parameters}) {
      return text.toUpperCase();
    },
  },
  async run({ $ }) {
    const shouted = this.shout(this.text);
    $.export('$summary', \`Shouted \${shouted.length} characters\`);
    // Later steps read it as {{steps.<name of this step>.$return_value.text}}.
    return { text: shouted };
  },
});
`;
}

/** An app: what the components that work with one service share. */
export function appTemplate({ slug, title, typescript }: TemplateChoice): string {
  const page = typescript ? '{ page }: OptionsInput' : '{ page }';
  const imports = typescript
    ? `import { defineApp, type OptionsInput } from '${TYPES}';`
    : `import { defineApp } from '${TYPES}';`;
  const jsdocPage = typescript ? '' : `      /** @param {import('${TYPES}').OptionsInput} input */\n`;
  const ofItem = '{ id: string; name: string }';
  const item = typescript ? `{ id, name }: ${ofItem}` : `/** @type {${ofItem}} */ { id, name }`;
  const path = typescript ? 'path: string' : 'path';
  const jsdocPath = typescript ? '' : '    /** @param {string} path */\n';
  return `${imports}

/** ${title}: the components of this app import it and have it as a prop. */
export default defineApp({
  type: 'app',
  app: ${quote(slug)},
  propDefinitions: {
    item: {
      type: 'string',
      label: 'Item',
${jsdocPage}      async options(${page}) {
        const items = await this.get(\`/items?page=\${page + 1}\`);
        return items.map((${item}) => ({ label: name, value: id }));
      },
    },
  },
  methods: {
${jsdocPath}    async get(${path})${typescript ? ': Promise<any>' : ''} {
      const headers = { authorization: \`Bearer \${this.$auth.api_key}\` };
      const response = await fetch(\`https://api.example.com\${path}\`, { headers });
      if (!response.ok) throw new Error(\`The service answered \${response.status} to \${path}\`);
      return response.json();
    },
  },
});
`;
}

/** For editors and \`tsc\`; the server needs none of it. */
export const TSCONFIG = `{
  "compilerOptions": {
    "target": "ES2024",
    "module": "NodeNext",
    "moduleResolution": "NodeNext",
    "lib": ["ES2024", "DOM"],
    "strict": true,
    "skipLibCheck": true,
    "allowImportingTsExtensions": true,
    "noEmit": true
  }
}
`;

function quote(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '    ');
}
