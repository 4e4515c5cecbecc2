import type { OAuthOutcome } from '@headwater/engine';
import { htmlPage } from './html-page.ts';

/** Page that the user sees at the end of an OAuth flow. */
export function oauthPage(outcome: OAuthOutcome): string {
  if (!outcome.ok) return htmlPage('Not connected', [outcome.message]);
  const { account, workspace } = outcome;
  const whose = account.uid === undefined ? '' : ` (${account.uid})`;
  return htmlPage('Connected', [
    `Your ${account.app.name} account${whose} is connected to the workspace “${workspace}” as ${account.id}.`,
    'If you did not mean to do that, take the access back in the settings of that account. You can close this page.',
  ]);
}
