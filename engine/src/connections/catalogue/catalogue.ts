import type { AppDefinition } from '../../contract/index.ts';
import { commerceApps } from './commerce.ts';
import { developerApps } from './developer.ts';
import { googleApps } from './google.ts';
import { messagingApps } from './messaging.ts';
import { microsoftApps } from './microsoft.ts';
import { openApps } from './open.ts';
import { productivityApps } from './productivity.ts';
import { salesApps } from './sales.ts';

/**
 * The apps that every installation has from its first start. Facts (endpoints, scopes, names of
 * fields) are those that the providers document; names of fields are those that public components
 * read from `$auth`.
 */
export function starterCatalogue(): AppDefinition[] {
  return [
    ...openApps,
    ...developerApps,
    ...messagingApps,
    ...googleApps,
    ...microsoftApps,
    ...productivityApps,
    ...salesApps,
    ...commerceApps,
  ];
}
