import { type FieldError, HeadwaterError, type PropDefinition } from '@headwater/shared';
import type { ComponentRecord } from '../contract/index.ts';
import type { KeyState } from './read-registry.sql.ts';
import { isLater, isSemver } from './version-order.ts';

/**
 * The key of a component in the registry. `prefix`: the app that the key begins with, or else the
 * part before the first dash.
 */
export interface RegistryKey {
  key: string;
  prefix: string;
  /** The app that the key begins with, if it is among the component's props. */
  app?: string;
}

const KEY = /^[a-z0-9][a-z0-9_]*(?:-[a-z0-9_]+)+$/;
const MAX_KEY_CHARS = 200;

/**
 * `<app_name_slug>-<slugified-component-name>` and a semantic version. Throws INVALID_REQUEST with
 * everything that is wrong.
 */
export function registryKeyOf({ key = '', version, configurableProps }: ComponentRecord): RegistryKey {
  const apps = appSlugsOf(configurableProps);
  const app = apps.find((slug) => key.startsWith(`${slug}-`));
  const fields: FieldError[] = [
    ...(key.length <= MAX_KEY_CHARS && KEY.test(key) ? [] : [{ path: 'key', message: keyMessage(key) }]),
    ...(apps.length === 0 || app !== undefined ? [] : [{ path: 'key', message: appMessage(apps) }]),
    ...(isSemver(version)
      ? []
      : [
          {
            path: 'version',
            message: `must be a semantic version such as 1.0.0, not ${JSON.stringify(version.slice(0, 100))}`,
          },
        ]),
  ];
  if (fields.length > 0) {
    const list = fields.map(({ path, message }) => `${path} ${message}`).join('; ');
    throw new HeadwaterError('INVALID_REQUEST', `The component cannot be published in the registry: ${list}`, {
      fields,
    });
  }
  const prefix = app ?? key.slice(0, key.indexOf('-'));
  return { key, prefix, ...(app === undefined ? {} : { app }) };
}

function keyMessage(key: string): string {
  const got = key === '' ? 'the component has none' : `not ${JSON.stringify(key.slice(0, 100))}`;
  return `must be <app_name_slug>-<name> in lower case, of letters, digits, _ and -, with at most ${MAX_KEY_CHARS} characters; ${got}`;
}

function appMessage(apps: readonly string[]): string {
  return `must begin with the slug of an app among its props and a dash: ${apps.map((slug) => `${slug}-…`).join(' or ')}`;
}

function appSlugsOf(props: readonly PropDefinition[]): string[] {
  const slugs = props.flatMap(({ type, app }) => (type === 'app' && typeof app === 'string' ? [app] : []));
  return [...new Set(slugs)];
}

export interface Publication extends RegistryKey {
  version: string;
  codeHash: string;
  /** The account. */
  publisher: string;
  /**
   * Maximum versions of the publisher in the registry; absent: the operator publishes it and owns
   * all prefixes.
   */
  maxVersions?: number;
}

/**
 * Returns the id of an existing identical version, or undefined if the version may be stored.
 * Throws CONFLICT if another account has the key or its prefix, or the version is not later than
 * the earlier ones. Throws CONFLICT with the limit if the account has no room.
 */
export function judgePublication(publication: Publication, state: KeyState): string | undefined {
  const { key, version, codeHash, publisher } = publication;
  const [newest] = state.versions;
  if (newest !== undefined && newest.publisher !== publisher)
    throw refused('key', `${key} is taken by another publisher of the registry`);
  const same = state.versions.find((known) => known.version === version);
  if (same !== undefined && !same.isWithdrawn && same.codeHash === codeHash) return same.id;
  if (same !== undefined) {
    const why = same.isWithdrawn ? 'was withdrawn' : 'is published with other code';
    const advice = same.isWithdrawn ? '' : `. ${SAME_COMPONENT}`;
    throw refused('version', `${version} of ${key} ${why}, and a version never changes: give it a later one${advice}`);
  }
  if (newest !== undefined && !isLater(version, newest.version))
    throw refused('version', `${version} is not later than ${newest.version}, the last one of ${key}`);
  if (newest === undefined) checkPrefix(publication, state);
  checkRoom(publication, state.published);
  return undefined;
}

const SAME_COMPONENT =
  'A component that was published as one file (hw publish) counts as other code than with its files (hw registry import); if it is the same, leave it as it is';

/**
 * Users trust a key when they connect their accounts. So a key that begins with an app belongs to
 * components of that app. Any other prefix belongs to its first publisher.
 */
function checkPrefix({ key, prefix, app, publisher, maxVersions }: Publication, state: KeyState): void {
  if (app !== undefined || maxVersions === undefined) return;
  if (state.prefixAppAuth !== undefined && state.prefixAppAuth !== 'none')
    throw refused('key', `${key} begins with the app ${prefix}, which is not among the component’s props`);
  if (state.prefixOwner !== undefined && state.prefixOwner.publisher !== publisher)
    throw refused('key', `keys that begin with ${prefix}- belong to another publisher of the registry`);
}

function checkRoom({ maxVersions }: Publication, published: number): void {
  if (maxVersions === undefined || published < maxVersions) return;
  const limit = { name: 'maxRegistryVersions', value: maxVersions, used: published + 1 } as const;
  if (maxVersions > 0) {
    const message = `The account has ${published} versions in the registry; its limit maxRegistryVersions is ${maxVersions}`;
    throw new HeadwaterError('CONFLICT', message, { limit });
  }
  const message =
    'This account may not publish in the registry: the operator allows it with the limit maxRegistryVersions, or publishes the component with the admin key';
  throw new HeadwaterError('FORBIDDEN', message, { limit });
}

function refused(path: string, message: string): HeadwaterError {
  return new HeadwaterError('CONFLICT', `${path}: ${message}`, { fields: [{ path, message }] });
}
