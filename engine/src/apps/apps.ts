import { HeadwaterError, LIMITS, newId } from '@headwater/shared';
import type { AppRecord, Apps, OAuthClientInput, OAuthClientRecord } from '../contract-apps.ts';
import type { Sealer } from '../secrets/seal.ts';
import type { Sql } from '../store/database.ts';
import {
  deleteOAuthClient,
  INSTANCE,
  type OAuthClientRow,
  putOAuthClient,
  readOAuthClients,
  readOwnOAuthClients,
} from '../store/oauth-clients.ts';
import { insertApp, replaceApp } from '../store/put-app.ts';
import { readApp, readAppPage } from '../store/read-apps.ts';
import type { AppDefinition, StoredApp } from './app-definition.ts';
import { findAppFaults } from './validate-app.ts';

/** The catalogue and the OAuth clients of its apps. */
export function createApps({ sql, sealer }: { sql: Sql; sealer: Pick<Sealer, 'seal'> }): Apps {
  async function setClient(owner: string, slugOrId: string, input: OAuthClientInput): Promise<OAuthClientRecord> {
    const app = await findApp(sql, slugOrId);
    checkClient(app, input);
    const { clientId, clientSecret } = input;
    const secret = clientSecret === undefined ? null : sealer.seal(owner, clientSecret);
    return clientRecordOf(app, await putOAuthClient(sql, { appId: app.id, owner, clientId, secret }));
  }
  async function dropClient(owner: string, slugOrId: string): Promise<void> {
    const app = await findApp(sql, slugOrId);
    if (await deleteOAuthClient(sql, owner, app.id)) return;
    throw new HeadwaterError('NOT_FOUND', `No OAuth client is set for ${app.definition.slug}`);
  }
  const shown = async (accountId: string, app: StoredApp) =>
    recordOf(accountId, app, await readOAuthClients(sql, accountId, [app.id]));
  return {
    async list(who, request) {
      const { limit, query } = request;
      const place = { ...cursorPart('after', request.after), ...cursorPart('before', request.before) };
      const { apps, total } = await readAppPage(sql, { limit, ...place, ...(query === undefined ? {} : { query }) });
      const ids = apps.map((app) => app.id);
      const clients = await readOAuthClients(sql, who.accountId, ids);
      const items = apps.map((app) => recordOf(who.accountId, app, clients));
      const [first, last] = [apps[0], apps.at(-1)];
      return { items, total, ...(first && last ? { startCursor: cursorOf(first), endCursor: cursorOf(last) } : {}) };
    },
    get: async (who, slugOrId) => shown(who.accountId, await findApp(sql, slugOrId)),
    async create(definition) {
      checkDefinition(definition);
      const id = newId('app');
      if (await insertApp(sql, id, definition)) return shown(INSTANCE, await findApp(sql, id));
      const message = `There is an app ${definition.slug} already; change it with PUT /v1/apps/${definition.slug}`;
      throw new HeadwaterError('CONFLICT', message, { fields: [{ path: 'slug', message: 'is taken' }] });
    },
    async replace(slugOrId, definition) {
      const app = await findApp(sql, slugOrId);
      checkDefinition({ ...definition, slug: app.definition.slug });
      await replaceApp(sql, app.id, { ...definition, slug: app.definition.slug });
      return shown(INSTANCE, await findApp(sql, app.id));
    },
    setInstanceClient: (slugOrId, client) => setClient(INSTANCE, slugOrId, client),
    deleteInstanceClient: (slugOrId) => dropClient(INSTANCE, slugOrId),
    setOwnClient: (who, slugOrId, client) => setClient(who.accountId, slugOrId, client),
    deleteOwnClient: (who, slugOrId) => dropClient(who.accountId, slugOrId),
    async listOwnClients(who) {
      const rows = await readOwnOAuthClients(sql, who.accountId);
      return rows.map(({ slug, name, ...row }) => ({ ...clientOf(row), app: { id: row.app_id, slug, name } }));
    },
  };
}

/** By slug or id. Throws NOT_FOUND. */
export async function findApp(sql: Sql, slugOrId: string): Promise<StoredApp> {
  const app = slugOrId.includes('\0') ? undefined : await readApp(sql, slugOrId);
  if (app === undefined) throw new HeadwaterError('NOT_FOUND', `No app ${slugOrId} in the catalogue`);
  return app;
}

/** As findApp, for a parameter: throws INVALID_REQUEST that names it. */
export async function findNamedApp(sql: Sql, slugOrId: string): Promise<StoredApp> {
  const app = slugOrId.includes('\0') ? undefined : await readApp(sql, slugOrId);
  if (app !== undefined) return app;
  const message = `${slugOrId} is not in the catalogue (GET /v1/apps); the operator can add it`;
  throw new HeadwaterError('INVALID_REQUEST', `app: ${message}`, { fields: [{ path: 'app', message }] });
}

function checkDefinition(definition: AppDefinition): void {
  const fields = findAppFaults(definition);
  if (fields.length === 0) return;
  const list = fields.map(({ path, message }) => `${path} ${message}`).join('; ');
  throw new HeadwaterError('INVALID_REQUEST', `The app is not valid: ${list}`, { fields });
}

function checkClient({ definition }: StoredApp, { clientId, clientSecret }: OAuthClientInput): void {
  const { oauth, slug } = definition;
  if (oauth === undefined) throw new HeadwaterError('INVALID_REQUEST', `${slug} does not use OAuth`);
  const isPublic = oauth.tokenAuth === 'none';
  const fields = [
    ...(/^[\x20-\x7e]+$/.test(clientId) ? [] : [{ path: 'client_id', message: 'must be printable ASCII' }]),
    ...(isPublic || clientSecret ? [] : [{ path: 'client_secret', message: 'is required for this app' }]),
  ];
  if (fields.length === 0) return;
  const list = fields.map(({ path, message }) => `${path} ${message}`).join('; ');
  throw new HeadwaterError('INVALID_REQUEST', `The OAuth client is not valid: ${list}`, { fields });
}

function recordOf(accountId: string, app: StoredApp, clients: readonly OAuthClientRow[]): AppRecord {
  const owners = clients.filter((client) => client.app_id === app.id).map((client) => client.owner);
  if (owners.includes(accountId) && accountId !== INSTANCE) return { ...app, oauthClient: 'own' };
  return owners.includes(INSTANCE) ? { ...app, oauthClient: 'instance' } : { ...app };
}

function clientRecordOf({ id, definition }: StoredApp, row: OAuthClientRow): OAuthClientRecord {
  return { ...clientOf(row), app: { id, slug: definition.slug, name: definition.name } };
}

function clientOf(row: OAuthClientRow): Omit<OAuthClientRecord, 'app'> {
  return { clientId: row.client_id, hasSecret: row.secret !== null, updatedAt: new Date(row.updated_ms) };
}

const cursorOf = ({ definition }: StoredApp) => Buffer.from(definition.slug).toString('base64url');

function cursorPart(name: 'after' | 'before', cursor: string | undefined): { after?: string; before?: string } {
  if (cursor === undefined || cursor === '') return {};
  const slug = Buffer.from(cursor, 'base64url').toString('latin1');
  if (cursor.length <= LIMITS.maxCursorChars && /^[a-z0-9_-]{1,63}$/.test(slug)) return { [name]: slug };
  const message = 'is not a cursor of this list';
  throw new HeadwaterError('INVALID_REQUEST', `${name} ${message}`, { fields: [{ path: name, message }] });
}
