import { HeadwaterError, LIMITS, newId, platformLimit } from '@headwater/shared';
import { overLimit } from '../../accounts/index.ts';
import type {
  AppDefinition,
  AppRecord,
  Apps,
  OAuthClientInput,
  OAuthClientRecord,
  Principal,
  StoredApp,
} from '../../contract/index.ts';
import type { Sealer } from '../../secrets/index.ts';
import { notACursor, type Sql } from '../../db/index.ts';
import {
  deleteOAuthClient,
  INSTANCE,
  type OAuthClientRow,
  putOAuthClient,
  readOAuthClients,
  readOwnOAuthClients,
} from '../oauth.sql.ts';
import { deleteOwnApp, insertApp, insertOwnApp, readApp, readAppPage, replaceApp, replaceOwnApp } from './apps.sql.ts';
import { findAppFaults } from './validate-app.ts';

interface AppsContext {
  sql: Sql;
  sealer: Pick<Sealer, 'seal'>;
}

/** The catalogue, the apps of accounts, and their OAuth clients. */
export function createApps({ sql, sealer }: AppsContext): Apps {
  const { setClient, dropClient } = createClients({ sql, sealer });
  const shown = async (accountId: string, app: StoredApp) =>
    recordOf(accountId, app, await readOAuthClients(sql, accountId, [app.id]));
  return {
    async list(who, request) {
      const { limit, query } = request;
      const place = { ...cursorPart('after', request.after), ...cursorPart('before', request.before) };
      const { apps, total } = await readAppPage(sql, who.accountId, {
        limit,
        ...place,
        ...(query === undefined ? {} : { query }),
      });
      const ids = apps.map((app) => app.id);
      const clients = await readOAuthClients(sql, who.accountId, ids);
      const items = apps.map((app) => recordOf(who.accountId, app, clients));
      const [first, last] = [apps[0], apps.at(-1)];
      return { items, total, ...(first && last ? { startCursor: cursorOf(first), endCursor: cursorOf(last) } : {}) };
    },
    get: async (who, slugOrId) => shown(who.accountId, await findApp(sql, who.accountId, slugOrId)),
    async create(who, definition) {
      if (who !== undefined) return shown(who.accountId, await createOwn(sql, who.accountId, definition));
      checkDefinition(definition);
      const id = newId('app');
      if (await insertApp(sql, id, definition)) return shown(INSTANCE, await findApp(sql, undefined, id));
      throw slugTaken(`There is an app ${definition.slug} already; change it with PUT /v1/apps/${definition.slug}`);
    },
    async replace(who, slugOrId, given) {
      const app = await findApp(sql, who?.accountId, slugOrId);
      const definition = { ...given, slug: app.definition.slug };
      if (who === undefined) {
        checkDefinition(definition);
        await replaceApp(sql, app.id, definition);
      } else {
        const { accountId } = requireOwn(who, app);
        checkOwnDefinition(definition);
        await replaceOwnApp(sql, { accountId, id: app.id }, definition);
      }
      return shown(who?.accountId ?? INSTANCE, await findApp(sql, who?.accountId, app.id));
    },
    async delete(who, slugOrId) {
      const app = await findApp(sql, who.accountId, slugOrId);
      const { accountId } = requireOwn(who, app);
      const connected = await deleteOwnApp(sql, accountId, app.id);
      if (connected === 0) return;
      const message = `${app.definition.slug} has ${connected} connected account${connected === 1 ? '' : 's'}; delete them first`;
      throw new HeadwaterError('CONFLICT', message);
    },
    setInstanceClient: (slugOrId, client) => setClient(undefined, slugOrId, client),
    deleteInstanceClient: (slugOrId) => dropClient(undefined, slugOrId),
    setOwnClient: setClient,
    deleteOwnClient: dropClient,
    async listOwnClients(who) {
      const rows = await readOwnOAuthClients(sql, who.accountId);
      return rows.map((row) => clientRecordOf(row, row));
    },
  };
}

/** Clients of accounts, and, without one, those that the operator sets for all. */
function createClients({ sql, sealer }: AppsContext) {
  async function setClient(
    who: Principal | undefined,
    slugOrId: string,
    input: OAuthClientInput,
  ): Promise<OAuthClientRecord> {
    const owner = who?.accountId ?? INSTANCE;
    const app = await findApp(sql, who?.accountId, slugOrId);
    checkClient(app, input);
    const { clientId, clientSecret } = input;
    const secret = clientSecret === undefined ? null : sealer.seal(owner, clientSecret);
    return clientRecordOf(app.definition, await putOAuthClient(sql, { appId: app.id, owner, clientId, secret }));
  }
  async function dropClient(who: Principal | undefined, slugOrId: string): Promise<void> {
    const app = await findApp(sql, who?.accountId, slugOrId);
    if (await deleteOAuthClient(sql, who?.accountId ?? INSTANCE, app.id)) return;
    throw new HeadwaterError('NOT_FOUND', `No OAuth client is set for ${app.definition.slug}`);
  }
  return { setClient, dropClient };
}

async function createOwn(sql: Sql, accountId: string, definition: AppDefinition): Promise<StoredApp> {
  checkOwnDefinition(definition);
  const { slug } = definition;
  const id = newId('app');
  switch (await insertOwnApp(sql, { id, accountId, definition, maxApps: LIMITS.maxAccountApps })) {
    case 'made':
      return findApp(sql, accountId, id);
    case 'in_catalogue':
      throw slugTaken(`The catalogue has an app ${slug}, which components get; give yours another slug`);
    case 'taken':
      throw slugTaken(`You have an app ${slug} already; change it with PUT /v1/apps/${slug}`);
    case 'full':
      throw overLimit(platformLimit('maxAccountApps', LIMITS.maxAccountApps + 1));
  }
}

function slugTaken(message: string): HeadwaterError {
  return new HeadwaterError('CONFLICT', message, { fields: [{ path: 'name_slug', message: 'is taken' }] });
}

/**
 * Only the account's own apps have connected accounts and components of this account alone. So a
 * change never affects another account.
 */
function requireOwn({ accountId }: Principal, app: StoredApp): { accountId: string } {
  if (app.accountId === accountId) return { accountId };
  throw new HeadwaterError('FORBIDDEN', `${app.definition.slug} is in the catalogue, which only the operator changes`);
}

/** By slug or id: of the catalogue, or also of the account. Throws NOT_FOUND. */
export async function findApp(sql: Sql, accountId: string | undefined, slugOrId: string): Promise<StoredApp> {
  const app = slugOrId.includes('\0') ? undefined : await readApp(sql, accountId, slugOrId);
  if (app === undefined) throw new HeadwaterError('NOT_FOUND', `There is no app ${slugOrId}`);
  return app;
}

/** As findApp, for a parameter: throws INVALID_REQUEST that names it. */
export async function findNamedApp(sql: Sql, accountId: string, slugOrId: string): Promise<StoredApp> {
  const app = slugOrId.includes('\0') ? undefined : await readApp(sql, accountId, slugOrId);
  if (app !== undefined) return app;
  const message = `${slugOrId} is not in the catalogue (GET /v1/apps); define it for yourself with POST /v1/apps`;
  throw new HeadwaterError('INVALID_REQUEST', `app: ${message}`, { fields: [{ path: 'app', message }] });
}

/** The size first: what else is wrong with a large one is not looked for. */
function checkOwnDefinition(definition: AppDefinition): void {
  const limit = platformLimit('maxAccountAppBytes', Buffer.byteLength(JSON.stringify(definition)));
  if (limit.used > limit.value)
    throw new HeadwaterError('INVALID_REQUEST', `The app has more than ${limit.value} bytes`, { limit });
  checkDefinition(definition);
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

function clientRecordOf({ slug, name }: { slug: string; name: string }, row: OAuthClientRow): OAuthClientRecord {
  return {
    app: { id: row.app_id, nameSlug: slug, name },
    clientId: row.client_id,
    hasSecret: row.secret !== null,
    updatedAt: new Date(row.updated_ms),
  };
}

const cursorOf = ({ definition }: StoredApp) => Buffer.from(definition.slug).toString('base64url');

function cursorPart(name: 'after' | 'before', cursor: string | undefined): { after?: string; before?: string } {
  if (cursor === undefined || cursor === '') return {};
  const slug = Buffer.from(cursor, 'base64url').toString('latin1');
  if (cursor.length <= LIMITS.maxCursorChars && /^[a-z0-9_-]{1,63}$/.test(slug)) return { [name]: slug };
  throw notACursor(name);
}
