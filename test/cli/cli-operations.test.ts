import { expect, test } from 'vitest';
import { allEndpoints } from '../../api/src/app.ts';
import { allCommands } from '../../cli/src/commands/all-commands.ts';
import { cliWorld, ORDERS_SOURCE } from '../support/cli-world.ts';
import { makeWorkflow } from '../support/workflow-steps.ts';

const world = cliWorld();
const admin = { HEADWATER_API_KEY: `hw_${'a'.repeat(32)}`, HEADWATER_ARCHIVE_PASSPHRASE: 'correct horse battery' };
const asOperator = (passphrase: string) => ({ env: { ...admin, HEADWATER_ARCHIVE_PASSPHRASE: passphrase } });

/** The operations that each command asks for, by the command's words. */
const BY_COMMAND: Readonly<Record<string, readonly string[]>> = {
  whoami: ['getUser'],
  dev: ['updateSource', 'streamSourceEvents', 'streamSourceLogs'],
  deploy: ['createSource', 'createComponent', 'getComponent', 'configureProp', 'reloadProps'],
  apply: ['putStack', 'getStack', 'createAutoSubscription', 'deleteAutoSubscription', 'listAutoSubscriptions'],
  update: ['getSource'],
  run: ['runSource'],
  events: ['listEvents', 'listEventHistory', 'listWorkflowEvents', 'listWorkflowEventHistory', 'streamWorkflowEvents'],
  'events publish': ['publishEvents', 'publishEventsToSource'],
  'events delete': ['deleteEvents', 'deleteWorkflowEvents'],
  search: ['searchEvents'],
  logs: ['listLogs', 'listWorkflowLogs', 'streamWorkflowLogs'],
  'stream-token': ['createStreamToken'],
  listen: ['createTunnel', 'listenToTunnel', 'answerTunnelRequest'],
  trace: ['getTrace'],
  stats: ['getStats'],
  usage: ['getUsage', 'getAccountUsage'],
  limits: ['getOwnLimits'],
  settings: ['getAccountSettings', 'changeAccountSettings'],
  waiting: ['getWaitingStats'],
  list: [
    'listSourcesOfUser',
    'listWorkflowsOfUser',
    'listWebhooksOfUser',
    'listSubscriptionsOfUser',
    'listComponents',
    'searchRegistry',
  ],
  describe: ['getExecution', 'getRegistryComponent'],
  delete: ['deleteSource', 'deleteComponent'],
  connect: ['getApp', 'createConnectedAccount', 'startOAuthFlow'],
  publish: ['publishComponent'],
  unpublish: ['unpublishComponent'],
  'runs list': ['listAbandonedRuns'],
  'runs recent': ['listRuns'],
  'runs retry': ['retryRuns', 'retryRun'],
  'workflows create': ['createWorkflow'],
  'workflows update': ['updateWorkflow'],
  'workflows describe': ['getWorkflow'],
  'workflows run': ['runWorkflow'],
  'workflows test': ['testWorkflow', 'testUnsavedWorkflow'],
  'workflows executions': ['listExecutions'],
  'workflows retry': ['retryExecutions'],
  'workflows replay': ['replayExecution'],
  'workflows cancel': ['cancelExecution'],
  'workflows sends': ['listSends'],
  'workflows retry-send': ['retrySend'],
  'workflows versions': ['listDeployments'],
  'workflows deploy': ['deployWorkflow'],
  'workflows resume': ['resumeExecution'],
  'workflows delete': ['deleteWorkflow'],
  'webhooks create': ['createWebhook'],
  'webhooks update': ['updateWebhook'],
  'webhooks describe': ['getWebhook'],
  'webhooks delete': ['deleteWebhook'],
  'webhooks deliveries': ['listDeliveries', 'listAllDeliveries'],
  'webhooks delivery': ['getDelivery'],
  'webhooks attempt': ['getAttempt'],
  'webhooks retry': ['retryDeliveries'],
  'webhooks redeliver': ['redeliver'],
  'webhooks discard': ['discardDeliveries'],
  'webhooks skip': ['skipDelivery'],
  'webhooks rotate-secret': ['rotateWebhookSecret'],
  'webhooks stats': ['getWebhookStats'],
  'webhooks test': ['testWebhook'],
  'webhooks preview': ['previewTransform'],
  'portal-link': ['createPortalLink'],
  'subscriptions create': ['createSubscription'],
  'subscriptions list': ['listSubscriptions', 'listEmitterNames'],
  'subscriptions show': ['getSubscription'],
  'subscriptions update': ['updateSubscription'],
  'subscriptions delete': ['deleteSubscription'],
  'replays create': ['createReplay'],
  'replays list': ['listReplays'],
  'replays show': ['getReplay'],
  'replays cancel': ['cancelReplay'],
  'receiver url': ['getSampleReceiver'],
  'receiver requests': ['listSampleRequests'],
  'receiver clear': ['clearSampleRequests'],
  'keys list': ['listApiKeys'],
  'keys create': ['createApiKey'],
  'keys rotate': ['rotateApiKey'],
  'keys revoke': ['revokeApiKey'],
  'members list': ['listMembers'],
  'members invite': ['inviteMember', 'inviteToAccount'],
  'members role': ['updateMember'],
  'members remove': ['removeMember'],
  'invitations list': ['listInvitations'],
  'invitations revoke': ['revokeInvitation'],
  audit: ['listAuditEntries'],
  'accounts list': ['listConnectedAccounts'],
  'accounts show': ['getConnectedAccount'],
  'accounts update': ['updateConnectedAccount'],
  'accounts check': ['checkConnectedAccount'],
  'accounts delete': ['deleteConnectedAccount'],
  'apps list': ['listApps'],
  'apps create': ['createApp'],
  'apps update': ['replaceApp'],
  'apps delete': ['deleteApp'],
  'apps clients': ['listOwnOAuthClients'],
  'apps set-client': ['setOwnOAuthClient', 'setInstanceOAuthClient'],
  'apps delete-client': ['deleteOwnOAuthClient', 'deleteInstanceOAuthClient'],
  's3 show': ['getS3Settings'],
  's3 set': ['setS3Settings'],
  's3 delete': ['deleteS3Settings'],
  'stacks list': ['listStacks'],
  'stacks delete': ['deleteStack'],
  'env list': ['listEnvironmentVariables'],
  'env set': ['putEnvironmentVariable'],
  'env delete': ['deleteEnvironmentVariable'],
  'data-stores list': ['listDataStores'],
  'data-stores create': ['createDataStore'],
  'data-stores update': ['updateDataStore'],
  'data-stores clear': ['clearDataStore'],
  'data-stores delete': ['deleteDataStore', 'deleteDataStoreRecord'],
  'data-stores records': ['listDataStoreRecords'],
  'data-stores get': ['getDataStoreRecord'],
  'data-stores set': ['putDataStoreRecord'],
  'registry import': ['startImport', 'getImport'],
  'registry add': ['addRegistryComponent'],
  'registry withdraw': ['withdrawRegistryComponent'],
  'server nodes': ['listNodes'],
  'server accounts': ['listAccountStats'],
  'tenants list': ['listTenants'],
  'tenants create': ['createTenant'],
  'tenants show': ['getTenant'],
  'tenants update': ['updateTenant'],
  'tenants limits': ['getAccountLimits', 'setAccountLimits'],
  'tenants suspend': ['suspendTenant'],
  'tenants resume': ['resumeTenant'],
  'tenants key': ['createTenantKey'],
  'tenants delete': ['deleteTenant'],
};

const SAME = 'another name of an operation that a command asks for';
const OWN = 'of the member who is signed in to the web UI: hw has a key';

/** All others, with why no command asks for them. */
const WITHOUT: Readonly<Record<string, string>> = {
  listSources: SAME,
  listWorkflows: SAME,
  listWebhooks: SAME,
  listConnectedAccountsOfUser: SAME,
  createAccount: SAME,
  listAccounts: SAME,
  updateAccount: SAME,
  getConnectedAccountByAccountsPath: SAME,
  deleteConnectedAccountByAccountsPath: SAME,
  listEmitterStats: 'the lists of the Overview page: `hw stats <name>` asks for one of them',
  listWebhookStats: 'the lists of the Overview page: `hw stats <name>` asks for one of them',
  listErrors: '`hw events --channel $errors` asks for the same',
  listWorkflowErrors: '`hw events --channel $errors` asks for the same',
  getDataStore: '`hw data-stores list` shows all that it has',
  getEnvironmentVariable: '`hw env list` shows all that it has',
  changePassword: OWN,
  listSessions: OWN,
  endSession: OWN,
  listPasskeys: OWN,
  beginPasskey: OWN,
  addPasskey: OWN,
  renamePasskey: OWN,
  removePasskey: OWN,
};

test('every operation of the API is reached by a command, or has a reason why not', () => {
  const paths = new Set(allCommands().map(({ path }) => path));
  expect(Object.keys(BY_COMMAND).filter((path) => !paths.has(path))).toEqual([]);
  const reached = new Set(Object.values(BY_COMMAND).flat());
  const names = allEndpoints()
    // `/v1/orgs/…` and `/v1/workspaces/…` are as other clients of the interface know the lists.
    .filter(({ path }) => !/^\/v1\/(?:orgs|workspaces)\//.test(path))
    .map(({ name }) => name);
  expect(names.filter((name) => !reached.has(name) && WITHOUT[name] === undefined)).toEqual([]);
  expect([...reached, ...Object.keys(WITHOUT)].filter((name) => !names.includes(name))).toEqual([]);
  expect(Object.keys(WITHOUT).filter((name) => reached.has(name))).toEqual([]);
});

test('executions are cancelled one by one and all of a workflow, replayed, and versions come back', async () => {
  const { user, hw } = world;
  const steps = [{ namespace: 'ask', component_code: `export default { run({ $ }) { $.flow.suspend(3600000); } };` }];
  const workflow = await makeWorkflow(hw, { name: 'Waits', steps });
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.push((await user.json('workflows', 'run', workflow.id)).execution_id);
  const waiting = () => user.json('workflows', 'executions', workflow.id, '--status', 'waiting');
  await expect.poll(async () => (await waiting()).length).toBe(3);
  expect(await user.json('workflows', 'cancel', ids[0] ?? '')).toMatchObject({ cancelled: true });
  expect((await user.hw(['workflows', 'cancel', '--workflow', workflow.id, '-y'])).stdout).toContain('2 executions');
  expect(await waiting()).toEqual([]);
  expect((await user.hw(['workflows', 'cancel'])).code).toBe(2);
  const again = await user.json('workflows', 'replay', ids[0] ?? '', '--newest');
  expect(again.execution_id).toMatch(/^exec_/);
  expect(await user.json('workflows', 'sends', again.execution_id)).toEqual([]);
  await world.write(
    'second.json',
    JSON.stringify({ steps: [{ namespace: 'b', component_code: steps[0]?.component_code }] }),
  );
  await user.json('workflows', 'update', workflow.id, 'second.json');
  const versions = await user.json('workflows', 'versions', workflow.id);
  expect(versions.map(({ version }: { version: number }) => version)).toEqual([2, 1]);
  await user.json('workflows', 'deploy', workflow.id, '1');
  expect((await hw.api('GET', `/workflows/${workflow.id}`)).data.steps[0]).toMatchObject({ namespace: 'ask' });
  expect((await user.hw(['workflows', 'deploy', workflow.id, '9'])).code).toBe(4);
});

test('connected accounts, the S3 server, data stores, events and limits are reached', async () => {
  const { user, hw } = world;
  expect(await user.json('accounts', 'list')).toEqual([]);
  expect((await user.hw(['accounts', 'show', 'apn_none'])).code).toBe(4);
  const s3 = ['s3', 'set', '--region', 'eu-central-1', '--access-key-id', 'AKIA4711'];
  expect(await user.hw(s3, { stdin: 'the-secret\n' })).toMatchObject({ code: 0 });
  const shown = await user.hw(['s3', 'show', '--json']);
  expect(JSON.parse(shown.stdout)).toMatchObject({ region: 'eu-central-1', access_key_id: 'AKIA4711' });
  expect(shown.stdout).not.toContain('the-secret');
  expect((await user.hw(['s3', 'delete', '-y'])).code).toBe(0);
  const store = await user.json('data-stores', 'create', 'Stock');
  expect(await user.json('data-stores', 'update', store.id, '--name', 'Depot')).toMatchObject({ name: 'Depot' });
  await world.write('one.json', '1');
  await user.json('data-stores', 'set', 'Depot', 'k', '@one.json');
  expect((await user.hw(['data-stores', 'clear', 'Depot', '-y'])).code).toBe(0);
  expect(await user.json('data-stores', 'records', 'Depot')).toEqual([]);
  await world.write('orders.mjs', ORDERS_SOURCE);
  const source = await user.json('deploy', 'orders.mjs');
  await user.json('run', source.id);
  await hw.untilEvents(source.id, 1);
  expect((await user.hw(['events', 'delete', source.id, '-y'])).code).toBe(0);
  await expect.poll(async () => (await hw.api('GET', `/sources/${source.id}/event_summaries`)).data).toEqual([]);
  expect((await user.json('limits')).limits).toMatchObject({ maxSources: expect.any(Number) });
  expect(await user.json('stacks', 'list')).toEqual([]);
});

test('an account is shown, exported into a file, and refused where it is', async () => {
  const { user, hw } = world;
  expect(await user.hw(['tenants', 'show', 'o_gone'], { env: admin })).toMatchObject({
    code: 4,
    stderr: 'error: There is no account o_gone\n  → See what there is: hw tenants list\n',
  });
  const shown = await user.hw(['tenants', 'show', hw.accountId], { env: admin });
  expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining(hw.accountId)]);
  const { endpoint } = await hw.deploy(ORDERS_SOURCE);
  const listed = async (...options: string[]) => {
    const { code, stdout } = await user.hw(['tenants', 'list', ...options, '--json'], { env: admin });
    return [code, JSON.parse(stdout)];
  };
  for (const word of [endpoint, endpoint.split('/e/')[1] ?? ''])
    expect(await listed('--endpoint', word)).toMatchObject([0, [{ id: hw.accountId }]]);
  for (const other of [
    ['--endpoint', 'nobodys'],
    ['--execution', 'exec_none'],
  ])
    expect(await listed(...other)).toEqual([0, []]);
  const exported = await user.hw(['tenants', 'export', hw.accountId, '-o', 'moved.ndjson'], { env: admin });
  expect(exported).toMatchObject({ code: 0 });
  const again = await user.hw(['tenants', 'import', 'moved.ndjson'], { env: admin });
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('is here already')]);
  const other = await user.hw(['tenants', 'import', 'moved.ndjson'], asOperator('another passphrase'));
  expect(other.stderr).toContain('The passphrase is not that');
  const none = await user.hw(['tenants', 'export', hw.accountId], asOperator(''));
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('HEADWATER_ARCHIVE_PASSPHRASE')]);
});
