import type { Headwater } from './headwater.ts';
import { post } from './server.ts';

const CODE = `export default { name: 'Same', key: 'same', version: '0.0.1', type: 'source',
  props: { http: '$.interface.http' }, run(event) { this.$emit(event.body); } };`;
const ACTION = `export default { name: 'Step', key: 'step', version: '0.0.1', type: 'action', run() { return 1; } };`;

/** By kind of thing. */
export interface ThingIds {
  account: string;
  [kind: string]: string;
}

/** Makes one of each kind of thing, under the same names in each account. `text`: data in them. */
export async function makeThings(tenant: Headwater, text: string): Promise<ThingIds> {
  const make = async (path: string, parameters: object, method: 'POST' | 'PUT' = 'POST') => {
    const { status, data, text: answer } = await tenant.api(method, path, parameters as Record<string, unknown>);
    if (status !== 200) throw new Error(`${path}: ${answer}`);
    return data;
  };
  const component = await make('/components', { component_code: CODE });
  const step = await make('/components', { component_code: ACTION });
  const source = await make('/sources', { component_id: component.id, name: 'Same' });
  await post(source.configured_props.http.endpoint_url, { text });
  await tenant.untilEvents(source.id, 1);
  const steps = [{ namespace: 'step', component_id: step.id }];
  const triggers = [{ type: 'http' }];
  const workflow = await make('/workflows', { name: 'Same', triggers, steps });
  const webhook = await make('/webhooks', { name: 'Same', url: 'http://127.0.0.1:2/', headers: { 'x-told': text } });
  const link = { emitter_id: source.id, listener_id: webhook.id };
  const subscription = await make('/subscriptions', link);
  const replay = await make('/replays', { ...link, since: 0 });
  const store = await make('/data_stores', { name: 'Same', description: text });
  await make(`/data_stores/${store.id}/record`, { key: 'same', value: text }, 'PUT');
  await make('/environment_variables/SAME', { value: 'secret', description: text }, 'PUT');
  await make('/stacks/same', { resources: [], holder: 'same' }, 'PUT');
  const app = { name_slug: `same_${text.slice(0, 4)}`, name: text, auth_type: 'none', fields: [] };
  const connected = await tenant.api('POST', '/apps', app);
  const invitation = await make('/members/invitations', { email: 'same@example.com', role: 'viewer' });
  const key = await make('/api_keys', { name: 'Same' });
  const { data: executions } = await tenant.api('GET', `/workflows/${workflow.id}/executions`);
  return {
    account: tenant.accountId,
    component: component.id,
    source: source.id,
    workflow: workflow.id,
    webhook: webhook.id,
    subscription: subscription.id,
    replay: replay.id,
    store: store.id,
    variable: 'SAME',
    stack: 'same',
    app: connected.data?.id ?? app.name_slug,
    invitation: invitation.id,
    key: key.id,
    execution: executions[0]?.id ?? 'exec_1vZ8kQ0aB3xYpL9mWc2T',
  };
}
