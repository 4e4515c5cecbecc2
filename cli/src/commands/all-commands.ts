import type { CommandSpec, GroupSpec } from '../command.ts';
import { apply } from './apply.ts';
import { audit } from './audit.ts';
import { accountCommands } from './connected-accounts.ts';
import { completion } from './completion.ts';
import { connect } from './connect.ts';
import { dataStoreCommands } from './data-stores.ts';
import { deleteAny } from './delete.ts';
import { deploy } from './deploy.ts';
import { describe } from './describe.ts';
import { dev } from './dev.ts';
import { appClientCommands } from './app-clients.ts';
import { appCommands } from './apps.ts';
import { envCommands } from './env.ts';
import { deleteSomeEvents, logs, search, showEvents } from './events.ts';
import { exportFolder } from './export.ts';
import { initCommands } from './init.ts';
import { keyCommands } from './keys.ts';
import { list } from './list.ts';
import { listen } from './listen.ts';
import { login, logout } from './login.ts';
import { memberCommands } from './members.ts';
import { operatorCommands } from './operator.ts';
import { portalLink } from './portal-link.ts';
import { publish, unpublish } from './publish.ts';
import { publishEvent } from './publish-event.ts';
import { receiverCommands } from './receiver.ts';
import { registryCommands } from './registry.ts';
import { replayCommands } from './replays.ts';
import { run } from './run.ts';
import { runCommands } from './runs.ts';
import { serverCommands } from './server.ts';
import { streamToken } from './stream-token.ts';
import { s3Commands } from './s3.ts';
import { stackCommands } from './stacks.ts';
import { stats } from './stats.ts';
import { subscriptionCommands } from './subscriptions.ts';
import { tenantCommands } from './tenants.ts';
import { trace } from './trace.ts';
import { update } from './update.ts';
import { usage } from './usage.ts';
import { waiting } from './waiting.ts';
import { webhookCommands } from './webhooks.ts';
import { settings } from './settings.ts';
import { limits, whoami } from './whoami.ts';
import { workflowCommands } from './workflows.ts';

/** Words that only stand before others. */
export const GROUPS: readonly GroupSpec[] = [
  { name: 'init', summary: 'Make the file of a component' },
  { name: 'runs', summary: 'Runs of sources: those that were quiet or given up, to look at and run again' },
  { name: 'workflows', aliases: ['workflow', 'wf'], summary: 'Workflows: make, change, run, look at executions' },
  { name: 'webhooks', aliases: ['webhook', 'wh'], summary: 'Webhooks: URLs that events are delivered to' },
  { name: 'subscriptions', aliases: ['subscription', 'subs'], summary: 'Subscriptions: who gets what' },
  { name: 'replays', aliases: ['replay'], summary: 'Replays: past events, sent to a listener again' },
  { name: 'receiver', summary: 'The built-in receiver, for first tries of webhooks' },
  { name: 'keys', aliases: ['key'], summary: 'API keys of the account, and what each may do' },
  { name: 'members', aliases: ['member'], summary: 'Members of the account, and what each may do' },
  { name: 'invitations', aliases: ['invitation'], summary: 'Invitations to the account' },
  { name: 'accounts', aliases: ['account'], summary: 'Connected accounts of apps' },
  { name: 'apps', aliases: ['app'], summary: 'Apps: the catalogue, your own, and your OAuth clients' },
  { name: 's3', summary: 'The S3 server of `$.send.s3`' },
  { name: 'stacks', aliases: ['stack'], summary: 'Stacks: what `hw apply` has made' },
  { name: 'env', summary: 'Environment variables of workflows' },
  { name: 'data-stores', aliases: ['data-store', 'data'], summary: 'Data stores, and what components keep there' },
  { name: 'registry', summary: 'Components for all accounts' },
  { name: 'server', summary: 'For operators: run and check a server' },
  { name: 'tenants', aliases: ['tenant'], summary: 'For operators: the accounts of a server' },
];

/** Every command, in the order of the help. */
export function allCommands(): readonly CommandSpec[] {
  return [
    login,
    logout,
    whoami,
    settings,
    ...initCommands,
    dev,
    deploy,
    apply,
    exportFolder,
    update,
    run,
    showEvents,
    publishEvent,
    deleteSomeEvents,
    search,
    logs,
    streamToken,
    listen,
    trace,
    stats,
    usage,
    limits,
    waiting,
    list,
    describe,
    deleteAny,
    connect,
    publish,
    unpublish,
    ...runCommands,
    ...workflowCommands,
    ...webhookCommands,
    portalLink,
    ...subscriptionCommands,
    ...replayCommands,
    ...receiverCommands,
    ...keyCommands,
    ...memberCommands,
    audit,
    ...accountCommands,
    ...appCommands,
    ...appClientCommands,
    ...s3Commands,
    ...stackCommands,
    ...envCommands,
    ...dataStoreCommands,
    ...registryCommands,
    ...serverCommands,
    ...operatorCommands,
    ...tenantCommands,
    completion,
  ];
}
