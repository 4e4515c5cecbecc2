export interface Template {
  name: string;
  code: string;
}

/** Templates for a first source; each runs unchanged. */
export const TEMPLATES: readonly Template[] = [
  {
    name: 'Request bin',
    code: `export default {
  name: "Request bin",
  version: "1.0.0",
  props: {
    http: { type: "$.interface.http" },
  },
  async run(event) {
    this.$emit(event.body ?? event, {
      summary: \`\${event.method} \${event.path}\`,
    });
  },
};
`,
  },
  {
    name: 'Schedule',
    code: `export default {
  name: "Schedule",
  version: "1.0.0",
  props: {
    timer: {
      type: "$.interface.timer",
      default: { intervalSeconds: 60 },
    },
  },
  async run(event) {
    this.$emit(event, { summary: new Date().toISOString() });
  },
};
`,
  },
];
