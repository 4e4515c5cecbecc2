import { type Fault, type FieldError, LIMITS, platformLimit } from '@headwater/shared';
import type { AppDefinition, AppField, AppOAuth } from '../../contract/index.ts';
import { hasFixedDomain, placeholdersOf } from './fill-template.ts';

const SLUG = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const FIELD_NAME = /^[A-Za-z]\w{0,63}$/;
const VALUE_SOURCE = /^(token|userinfo|id_token)(\.\w+)+$/;
/** Made here for OAuth apps: no field may be mistaken for them. */
const OWN_KEYS = new Set(['oauth_access_token', 'oauth_refresh_token', 'oauth_client_id', 'oauth_client_secret']);
const FLOW_PARAMETERS = new Set([
  'client_id',
  'client_secret',
  'code_challenge',
  'code_challenge_method',
  'redirect_uri',
  'response_type',
  'state',
]);
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * All faults of a definition that its types cannot express. Used for the catalogue and for apps
 * that operators add.
 */
export function findAppFaults(app: AppDefinition): FieldError[] {
  const faults: FieldError[] = [];
  const add = (path: string, found: string | false | Fault | undefined) => {
    if (typeof found === 'string') faults.push({ path, message: found });
    else if (found !== undefined && found !== false) faults.push({ path, ...found });
  };
  add('slug', !SLUG.test(app.slug) && 'must be lower-case letters, digits, _ and -, at most 63');
  add('name', app.name.trim() === '' && 'must not be empty');
  if (app.docsUrl !== undefined) add('docs_url', urlFault(app.docsUrl.replace(/#.*$/s, ''), []));
  faults.push(...app.fields.flatMap((field, i) => fieldFaults(app, field, i)));
  add('fields', app.authType === 'none' && app.fields.length > 0 && 'must be empty for an app without authentication');
  add('fields', app.authType === 'keys' && app.fields.length === 0 && 'must not be empty for an app with keys');
  add('oauth', app.authType === 'oauth2' && app.oauth === undefined && 'is required for an OAuth app');
  add('oauth', app.authType !== 'oauth2' && app.oauth !== undefined && 'is for OAuth apps alone');
  if (app.oauth !== undefined) faults.push(...oauthFaults(app.oauth, namesOf(app)));
  if (app.test !== undefined) {
    add('test', app.authType !== 'keys' && 'is for apps with keys; OAuth apps have oauth.userinfo_url');
    add('test.url', urlFault(app.test.url, namesOf(app)));
    for (const name of Object.values(app.test.auth).flatMap(placeholdersOf)) {
      add('test.auth', !namesOf(app).includes(name) && `names the field ${name}, which the app does not have`);
    }
  }
  return faults;
}

const namesOf = (app: AppDefinition) => app.fields.map((field) => field.name);

function fieldFaults(app: AppDefinition, field: AppField, index: number): FieldError[] {
  const path = `fields.${index}`;
  const faults: FieldError[] = [];
  const isTwice = namesOf(app).indexOf(field.name) !== index;
  if (!FIELD_NAME.test(field.name))
    faults.push({ path: `${path}.name`, message: 'must be a letter, then word characters' });
  if (OWN_KEYS.has(field.name)) faults.push({ path: `${path}.name`, message: 'is set by the OAuth flow' });
  if (isTwice) faults.push({ path: `${path}.name`, message: `${field.name} is there twice` });
  if (field.label.trim() === '') faults.push({ path: `${path}.label`, message: 'must not be empty' });
  if (field.default !== undefined && field.optional !== true) {
    faults.push({ path: `${path}.default`, message: 'is for optional fields alone' });
  }
  return faults;
}

function oauthFaults(oauth: AppOAuth, fields: readonly string[]): FieldError[] {
  const faults: FieldError[] = [];
  const { authorizeUrl, tokenUrl, revokeUrl, userinfoUrl } = oauth;
  const urls = { authorize_url: authorizeUrl, token_url: tokenUrl, revoke_url: revokeUrl, userinfo_url: userinfoUrl };
  for (const [name, url] of Object.entries(urls)) {
    if (url === undefined) continue;
    const fault =
      urlFault(url, fields) ?? (hasFixedDomain(url) ? undefined : { message: 'must name its domain itself' });
    if (fault !== undefined) faults.push({ path: `oauth.${name}`, ...fault });
  }
  for (const name of Object.keys(oauth.authorizeParameters ?? {})) {
    if (!FLOW_PARAMETERS.has(name)) continue;
    faults.push({ path: `oauth.authorize_parameters.${name}`, message: 'is set by the flow itself' });
  }
  for (const [name, source] of Object.entries(oauth.values ?? {})) {
    const path = `oauth.values.${name}`;
    if (OWN_KEYS.has(name) || !FIELD_NAME.test(name)) faults.push({ path, message: 'cannot be the name of a value' });
    if (!VALUE_SOURCE.test(source)) {
      faults.push({ path, message: 'must be token.<path>, userinfo.<path> or id_token.<path>' });
    }
  }
  if (oauth.tokenAuth === 'none' && !oauth.pkce) {
    faults.push({ path: 'oauth.pkce', message: 'must be true for a public client' });
  }
  return faults;
}

/** http is for loopback alone: secrets and tokens would be read on the way. */
function urlFault(template: string, fields: readonly string[]): Fault | undefined {
  if (template.length > LIMITS.maxUrlChars) {
    const limit = platformLimit('maxUrlChars', template.length);
    return { message: `is longer than ${limit.value} characters`, limit };
  }
  const message = urlMistake(template, fields);
  return message === undefined ? undefined : { message };
}

function urlMistake(template: string, fields: readonly string[]): string | undefined {
  const unknown = placeholdersOf(template).find((name) => !fields.includes(name));
  if (unknown !== undefined) return `names the field ${unknown}, which the app does not have`;
  const filled = template.replaceAll(/\{\{\w+\}\}/g, 'x');
  const url = URL.canParse(filled) ? new URL(filled) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '' || url.hash !== '') return 'must be a plain URL';
  if (url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname))) return undefined;
  return 'must begin with https:// (http:// for loopback alone)';
}
