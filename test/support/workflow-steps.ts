import type { Headwater } from './headwater.ts';
import type { Json } from './json.ts';

/** An action that answers what its props are. */
export const ECHO = `export default { name: 'Echo', version: '1', type: 'action',
  props: { text: { type: 'string', optional: true }, count: { type: 'integer', min: 1, optional: true },
    list: { type: 'string[]', optional: true }, data: { type: 'object', optional: true },
    token: { type: 'string', secret: true, optional: true } },
  run() { return { text: this.text, count: this.count, list: this.list, data: this.data }; } };`;

/** A source that emits its event. */
export const PASS_ON = `export default { name: 'Pass on', version: '1', run(event) { this.$emit(event); } };`;

export type Workflow = Json;

/** Throws with the API's answer if it refuses. */
export async function makeWorkflow(hw: Pick<Headwater, 'api'>, input: Record<string, unknown> = {}): Promise<Workflow> {
  const answer = await hw.api('POST', '/workflows', input);
  if (answer.status !== 200) throw new Error(`workflow: ${answer.status} ${answer.text}`);
  return answer.data;
}

export const echo = (namespace: string, props: Record<string, unknown> = {}) => ({
  namespace,
  component_code: ECHO,
  props,
});

/** Path → message of everything that an answer says is wrong. */
export function problemsOf(answer: { status: number; text: string }): Record<string, string> {
  const { errors = [] } = JSON.parse(answer.text) as { errors?: { path: string; message: string }[] };
  return Object.fromEntries(errors.map(({ path, message }) => [path, message]));
}
