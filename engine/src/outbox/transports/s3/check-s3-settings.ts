import { type FieldError, HeadwaterError, LIMITS, platformLimit, type PlatformLimitName } from '@headwater/shared';
import { longHostFault, type S3SettingsInput } from '../../../contract/index.ts';
import { type Egress, longHostOf } from '../../../egress/index.ts';

/** Goes into a header, so only printable ASCII. */
const TOKEN = /^[\x21-\x7e]+$/;
const REGION = /^[a-z0-9-]+$/;

const REGION_WORDS = 'must be a region such as eu-central-1';
const TOKEN_WORDS = 'must be printable ASCII characters without spaces';

/** Throws INVALID_REQUEST with everything that is wrong. */
export function checkS3Settings(egress: Pick<Egress, 'checkUrl'>, input: S3SettingsInput): void {
  const { endpoint, region, accessKeyId, secretAccessKey } = input;
  const fields = [
    ...(endpoint === undefined ? [] : endpointErrors(egress, endpoint)),
    ...textErrors('region', region, { form: REGION, max: 'maxS3RegionChars', words: REGION_WORDS }),
    ...tokenErrors('access_key_id', accessKeyId),
    ...tokenErrors('secret_access_key', secretAccessKey),
  ];
  if (fields.length > 0) throw new HeadwaterError('INVALID_REQUEST', 'The S3 settings are not valid', { fields });
}

function endpointErrors(egress: Pick<Egress, 'checkUrl'>, endpoint: string): FieldError[] {
  const path = 'endpoint';
  if (endpoint.length > LIMITS.maxUrlChars)
    return [{ path, message: 'must be a URL', limit: platformLimit('maxUrlChars', endpoint.length) }];
  // Before it is read, which takes the thread.
  const longHost = longHostOf(endpoint);
  if (longHost !== undefined) return [{ path, ...longHostFault(longHost) }];
  if (!URL.canParse(endpoint)) return [{ path, message: 'must be a URL' }];
  const url = new URL(endpoint);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return [{ path, message: 'must not have a user name, a query or a fragment' }];
  }
  try {
    egress.checkUrl(url);
    return [];
  } catch (error) {
    return [{ path, message: (error as Error).message }];
  }
}

function tokenErrors(path: string, value: string): FieldError[] {
  return textErrors(path, value, { form: TOKEN, max: 'maxS3CredentialChars', words: TOKEN_WORDS });
}

interface TextRule {
  form: RegExp;
  max: PlatformLimitName;
  words: string;
}

function textErrors(path: string, value: string, { form, max, words }: TextRule): FieldError[] {
  const limit = platformLimit(max, value.length);
  if (limit.used > limit.value) return [{ path, message: `must have at most ${limit.value} characters`, limit }];
  return form.test(value) ? [] : [{ path, message: words }];
}
