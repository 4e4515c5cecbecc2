import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const KEY = 'sk_test_of_many_characters';

const FORM = `
const stripe = {
  type: 'app', app: 'stripe',
  propDefinitions: {
    customer: { type: 'string', async options() { return [{ label: 'With ' + this.key(), value: String(this.key().length) }]; } },
  },
  methods: { key() { return Object.values(this.$auth)[0]; } },
};
export default {
  name: 'Form', version: '1',
  props: {
    stripe,
    customer: { propDefinition: [stripe, 'customer'] },
    reload: { type: 'boolean', optional: true, reloadProps: true },
  },
  additionalProps() { return { more: { type: 'string', optional: true, description: 'of ' + this.stripe.key() } }; },
  run() { this.$emit({ length: this.stripe.key().length }); },
};`;

let componentId: string;
let account: string;
beforeAll(async () => {
  componentId = (await hw.api('POST', '/components', { component_code: FORM })).data.id;
  const { data: app } = await hw.api('GET', '/apps/stripe');
  const credentials = Object.fromEntries(app.fields.map(({ name }: { name: string }) => [name, KEY]));
  account = (await hw.api('POST', '/connected_accounts', { app: 'stripe', name: 'Mine', credentials })).data.id;
});

const use = (authProvisionId: string) => ({ stripe: { authProvisionId } });

test('props: options and additionalProps run with the connected account, and its secrets are in no answer', async () => {
  const chosen = await hw.api('POST', `/components/${componentId}/configure`, {
    prop_name: 'customer',
    configured_props: use(account),
  });
  expect(chosen.data.options).toEqual([
    { label: expect.stringMatching(/^With \[secret:stripe\.\w+\]$/), value: String(KEY.length) },
  ]);
  const reloaded = await hw.api('POST', `/components/${componentId}/props`, { configured_props: use(account) });
  expect(reloaded.data.dynamic_props.configurable_props[0].description).toMatch(/^of \[secret:stripe\.\w+\]$/);
  expect(chosen.text + reloaded.text).not.toContain(KEY);
});

test('props: an account of another app, of another tenant or that was deleted is refused where it is configured', async () => {
  const wrong = await hw.api('POST', '/sources', {
    component_code: FORM.replaceAll("app: 'stripe'", "app: 'twilio'"),
    configured_props: { ...use(account), customer: 'x' },
  });
  expect(JSON.parse(wrong.text).errors).toEqual([
    {
      path: 'configured_props.stripe',
      message: `The connected account ${account} is of the app stripe, not of twilio`,
    },
  ]);
  const made = await hw.admin('POST', '/accounts', { name: 'Other' });
  const other = hw.as(made.data.api_key as string);
  const theirs = await other('POST', '/sources', {
    component_code: FORM,
    configured_props: { ...use(account), customer: 'x' },
  });
  expect(JSON.parse(theirs.text).errors).toEqual([
    { path: 'configured_props.stripe', message: `There is no connected account ${account} in this account` },
  ]);
  const source = await hw.deploy(FORM, { ...use(account), customer: 'x' });
  await hw.api('POST', `/sources/${source.id}/run`);
  expect((await hw.untilEvents(source.id, 1))[0]?.event).toEqual({ length: KEY.length });
  await hw.api('DELETE', `/connected_accounts/${account}`);
  const gone = await hw.api('POST', `/components/${componentId}/configure`, {
    prop_name: 'customer',
    configured_props: use(account),
  });
  expect([gone.status, JSON.parse(gone.text).errors[0].path]).toEqual([400, 'configured_props.stripe']);
});
